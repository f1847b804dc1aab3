package program

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

// Process is a program that was started by this process.
type Process struct {
	command Command
	id      ID
	group   group
	done    chan struct{}

	// Of an ended process.
	exitCode int
	signal   string
}

// Start starts the program and gives what it prints to both writers, which never fail and
// may be one; each is written to from one goroutine. A file is the program's own instead,
// so that what it prints is there also where this process is killed. Whatever of the program's children
// still prints after its end goes on being read, so that it is not killed for that.
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

// output is one of a program's outputs.
type output struct {
	theirs, ours *os.File
	to           io.Writer
}

// pipes gives the program's outputs to the writers, and one to both where these are one.
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

// give gives the program its next output.
func give(cmd *exec.Cmd, w *os.File) {
	if cmd.Stdout == nil {
		cmd.Stdout = w
	} else {
		cmd.Stderr = w
	}
}

// lastWords is for how long the rest of a program's output is waited for when it has
// ended: a child of it may keep it open for ever.
const lastWords = time.Second

// live starts the program, waits for its end and reads what it prints. It keeps its thread
// to itself meanwhile: on Linux the program dies with the thread that started it.
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
	p.id, _ = IDOf(cmd.Process.Pid) // it is not waited for yet, so that the number is its own
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
	_ = cmd.Wait() // what is to be known of it is in the state
	p.exitCode, p.signal = cmd.ProcessState.ExitCode(), signalOf(cmd.ProcessState)
	read := make(chan struct{})
	go func() { reading.Wait(); close(read) }()
	select {
	case <-read:
	case <-time.After(lastWords):
	}
	close(p.done)
}

// ID names the process.
func (p *Process) ID() ID { return p.id }

// Done is closed when the program has ended, and what it printed has been read.
func (p *Process) Done() <-chan struct{} { return p.done }

// ExitCode is that with which the program ended, -1 where a signal ended it. Only after Done.
func (p *Process) ExitCode() int { return p.exitCode }

// Ending says how the program ended: "it ended with the exit code 1". Only after Done.
func (p *Process) Ending() string {
	if p.signal != "" {
		return fmt.Sprintf("it was ended by the signal %q", p.signal)
	}
	return fmt.Sprintf("it ended with the exit code %d", p.exitCode)
}

// Stop asks the program and its group to end, kills them after the time that they are given
// for that, and returns once they are proved to be gone.
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

// afterKill is how long a process may be there that was killed: in the kernel, on a disk
// that hangs.
const afterKill = 10 * time.Second

// stop asks a group to end, kills it after that time, and returns once it is gone.
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
