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

// stream is the device's log as logcat prints it while a repetition goes on: what logd has
// no room for any more is in it all the same.
type stream struct {
	process device.Process
	mark    string // with which it begins: what comes before is another repetition's
	done    chan struct{}

	telling sync.Mutex // held while who listens is told
	tap     func(logcat.Event)

	mu        sync.Mutex
	begun     bool
	entries   []logcat.Entry
	bytes     int
	cut       bool          // more came than is kept
	changed   chan struct{} // closed when more comes
	accidents []string      // the lines that tell of an ANR or a crash, the last ones
}

const (
	// maxLogLine bounds a line of the log in bytes; logd cuts one at 4 KiB.
	maxLogLine = 64 << 10
	// maxStreamed bounds what is kept of a stream, in bytes of text.
	maxStreamed = 64 << 20
	// maxAccidents bounds how many lines are kept that tell of an ANR or a crash.
	maxAccidents = 20
	// streamWithin is how long is waited for a line that the device has in its log, on the
	// clock of who waits.
	streamWithin = 5 * time.Second
)

func newStream(process device.Process, mark string) *stream {
	return &stream{process: process, mark: mark, done: make(chan struct{}), changed: make(chan struct{})}
}

// run reads until the stream ends.
func (s *stream) run() {
	defer func() { _ = s.process.Close() }() // says that nothing more of it is read
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

// add keeps the entries of a line, and tells who listens what they say.
func (s *stream) add(entries []logcat.Entry, line string) {
	if !s.keep(entries, line) {
		return
	}
	s.telling.Lock()
	defer s.telling.Unlock()
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

// listen has events told to somebody from now on, nil for nobody. It returns once nobody
// else is told any more.
func (s *stream) listen(tap func(logcat.Event)) {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.tap = tap
}

// told are the last lines that tell of an ANR or a crash; ok is false once the stream is over.
func (s *stream) told() (lines string, ok bool) {
	select {
	case <-s.done:
		return "", false
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.accidents, "\n"), true
}

// since are the entries behind a mark that have come so far, up to another one if that is
// among them; ok is false where the mark is not, or some were not kept.
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

// await waits for a mark; nil where it does not come in time, or the stream is over.
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

// said is what an entry says, without its time, which two logcats may tell apart by a
// millisecond.
type said struct {
	pid, tid     int
	tag, message string
}

// holds reports whether all of the entries are among others, but for what logd itself says
// of lines that it drops, in words that change with their number.
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
