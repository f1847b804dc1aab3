package collect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
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
	errs func() []byte // its standard error, nil where out holds both
	code int
	err  error
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
	runner := w.Runner
	if runner == "" {
		runner = config.DefaultRunner
	}
	return device.Quote(append(words, w.TestPackage+"/"+runner)...)
}

// start begins the workload.
func (c *collector) start(ctx context.Context) (*running, error) {
	w := c.job.Scenario.Workload
	if w.Maestro != nil {
		return c.startHost(ctx, "maestro", "--device", c.dev.Serial(), "test", w.Maestro.Flow), nil
	}
	line := command(w, c.job.App.Package)
	if line == "" {
		return nil, c.final(Workload, fmt.Errorf("scenario %q has no workload", c.job.Scenario.Name))
	}
	process, err := c.dev.Start(ctx, line)
	if err != nil {
		return nil, fmt.Errorf("start the workload: %w", err)
	}
	r := &running{done: make(chan struct{}), stop: func() { _ = process.Close() }, errs: process.Stderr}
	go func() {
		defer close(r.done)
		_, copied := io.Copy(&r.out, process.Stdout())
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
		_, _ = r.out.Write(out)
	}()
	return r
}

// judge tells how a workload ended that has ended by itself.
func (r *running) judge(w config.Workload) error {
	if r.err != nil {
		return fmt.Errorf("run the workload: %w", r.err)
	}
	out, errs := r.out.Bytes(), []byte(nil)
	if r.errs != nil {
		errs = r.errs()
	}
	switch {
	case w.Instrumentation != nil:
		return readInstrumentation(out).judge(r.code, errs)
	case w.Monkey != nil:
		return judgeMonkey(out, errs, r.code)
	case r.code != 0:
		return fmt.Errorf("%w: exit status %d: %s", ErrTestFail, r.code, lastLine(errs, out))
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
}

// tailLimit bounds either part of an output, in bytes.
const tailLimit = 512 << 10

// Write takes more of the output.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
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

// Bytes is what was kept.
func (t *tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(append([]byte{}, t.head...), t.rest...)
}
