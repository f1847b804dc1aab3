package phone

import (
	"fmt"
	"strings"
	"time"
)

// entry is one line of the log.
type entry struct {
	at       time.Duration // CLOCK_MONOTONIC
	buffer   string        // main, system, crash, events, radio
	pid, tid int
	priority byte // V D I W E F
	tag      string
	text     string
}

// maxLog bounds the log: the oldest lines go first.
const maxLog = 50_000

// logBuffers is the phone's log, and who follows it.
type logBuffers struct {
	entries   []entry
	followers map[*follower]bool
}

// systemPID is the process that logs for the system.
const systemPID = 1040

func (p *Phone) log(e entry) {
	e.at = p.clock.Now()
	if e.tid == 0 {
		e.tid = e.pid
	}
	l := &p.state.log
	if len(l.entries) >= maxLog {
		l.entries = append(l.entries[:0], l.entries[maxLog/10:]...)
	}
	l.entries = append(l.entries, e)
	for f := range l.followers {
		f.show(e)
	}
}

// logf logs for the system.
func (p *Phone) logf(buffer string, priority byte, tag, format string, args ...any) {
	p.log(entry{buffer: buffer, pid: systemPID, tid: systemPID + 12, priority: priority, tag: tag, text: fmt.Sprintf(format, args...)})
}

// event logs to the events buffer: am_crash: [0,4211,…].
func (p *Phone) event(tag string, values ...any) {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	text := strings.Join(words, ",")
	if len(values) != 1 {
		text = "[" + text + "]"
	}
	p.log(entry{buffer: "events", pid: systemPID, tid: systemPID + 19, priority: 'I', tag: tag, text: text})
}

// logFormat is how logcat prints entries.
type logFormat struct {
	verb      string // brief, process, tag, thread, raw, time, threadtime, long
	monotonic bool
	epoch     bool
	micros    bool
	year      bool
	uid       bool
}

// since are the API levels at which -v learned a word.
var formatSince = map[string]int{
	"brief": 1, "process": 1, "tag": 1, "thread": 1, "raw": 1, "time": 1, "threadtime": 1, "long": 1,
	"color": 23, "colour": 23, "printable": 23, "usec": 23, "year": 23, "zone": 23, "UTC": 24,
	"monotonic": 24, "epoch": 24, "uid": 24, "nsec": 29, "descriptive": 26,
}

// set takes one word of -v; false where this version of Android doesn't know it.
func (f *logFormat) set(word string, api int) bool {
	since, ok := formatSince[word]
	if !ok || api < since {
		return false
	}
	switch word {
	case "monotonic":
		f.monotonic = true
	case "epoch":
		f.epoch = true
	case "usec", "nsec":
		f.micros = true
	case "year":
		f.year = true
	case "uid":
		f.uid = true
	case "color", "colour", "printable", "zone", "UTC", "descriptive":
	default:
		f.verb = word
	}
	return true
}

// print is one entry as lines; a text of several lines is printed line by line.
func (p *Phone) print(f logFormat, e entry) []byte {
	var b []byte
	lines := strings.Split(strings.TrimRight(e.text, "\n"), "\n")
	for _, line := range lines {
		b = append(b, p.printLine(f, e, line)...)
		b = append(b, '\n')
	}
	return b
}

func (p *Phone) printLine(f logFormat, e entry, line string) string {
	uid := ""
	if f.uid {
		uid = "u0_a120 "
		switch e.pid {
		case systemPID:
			uid = " 1000 "
		case tombstonedPID:
			uid = " 1058 "
		}
	}
	switch f.verb {
	case "raw":
		return line
	case "process":
		return fmt.Sprintf("%c(%5d) %s  (%s)", e.priority, e.pid, line, e.tag)
	case "tag":
		return fmt.Sprintf("%c/%-8s: %s", e.priority, e.tag, line)
	case "thread":
		return fmt.Sprintf("%c(%5d:%5d) %s", e.priority, e.pid, e.tid, line)
	case "time":
		return fmt.Sprintf("%s %c/%-8s(%5d): %s", p.stamp(f, e.at), e.priority, e.tag, e.pid, line)
	case "threadtime":
		return fmt.Sprintf("%s %s%5d %5d %c %-8s: %s", p.stamp(f, e.at), uid, e.pid, e.tid, e.priority, e.tag, line)
	case "long":
		return fmt.Sprintf("[ %s %5d:%5d %c/%-8s ]\n%s\n", p.stamp(f, e.at), e.pid, e.tid, e.priority, e.tag, line)
	}
	return fmt.Sprintf("%c/%-8s(%5d): %s", e.priority, e.tag, e.pid, line)
}

// stamp is the time in front of an entry, as liblog writes it.
func (p *Phone) stamp(f logFormat, at time.Duration) string {
	wall := p.wall(at)
	fraction := func(d time.Duration) string {
		if f.micros {
			return fmt.Sprintf(".%06d", d.Microseconds())
		}
		return fmt.Sprintf(".%03d", d.Milliseconds())
	}
	switch {
	case f.monotonic:
		return fmt.Sprintf("%6d%s", at/time.Second, fraction(at%time.Second))
	case f.epoch:
		return fmt.Sprintf("%19d%s", wall.Unix(), fraction(time.Duration(wall.Nanosecond())))
	}
	layout := "01-02 15:04:05"
	if f.year {
		layout = "2006-01-02 15:04:05"
	}
	return wall.Format(layout) + fraction(time.Duration(wall.Nanosecond()))
}
