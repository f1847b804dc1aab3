package systrace

import (
	"bufio"
	"bytes"
	"io"
	"time"

	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// reader reads one text.
type reader struct {
	file      *packets.File
	feed      *packets.Feed
	part      part
	functions map[string]uint64
	writers   map[int32]*packets.Writer // by thread, as stated in its last line
	waking    bool                      // sched_waking was seen
	data      []byte                    // buffer of the last event, reused
	seen      content
	other     string // what the file seems to be if it is not a text trace, "" if unknown
}

// read passes a text's events to the readers. It returns an error if reading fails, or for a text
// of more than trace.MaxText.
func read(src io.Reader, f *packets.File, readers ...packets.Reader) (*content, error) {
	r := &reader{
		file: f, feed: f.Feed(readers...), functions: map[string]uint64{}, writers: map[int32]*packets.Writer{},
		seen: content{kinds: map[string]*int{}, cpus: map[int32]bool{}},
	}
	in := bufio.NewReaderSize(src, 64<<10)
	begins, _ := in.Peek(near)
	r.other = otherFormat(begins)
	lines := trace.NewLines(unpacked(in, f))
	for lines.Next() {
		if lines.Cut() {
			f.Warnings.Addf(lines.Number(), "the line is longer than %d MiB: its rest is not read", trace.MaxLine>>20)
		}
		r.line(lines.Text(), lines.Number())
	}
	r.feed.End()
	if r.part == events && lines.Unended() && parses(lines.Text()) {
		f.Warnings.Addf(lines.Number(), "the text ends without the end of a line: it may have been cut")
	}
	r.doubts()
	return &r.seen, lines.Err()
}

// event parses a line of the kernel's trace.
func (r *reader) event(text []byte, number int) {
	if len(bytes.TrimSpace(text)) == 0 || text[0] == '#' {
		return
	}
	l, ok := parse(text)
	switch {
	case ok:
		r.count(&l)
		r.writer(&l)
		r.give(&l)
	case bytes.HasPrefix(text, []byte("CPU:")) && bytes.HasSuffix(text, []byte(" EVENTS]")):
		r.feed.Lost() // "CPU:2 [LOST 511 EVENTS]"
	case r.task(text):
	default:
		if r.seen.others++; r.seen.others == 1 {
			r.seen.strange = number
		}
	}
}

func (r *reader) count(l *line) {
	s := &r.seen
	if s.events == 0 {
		s.first, s.last = l.ns, l.ns
	}
	s.events++
	s.first, s.last = min(s.first, l.ns), max(s.last, l.ns)
	s.cpus[l.cpu] = true
	n := s.kinds[string(l.event)]
	if n == nil && len(s.kinds) < maxKinds {
		n = new(int)
		s.kinds[packets.Name(l.event)] = n
	}
	if n != nil {
		*n++
	}
}

// unnamed is the name of a thread that the kernel had forgotten.
const unnamed = "<...>"

// writer reports the line's thread to the readers.
func (r *reader) writer(l *line) {
	if !r.feed.Asked(0) {
		return
	}
	name := l.task
	if string(name) == unnamed {
		name = nil
	}
	w := r.writers[l.tid]
	if w == nil || w.Name != string(name) || w.PID != l.pid {
		w = &packets.Writer{Name: packets.Name(name), PID: l.pid}
		if len(r.writers) < maxWriters {
			r.writers[l.tid] = w
		}
	}
	r.feed.Event(packets.Event{At: time.Duration(l.ns), CPU: l.cpu, TID: l.tid, Writer: w})
}

// give passes the event to the readers that want its kind.
func (r *reader) give(l *line) {
	how, known := r.formatOf(l.event)
	switch {
	case !known:
		r.seen.unread++
		return
	case !r.feed.Asked(how.number):
		return
	}
	message, ok := r.message(r.data[:0], how, l.args)
	if !ok {
		r.seen.malformed++
		return
	}
	r.data = message
	r.feed.Event(packets.Event{At: time.Duration(l.ns), CPU: l.cpu, TID: l.tid, Kind: how.number, Data: bytes.Clone(message)})
}

// format is how an event is parsed: by its keys, or as one of a block device, which has none.
type format struct {
	kind
	block *block
}

// formatOf returns how an event is parsed; false if it is not.
func (r *reader) formatOf(event []byte) (format, bool) {
	if b, ok := blocks[string(event)]; ok {
		return format{kind{number: b.number}, &b}, true
	}
	k, known := kinds[string(event)]
	if k.number == wakingKind {
		woken := string(event) == wakeup
		r.waking = r.waking || !woken
		known = !woken || !r.waking
	}
	return format{kind: k}, known
}

// doubts warns of what was not parsed.
func (r *reader) doubts() {
	r.file.Warnings.Counted(0, r.seen.malformed,
		"%d event lacks an argument of its kind: it is left out",
		"%d events lack an argument of their kind: they are left out")
	r.file.Warnings.Counted(r.seen.strange, r.seen.others,
		"%d line is no event of the kernel, this one: it is left out",
		"%d lines are no events of the kernel, this one first: they are left out")
	if r.seen.events == 0 && r.seen.tasks == 0 {
		r.file.Nothing = true
		r.file.Warnings.Addf(0, "there is no event of the kernel in the text%s", r.other)
	}
}
