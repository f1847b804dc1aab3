package applog

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace/logcat"
)

// stream is the device's log as logcat prints it during a repetition: it also has entries that logd
// has dropped since.
type stream struct {
	process device.Process
	mark    string // with which it begins: entries before it are of another repetition
	done    chan struct{}

	notifying sync.Mutex // held while the listener is called
	tap       func(logcat.Event)

	mu        sync.Mutex
	begun     bool
	entries   []logcat.Entry
	bytes     int
	cut       bool          // more came than is kept
	changed   chan struct{} // closed when more comes
	accidents []string      // the last lines about an ANR or a crash
}

const (
	// maxLogLine limits a line of the log in bytes; logd truncates at 4 KiB.
	maxLogLine = 64 << 10
	// maxStreamed limits what is kept of a stream, in bytes of text.
	maxStreamed = 64 << 20
	// maxAccidents limits the kept lines about ANRs and crashes.
	maxAccidents = 20
	// streamWithin is how long to wait for a line that the device has in its log, on the waiter's
	// clock.
	streamWithin = 5 * time.Second
)

func newStream(process device.Process, mark string) *stream {
	return &stream{process: process, mark: mark, done: make(chan struct{}), changed: make(chan struct{})}
}

// run reads until the stream ends.
func (s *stream) run() {
	defer func() { _ = s.process.Close() }() // nothing more of it is read
	defer close(s.done)
	s.read(s.process.Stdout())
}

func (s *stream) close() {
	_ = s.process.Close()
	<-s.done
}

func (s *stream) read(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLogLine)
	for lines.Scan() {
		log, err := logcat.Read(bytes.NewReader(lines.Bytes()))
		if err != nil || len(log.Entries) == 0 {
			continue
		}
		s.add(log.Entries, lines.Text())
	}
}

// add keeps the entries of a line, and passes their events to the listener.
func (s *stream) add(entries []logcat.Entry, line string) {
	if !s.keep(entries, line) {
		return
	}
	s.notifying.Lock()
	defer s.notifying.Unlock()
	if s.tap == nil {
		return
	}
	events, _ := logcat.Events(entries)
	for _, e := range events {
		s.tap(e)
	}
}

// keep reports whether the line is of the repetition.
func (s *stream) keep(entries []logcat.Entry, line string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun = s.begun || markAt(entries, s.mark) >= 0; !s.begun {
		return false
	}
	if s.bytes += len(line); s.bytes <= maxStreamed {
		s.entries = append(s.entries, entries...)
	} else {
		s.cut = true
	}
	if tag := entries[0].Tag; tag == "am_anr" || tag == "am_crash" {
		s.accidents = append(s.accidents, line)
		s.accidents = s.accidents[max(len(s.accidents)-maxAccidents, 0):]
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return true
}

// listen sets the listener, nil for none. It returns once the previous listener is not called any
// more.
func (s *stream) listen(tap func(logcat.Event)) {
	s.notifying.Lock()
	defer s.notifying.Unlock()
	s.tap = tap
}

// accidentLines returns the last lines about an ANR or a crash; ok is false once the stream is
// over.
func (s *stream) accidentLines() (lines string, ok bool) {
	select {
	case <-s.done:
		return "", false
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.accidents, "\n"), true
}

// since returns the entries after a mark that have come so far, up to another mark if that is among
// them; ok is false if the mark is missing, or some entries were not kept.
func (s *stream) since(mark, until string) (entries []logcat.Entry, marked time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := markAt(s.entries, mark)
	if from < 0 || s.cut {
		return nil, 0, false
	}
	to := markAt(s.entries, until)
	if to < 0 {
		to = len(s.entries)
	}
	return slices.Clone(s.entries[from+1 : max(to, from+1)]), s.entries[from].Time, true
}

// await waits for a mark; nil if it does not come in time, or the stream is over.
func (s *stream) await(ctx context.Context, wall device.Clock, mark string) *logcat.Entry {
	ctx, cancel := context.WithCancel(ctx)
	over, waited := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(waited)
		if device.Wait(ctx, wall, streamWithin) == nil {
			close(over)
		}
	}()
	defer func() { cancel(); <-waited }()
	for ended := false; ; {
		s.mu.Lock()
		at, changed := markAt(s.entries, mark), s.changed
		if at >= 0 {
			e := s.entries[at]
			s.mu.Unlock()
			return &e
		}
		s.mu.Unlock()
		if ended {
			return nil
		}
		select {
		case <-changed:
		case <-s.done:
			ended = true
		case <-over:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// said is the content of an entry without its time, on which two logcats may differ by a
// millisecond.
type said struct {
	pid, tid     int
	tag, message string
}

// holds reports whether all contains each of some, except for logd's own messages on dropped lines,
// whose text changes with their number.
func holds(all, some []logcat.Entry) bool {
	counts := map[said]int{}
	for _, e := range all {
		counts[said{e.PID, e.TID, e.Tag, e.Message}]++
	}
	for _, e := range some {
		k := said{e.PID, e.TID, e.Tag, e.Message}
		if counts[k]--; counts[k] < 0 && e.Tag != logcat.ChattyTag {
			return false
		}
	}
	return true
}
