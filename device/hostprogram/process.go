package hostprogram

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Process is a program that this process has started.
type Process struct {
	command Command
	id      ID
	group   group
	done    chan struct{}

	// The result of an ended process.
	exitCode int
	signal   string
}

// Start starts the program and copies its output to both writers. They never fail and may be
// the same; each is written by one goroutine. An *os.File is given to the program directly, so
// that its output survives this process. Output of the program's children is read after the
// program's end too, so that they are not killed by SIGPIPE.
func Start(c Command, stdout, stderr io.Writer) (*Process, error) {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Dir = c.Dir
	cmd.Stdin = strings.NewReader(c.Stdin)
	cmd.SysProcAttr = ownGroup(c.Outlives)
	outputs, err := pipes(cmd, stdout, stderr)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name(), err)
	}
	p := &Process{command: c, done: make(chan struct{})}
	started := make(chan error)
	go p.live(cmd, outputs, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name(), err)
	}
	return p, nil
}

// output is one of a program's two output streams.
type output struct {
	theirs, ours *os.File
	to           io.Writer
}

// pipes connects the program's outputs to the writers, with a single pipe if they are the
// same.
func pipes(cmd *exec.Cmd, stdout, stderr io.Writer) (out []output, err error) {
	for _, to := range []io.Writer{stdout, stderr} {
		if cmd.Stdout != nil && to == stdout {
			cmd.Stderr = cmd.Stdout
			break
		}
		if file, ok := to.(*os.File); ok {
			give(cmd, file)
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			for _, o := range out {
				_, _ = o.ours.Close(), o.theirs.Close()
			}
			return nil, err
		}
		out = append(out, output{w, r, to})
		give(cmd, w)
	}
	return out, nil
}

// give sets the program's next output.
func give(cmd *exec.Cmd, w *os.File) {
	if cmd.Stdout == nil {
		cmd.Stdout = w
	} else {
		cmd.Stderr = w
	}
}

// drainTimeout limits the wait for the rest of a program's output after its end: a child may keep
// the output open for ever.
const drainTimeout = time.Second

// live starts the program, waits for its end and reads its output. It locks its OS thread
// until then, because on Linux the program dies with the thread that started it.
func (p *Process) live(cmd *exec.Cmd, outputs []output, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	for _, o := range outputs {
		_ = o.theirs.Close()
		if err != nil {
			_ = o.ours.Close()
		}
	}
	if err != nil {
		started <- err
		return
	}
	p.id, _ = IDOf(cmd.Process.Pid) // not waited for yet, so the number can't be reused
	p.id.PID = cmd.Process.Pid
	p.group = groupOf(cmd.Process.Pid)
	var reading sync.WaitGroup
	for _, o := range outputs {
		reading.Go(func() {
			_, _ = io.Copy(o.to, o.ours)
			_ = o.ours.Close()
		})
	}
	started <- nil
	_ = cmd.Wait() // the result is in the process state
	p.exitCode, p.signal = cmd.ProcessState.ExitCode(), signalOf(cmd.ProcessState)
	read := make(chan struct{})
	go func() { reading.Wait(); close(read) }()
	select {
	case <-read:
	case <-time.After(drainTimeout):
	}
	close(p.done)
}

// ID identifies the process.
func (p *Process) ID() ID { return p.id }

// Done is closed when the program has ended and its output has been read.
func (p *Process) Done() <-chan struct{} { return p.done }

// ExitCode returns the program's exit code, -1 if a signal ended it. It is valid after Done.
func (p *Process) ExitCode() int { return p.exitCode }

// Ending describes how the program ended: "it ended with the exit code 1". It is valid after
// Done.
func (p *Process) Ending() string {
	if p.signal != "" {
		return fmt.Sprintf("it was ended by the signal %q", p.signal)
	}
	return fmt.Sprintf("it ended with the exit code %d", p.exitCode)
}

// Stop asks the program and its group to end, kills them after the given time, and returns
// once they have verifiably ended.
func (p *Process) Stop(within time.Duration) error {
	err := p.group.stop(within, func() bool {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	})
	if err != nil {
		return fmt.Errorf("stop %s: %w", p.command.name(), err)
	}
	return nil
}

// afterKill is how long a killed process may take to end: it may be blocked in the kernel, on
// a disk that hangs.
const afterKill = 10 * time.Second

// stop asks a group to end, kills it after the given time, and returns once it has ended.
func (g group) stop(asked time.Duration, ended func() bool) error {
	gone := func() bool { return ended() && !g.lives() }
	if !ended() {
		g.ask()
		if within(asked, gone) {
			return nil
		}
	}
	g.kill()
	if !within(afterKill, gone) {
		return fmt.Errorf("the process %d or one of its group was killed and is still there after %v", g.leader, afterKill)
	}
	return nil
}
