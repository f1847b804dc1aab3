package watch

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace/logcat"
)

// follower reads the device's log as it is written.
type follower struct {
	app     string // its package
	usual   map[string]time.Duration
	stream  *Stream
	frames  bool         // nobody else notices long frames while the workload runs
	pids    map[int]bool // of the app's processes that were started
	process device.Process
	done    chan struct{}

	mu    sync.Mutex
	event logcat.Event // the UI event under way, the zero one before any
	told  bool         // that it is slow
}

// follow begins to follow the log, from now on.
func follow(ctx context.Context, t *target.Target, app string, usual map[string]time.Duration, stream *Stream, frames bool) (*follower, error) {
	_, mark := t.NextMark()
	// What comes after -T 1 is at most as old as the mark.
	words := []string{"logcat", "-T", "1", "-v", "threadtime", "-v", "monotonic", "-v", "uid", "-b", "main", "-b", "events",
		logcat.Tag + ":V", "am_crash:V", "am_anr:V"}
	if frames {
		words = append(words, "am_proc_start:V", "HWUI:I", "OpenGLRenderer:I")
	}
	words = append(words, "*:S")
	process, err := t.Start(ctx, mark+"; "+device.Quote(words...))
	if err != nil {
		return nil, fmt.Errorf("follow the device's log: %w", err)
	}
	f := &follower{app: app, usual: usual, stream: stream, frames: frames, pids: map[int]bool{}, process: process, done: make(chan struct{})}
	go func() {
		defer func() { _ = process.Close() }() // says that nothing more of it is read
		defer close(f.done)
		f.read(process.Stdout())
	}()
	return f, nil
}

// stop ends it, and returns once nothing more is noticed.
func (f *follower) stop() {
	_ = f.process.Close()
	<-f.done
}

// maxLogLine bounds a line of the log in bytes; logd cuts one at 4 KiB.
const maxLogLine = 64 << 10

// read takes line by line until the log ends, or a line is no log's. What it does not
// see is in the log that is read in the end.
func (f *follower) read(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLogLine)
	for lines.Scan() {
		log, err := logcat.Read(bytes.NewReader(lines.Bytes()))
		if err != nil {
			continue
		}
		events, _ := logcat.Events(log.Entries)
		for _, e := range events {
			f.take(e)
		}
	}
}

func (f *follower) take(e logcat.Event) {
	if e.Kind == logcat.UIEvent {
		f.lasts(e.Time)
		f.mu.Lock()
		f.event, f.told = e, false
		f.mu.Unlock()
		return
	}
	if e.Kind == logcat.Begun && isOf(e.Process, f.app) {
		f.pids[e.PID] = true
	}
	if a, ok := ofLongFrame(e); ok && f.frames && f.pids[e.PID] {
		f.stream.Notice(a)
	}
	if a, ok := ofEvent(e); ok && isOf(e.Process, f.app) {
		f.stream.Notice(a)
	}
}

// lasts notices that the event under way takes long, at a time on CLOCK_MONOTONIC.
func (f *follower) lasts(now time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, slow := ofDuration(f.event.Name, f.event.Time, now, f.usual[f.event.Name])
	if slow && !f.told {
		f.told = true
		f.stream.Notice(a)
	}
}

// since is when the event under way began, 0 before any.
func (f *follower) since() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.event.Time
}

// isOf reports whether a process is one of the package's.
func isOf(process, pkg string) bool {
	return process == pkg || strings.HasPrefix(process, pkg+":")
}
