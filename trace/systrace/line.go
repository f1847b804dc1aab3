package systrace

import (
	"bytes"
	"strconv"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// line is a line of an event:
//
//	RenderThread-4321 ( 4300) [003] d..2 10.258854: sched_switch: prev_comm=…
//
// The process and the flags may be absent.
type line struct {
	task  []byte // the thread's name
	tid   int32
	pid   int32 // negative if unknown
	cpu   int32
	ns    int64
	event []byte
	args  []byte
}

// parse parses a line; false if it is not an event. A name may contain anything, so any "-" before
// a number may be where it ends.
func parse(text []byte) (line, bool) {
	for from := 0; ; {
		at := bytes.IndexByte(text[from:], '-')
		if at < 0 {
			return line{}, false
		}
		at += from
		if l, ok := afterName(text[at+1:]); ok {
			l.task = bytes.TrimSpace(text[:at])
			return l, true
		}
		from = at + 1
	}
}

// parses reports whether a line is an event.
func parses(text []byte) bool {
	_, ok := parse(text)
	return ok
}

// afterName parses the text after the thread's name.
func afterName(text []byte) (line, bool) {
	s := scanner{text}
	l := line{pid: -1}
	var ok bool
	if l.tid, ok = s.number(); !ok || !s.blank() {
		return line{}, false
	}
	if s.process(&l); !s.skip('[') {
		return line{}, false
	}
	if l.cpu, ok = s.number(); !ok || l.cpu >= packets.MaxCPUs || !s.skip(']') {
		return line{}, false
	}
	s.blank()
	if l.ns, ok = s.time(); !ok {
		s.flags()
		s.blank()
		if l.ns, ok = s.time(); !ok {
			return line{}, false
		}
	}
	s.blank()
	end := bytes.IndexByte(s.rest, ':')
	if end <= 0 || bytes.IndexByte(s.rest[:end], ' ') >= 0 {
		return line{}, false
	}
	l.event, l.args = s.rest[:end], bytes.TrimSpace(s.rest[end+1:])
	return l, true
}

// scanner consumes the parts of a line in order.
type scanner struct{ rest []byte }

func (s *scanner) skip(c byte) bool {
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// blank skips blanks, and reports whether there was one.
func (s *scanner) blank() bool {
	n := 0
	for n < len(s.rest) && (s.rest[n] == ' ' || s.rest[n] == '\t') {
		n++
	}
	s.rest = s.rest[n:]
	return n > 0
}

func (s *scanner) number() (int32, bool) {
	n := 0
	for n < len(s.rest) && s.rest[n] >= '0' && s.rest[n] <= '9' {
		n++
	}
	v, err := strconv.ParseInt(string(s.rest[:n]), 10, 32)
	s.rest = s.rest[n:]
	return int32(v), err == nil
}

// flags skips "d..2" or "dNs3.": irqs-off, need-resched, hardirq or softirq, preempt-depth, and on
// newer kernels migrate-disable. A time may follow without a blank.
func (s *scanner) flags() {
	n := 4
	if len(s.rest) > 5 && s.rest[5] == ' ' {
		n = 5
	}
	s.rest = s.rest[min(n, len(s.rest)):]
}

// process parses "( 4300)", or "(-----)" if the kernel no longer knew the process.
func (s *scanner) process(l *line) {
	if !s.skip('(') {
		return
	}
	s.blank()
	if pid, ok := s.number(); ok {
		l.pid = pid
	}
	s.rest = bytes.TrimLeft(s.rest, "-")
	s.skip(')')
	s.blank()
}

// time parses "10.258854:" as ns. The sum is Perfetto's, from a float: it may be 1 ns less.
func (s *scanner) time() (int64, bool) {
	const most = 25 // bytes of a time: a line may have many candidates
	n := bytes.IndexByte(s.rest[:min(len(s.rest), most)], ':')
	if n <= 0 || s.rest[0] < '0' || s.rest[0] > '9' || bytes.IndexByte(s.rest[:n], '.') < 0 {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(string(s.rest[:n]), 64)
	if err != nil || !(seconds*1e9 <= packets.MaxTime) {
		return 0, false
	}
	s.rest = s.rest[n+1:]
	return int64(seconds * 1e9), true
}
