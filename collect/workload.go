package collect

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// running is a workload that was started.
type running struct {
	done chan struct{} // closed when it has ended
	stop func()
	out  tail
	// tests is the same output, as am instrument prints it.
	tests instrumentation
	errs  func() []byte // its standard error, nil where out holds both
	code  int
	err   error
	// told says that the output ends with the exit code (see markEnds).
	told bool
}

// Write takes more of the workload's output.
func (r *running) Write(p []byte) (int, error) {
	_, _ = r.tests.Write(p)
	return r.out.Write(p)
}

// ended reports, without waiting, whether the workload has ended.
func (r *running) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// settleFor is how long, in this computer's time, the news of a workload's end
// may take to get here. A simulated clock can be past the time-out by then.
const settleFor = 500 * time.Millisecond

// settled reports whether the workload has ended, and waits for the news of it.
func (r *running) settled() bool {
	select {
	case <-r.done:
		return true
	case <-time.After(settleFor):
		return false
	}
}

// stopFor is how long, in this computer's time, a workload may take to stop that was
// told to. Maestro is a JVM.
const stopFor = 10 * time.Second

// stopWorkload stops the workload and waits until it is over, so that nothing of it
// falls in what comes next.
func (c *collector) stopWorkload(w *running) {
	w.stop()
	select {
	case <-w.done:
	case <-time.After(stopFor):
		c.warnf("the workload did not stop within %v: it may still run on this computer, and disturb what comes after it", stopFor)
	}
}

// command is the workload's command line for the device's shell, "" for one
// that runs on this computer.
func command(w config.Workload, pkg string) string {
	switch {
	case w.Instrumentation != nil:
		return instrument(*w.Instrumentation)
	case w.Monkey != nil:
		words := []string{"monkey", "-p", pkg, "-s", strconv.FormatInt(w.Monkey.Seed, 10)}
		if w.Monkey.Throttle > 0 {
			words = append(words, "--throttle", strconv.FormatInt(w.Monkey.Throttle.Milliseconds(), 10))
		}
		return device.Quote(append(words, strconv.Itoa(w.Monkey.Events))...)
	case w.Shell != nil:
		return device.Quote("sh", scriptPath)
	}
	return ""
}

func instrument(w config.Instrumentation) string {
	words := []string{"am", "instrument", "-w", "-r"}
	if w.Class != "" {
		words = append(words, "-e", "class", w.Class)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Args)) {
		words = append(words, "-e", name, w.Args[name])
	}
	return device.Quote(append(words, w.TestPackage+"/"+runnerOf(w))...)
}

func runnerOf(w config.Instrumentation) string {
	return cmp.Or(w.Runner, config.DefaultRunner)
}

// exitMark stands before the exit code of a workload that says its end itself.
const exitMark = "apkgate-exit"

var exitLine = regexp.MustCompile(`(?m)^` + exitMark + ` (\d{1,3})\r?$`)

// markEnds makes a command line say its exit code in its output, and its beginning
// and its end in the log, by marks: so that both have times of the device's own
// clock.
func (m *metering) markEnds(line string) string {
	var begin, end string
	m.beginMark, begin = m.nextMark()
	m.endMark, end = m.nextMark()
	return begin + "; " + line + "; echo " + exitMark + " $?; " + end
}

// said is the workload's output and exit code.
func (r *running) said() (out []byte, code int) {
	out, code = r.out.Bytes(), r.code
	if !r.told {
		return out, code
	}
	all := exitLine.FindAllSubmatchIndex(out, -1)
	if len(all) == 0 {
		return out, code
	}
	last := all[len(all)-1]
	code, _ = strconv.Atoi(string(out[last[2]:last[3]]))
	return out[:last[0]], code
}

// start begins the workload. m notes when, nil for nothing.
func (c *collector) start(ctx context.Context, m *metering) (*running, error) {
	w := c.job.Scenario.Workload
	if w.Maestro != nil {
		return c.startHost(ctx, "maestro", "--device", c.dev.Serial(), "test", w.Maestro.Flow), nil
	}
	line := command(w, c.job.App.Package)
	if line == "" {
		return nil, c.final(Workload, fmt.Errorf("scenario %q has no workload", c.job.Scenario.Name))
	}
	if m != nil {
		line = m.markEnds(line)
	}
	process, err := c.dev.Start(ctx, line)
	if err != nil {
		return nil, fmt.Errorf("start the workload: %w", err)
	}
	r := &running{done: make(chan struct{}), stop: func() { _ = process.Close() }, errs: process.Stderr, told: m != nil}
	go func() {
		defer close(r.done)
		_, copied := io.Copy(r, process.Stdout())
		if r.code, r.err = process.Wait(); r.err == nil {
			r.err = copied
		}
	}()
	return r, nil
}

func (c *collector) startHost(ctx context.Context, name string, args ...string) *running {
	ctx, cancel := context.WithCancel(ctx)
	r := &running{done: make(chan struct{}), stop: cancel}
	go func() {
		defer close(r.done)
		defer cancel()
		var out []byte
		out, r.code, r.err = c.options.Host(ctx, name, args...)
		_, _ = r.Write(out)
	}()
	return r
}

// judge tells how a workload ended that has ended by itself.
func (r *running) judge(w config.Workload) error {
	if r.err != nil {
		return &Error{Cause: Infrastructure, Phase: Measure, Err: fmt.Errorf("run the workload: %w", r.err)}
	}
	out, code := r.said()
	var errs []byte
	if r.errs != nil {
		errs = r.errs()
	}
	switch {
	case w.Instrumentation != nil:
		r.tests.end()
		return r.tests.judge(code, errs)
	case w.Monkey != nil:
		return judgeMonkey(out, errs, code)
	case code != 0:
		return fmt.Errorf("%w: exit status %d: %s", ErrTestFail, code, lastLine(errs, out))
	}
	return nil
}

// judgeMonkey reads what monkey says of its end; its exit code tells how many
// events it did not get to, or nothing.
func judgeMonkey(out, errs []byte, code int) error {
	for line := range bytes.SplitSeq(out, []byte("\n")) {
		line = bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(line, []byte("// CRASH: ")):
			return fmt.Errorf("%w: %s", ErrCrashed, clip(string(line[3:])))
		case bytes.HasPrefix(line, []byte("** No activities found to run")):
			return fmt.Errorf("%w: %s", ErrTestFail, clip(string(line)))
		case bytes.HasPrefix(line, []byte("** Monkey aborted")), bytes.HasPrefix(line, []byte("** System appears to have crashed")):
			return fmt.Errorf("%w: %s", ErrTestFail, clip(string(line)))
		}
	}
	if code != 0 {
		return fmt.Errorf("%w: monkey: exit status %d: %s", ErrTestFail, code, lastLine(errs, out))
	}
	return nil
}

// lastLine is the last line of the first of the texts that says anything.
func lastLine(texts ...[]byte) string {
	for _, text := range texts {
		text = bytes.TrimSpace(text)
		if last := text[bytes.LastIndexByte(text, '\n')+1:]; len(last) > 0 {
			return clip(string(last))
		}
	}
	return "(no output)"
}

// tail keeps the first and the last part of a long output.
type tail struct {
	mu         sync.Mutex
	head, rest []byte
	written    int64
}

// tailLimit bounds either part of an output, in bytes.
const tailLimit = 512 << 10

// Write takes more of the output.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.written += int64(n)
	if room := tailLimit - len(t.head); room > 0 {
		take := min(room, len(p))
		t.head, p = append(t.head, p[:take]...), p[take:]
	}
	t.rest = append(t.rest, p...)
	if len(t.rest) > 2*tailLimit {
		t.rest = append([]byte{}, t.rest[len(t.rest)-tailLimit:]...)
	}
	return n, nil
}

// Bytes is what was kept, with a line that says so where some was not.
func (t *tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := append([]byte{}, t.head...)
	if lost := t.written - int64(len(t.head)+len(t.rest)); lost > 0 {
		out = fmt.Appendf(out, "\n(%d bytes are left out)\n", lost)
	}
	return append(out, t.rest...)
}
