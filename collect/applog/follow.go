package applog

import (
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/trace/logcat"
)

// follower detects anomalies in the device's log as it is written. Whatever it misses is in the log
// that is read at the end.
type follower struct {
	app    string // its package
	usual  map[string]time.Duration
	stream *Stream
	frames bool         // nothing else detects long frames while the workload runs
	pids   map[int]bool // of the app's processes that were started
	log    *stream

	mu       sync.Mutex
	event    logcat.Event // the UI event under way, the zero one before any
	reported bool         // it was reported as slow
}

// follow starts listening to the log, from now on.
func follow(log *stream, app string, usual map[string]time.Duration, out *Stream, frames bool) *follower {
	f := &follower{app: app, usual: usual, stream: out, frames: frames, pids: map[int]bool{}, log: log}
	log.listen(f.take)
	return f
}

// stop ends it, and returns once nothing more is reported.
func (f *follower) stop() { f.log.listen(nil) }

func (f *follower) take(e logcat.Event) {
	if e.Kind == logcat.UIEvent {
		f.lasts(e.Time)
		f.mu.Lock()
		f.event, f.reported = e, false
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

// lasts reports the event under way if it takes long, at a time on CLOCK_MONOTONIC.
func (f *follower) lasts(now time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, slow := ofDuration(f.event.Name, f.event.Time, now, f.usual[f.event.Name])
	if slow && !f.reported {
		f.reported = true
		f.stream.Notice(a)
	}
}

// since returns when the event under way began, 0 before any.
func (f *follower) since() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.event.Time
}

// isOf reports whether a process is one of the package's.
func isOf(process, pkg string) bool {
	return process == pkg || strings.HasPrefix(process, pkg+":")
}
