package art

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace"
)

// magic begins the header of binary data: "SLOW".
const magic = 0x574f4c53

// Read reads a method trace and hands its events to visit in the file's order, which is the
// order of time within a thread and not between threads. An error is one of reading; whatever
// can't be understood is a warning, and what was read before it is returned. visit may be nil.
func Read(r io.Reader, visit func(Event)) (*Trace, error) {
	if visit == nil {
		visit = func(Event) {}
	}
	return Follow(r, func(_ *Trace, e Event) { visit(e) })
}

// Follow is Read for a trace that is still being written: visit also gets what the file has told so
// far, which changes with the next event.
func Follow(r io.Reader, visit func(*Trace, Event)) (*Trace, error) {
	d := newDecoder(r, visit)
	d.read()
	d.finish()
	return d.t, d.source.err
}

// Again reads the events of a trace once more, for whom its names are known: src is its file. An
// error is one of reading.
func (t *Trace) Again(src io.ReadSeeker, visit func(Event)) error {
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read a method trace again: %w", err)
	}
	d := newDecoder(src, func(_ *Trace, e Event) { visit(e) })
	d.again = true
	d.read()
	return d.source.err
}

// decoder is the state of reading one file.
type decoder struct {
	source   *source
	visit    func(*Trace, Event)
	t        *Trace
	again    bool           // methods are known: they are not kept
	places   map[uint64]int // of methods in t.Methods, by id
	named    []bool         // the methods that have a name
	clocks   map[uint32]*clock
	names    int // bytes of names that are kept
	dropped  int // methods and threads that are not
	noName   int // methods whose names no code can have
	noThread int // events of threads beyond MaxThreads
	warnings trace.Warnings
}

func newDecoder(r io.Reader, visit func(*Trace, Event)) *decoder {
	return &decoder{
		source: newSource(r), visit: visit, places: map[uint64]int{}, clocks: map[uint32]*clock{},
		t: &Trace{Threads: map[uint32]string{}, Stated: -1, Clock: Wall},
	}
}

// read reads a file by what it begins with.
func (d *decoder) read() {
	switch head := d.source.peek(8); {
	case bytes.HasPrefix(head, []byte("*version")):
		d.text()
	case len(head) >= 6 && u.Uint32(head) == magic:
		d.binary(int(u.Uint16(head[4:])))
	case len(head) > 0 && head[0] == entryBlock:
		d.headless()
	default:
		d.warn("this is no method trace of ART: it begins neither with *version or SLOW nor with a block of entries")
	}
}

func (d *decoder) warn(format string, args ...any) {
	d.warnings.Addf(0, "byte %d: "+format, append([]any{d.source.at}, args...)...)
}

// cut notes that the file ends too early, in what is named.
func (d *decoder) cut(in string) {
	if !d.t.Cut && d.source.err == nil {
		d.warn("the file ends in %s: what follows is missing", in)
	}
	d.t.Cut = true
}

// need reads n bytes; where they are not there, it notes in what the file ends.
func (d *decoder) need(n int, in string) ([]byte, bool) {
	b, ok := d.source.next(n)
	if !ok {
		d.cut(in)
	}
	return b, ok
}

// counted reads text with its length of 16 bits before it.
func (d *decoder) counted() (text string, ok bool) {
	b, ok := d.need(2, "a name")
	if ok {
		b, ok = d.need(int(u.Uint16(b)), "a name")
	}
	return string(b), ok
}

func (d *decoder) finish() {
	t := d.t
	d.warnings.Counted(0, d.dropped, "%d method or thread is left out: there are too many", "%d methods or threads are left out: there are too many")
	d.warnings.Counted(0, d.noThread, "%d event is left out: its thread is one of too many", "%d events are left out: their threads are too many")
	if t.Full {
		d.warnings.Addf(0, "ART's buffer was full: what came after it is missing (am profile start --streaming has no such limit)")
	}
	if t.Stated >= 0 && t.Stated != t.Events {
		d.warnings.Addf(0, "the file states %d events, %d are in it", t.Stated, t.Events)
	}
	d.warnings.Counted(0, d.noName, "the name of %d method is none that code can have: it is left out", "the names of %d methods are none that code can have: they are left out")
	unnamed := -d.noName
	for _, named := range d.named {
		if !named {
			unnamed++
		}
	}
	d.warnings.Counted(0, unnamed, "the file does not name %d method: it has its number alone", "the file does not name %d methods: they have their numbers alone")
	t.Warnings = d.warnings.List()
}

// method is the place of a method, which may be named later; -1 where there are too many.
func (d *decoder) method(id uint64) int {
	place, known := d.places[id]
	if known {
		return place
	}
	if place = len(d.named); place == MaxMethods {
		d.dropped++
		return -1
	}
	d.places[id] = place
	d.named = append(d.named, false)
	if !d.again {
		d.t.Methods = append(d.t.Methods, Method{ID: id})
	}
	return place
}

// name gives a method its line.
func (d *decoder) name(id uint64, line string) {
	place := d.method(id)
	if place < 0 {
		return
	}
	if d.names += len(line); d.names > MaxNames {
		d.dropped++
		return
	}
	m := parseMethod(id, strings.ToValidUTF8(line, "\uFFFD"))
	if !m.named() {
		d.noName++
		m = Method{ID: id}
	}
	d.named[place] = m.Class != ""
	if !d.again {
		d.t.Methods[place] = m
	}
}

// thread gives a thread its name.
func (d *decoder) thread(tid uint32, name string) {
	_, known := d.t.Threads[tid]
	if d.names += len(name); d.names > MaxNames || !known && len(d.t.Threads) == MaxThreads {
		d.dropped++
		return
	}
	d.t.Threads[tid] = threadName(trace.Name(name))
}

// event hands an event on.
func (d *decoder) event(e Event) {
	d.t.Events++
	d.visit(d.t, e)
}

// clock follows a thread's times of 32 bits in microseconds, which wrap after 71 minutes.
type clock struct{ time, cpu int64 }

// follow adds the difference to the time before. A clock may step back a little, by less than a
// second; what is lower by more has wrapped.
func follow(now *int64, low uint32) time.Duration {
	const wrap, back = int64(1) << 32, int64(time.Second / time.Microsecond)
	step := int64(low - uint32(*now))
	if step > wrap-back {
		step -= wrap
	}
	*now = max(*now+step, 0)
	return time.Duration(*now) * time.Microsecond
}

// clockOf is a thread's; nil where there are too many.
func (d *decoder) clockOf(tid uint32) *clock {
	c, ok := d.clocks[tid]
	if !ok {
		if len(d.clocks) == MaxThreads {
			return nil
		}
		c = &clock{}
		d.clocks[tid] = c
	}
	return c
}

// setClock takes the clock's name from a header in text.
func (d *decoder) setClock(name string) {
	switch name {
	case "wall", "global": // global: Dalvik's name
		d.t.Clock = Wall
	case string(ThreadCPU):
		d.t.Clock = ThreadCPU
	case string(Dual):
		d.t.Clock = Dual
	default:
		d.warn("the clock %s is unknown: times are taken as wall time", trace.Quote(name))
	}
}

// option reads a line KEY=VALUE of a header or a summary.
func (d *decoder) option(line string) {
	key, value, _ := strings.Cut(line, "=")
	number := func() (n int64) {
		if _, err := fmt.Sscanf(value, "%d", &n); err != nil || n < 0 {
			d.warn("%s is %s, want a number", key, trace.Quote(value))
			return 0
		}
		return n
	}
	switch key {
	case "clock":
		d.setClock(value)
	case "data-file-overflow":
		d.t.Full = value == "true"
	case "elapsed-time-usec":
		d.t.Elapsed = times(number(), time.Microsecond)
	case "elapsed-time-nsec":
		d.t.Elapsed = times(number(), time.Nanosecond)
	case "num-method-calls":
		d.t.Stated = int(min(number(), 1<<40))
	case "pid":
		d.t.PID = int(min(number(), 1<<31-1))
	}
}

// times is a number of units, as far as a duration reaches.
func times(n int64, unit time.Duration) time.Duration {
	const most = time.Duration(1<<63 - 1)
	if n < 0 || n > int64(most/unit) {
		return most
	}
	return time.Duration(n) * unit
}
