package logcat

import (
	"fmt"
	"strings"
	"time"
)

// format is an output format of logcat.
type format struct {
	form      string // brief, process, tag, thread, raw, time, threadtime, long
	monotonic bool
	epoch     bool
	micros    bool
	year      bool
	uid       bool
	boot      time.Time // the wall clock at boot, as of the start of logcat
}

// formatSince are the API levels that introduced the words of -v.
var formatSince = map[string]int{
	"brief": 1, "process": 1, "tag": 1, "thread": 1, "raw": 1, "time": 1, "threadtime": 1, "long": 1,
	"color": 23, "colour": 23, "printable": 23, "usec": 23, "year": 23, "zone": 23, "UTC": 24,
	"monotonic": 24, "epoch": 24, "uid": 24, "nsec": 29, "descriptive": 26,
}

// set applies a word of -v; false if this Android version does not know it.
func (f *format) set(word string, api int) bool {
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
		f.form = word
	}
	return true
}

// print formats an Entry; each line of a text is printed separately.
func (l *Log) print(f format, e Entry) []byte {
	var b []byte
	lines := strings.Split(strings.TrimRight(e.Text, "\n"), "\n")
	for _, line := range lines {
		b = append(b, l.printLine(f, e, line)...)
		b = append(b, '\n')
	}
	return b
}

func (l *Log) printLine(f format, e Entry, line string) string {
	uid := ""
	if f.uid {
		uid = "u0_a120 "
		switch e.PID {
		case SystemPID:
			uid = " 1000 "
		case TombstonedPID:
			uid = " 1058 "
		}
	}
	switch f.form {
	case "raw":
		return line
	case "process":
		return fmt.Sprintf("%c(%5d) %s  (%s)", e.Priority, e.PID, line, e.Tag)
	case "tag":
		return fmt.Sprintf("%c/%-8s: %s", e.Priority, e.Tag, line)
	case "thread":
		return fmt.Sprintf("%c(%5d:%5d) %s", e.Priority, e.PID, e.TID, line)
	case "time":
		return fmt.Sprintf("%s %c/%-8s(%5d): %s", l.stamp(f, e), e.Priority, e.Tag, e.PID, line)
	case "threadtime":
		return fmt.Sprintf("%s %s%5d %5d %c %-8s: %s", l.stamp(f, e), uid, e.PID, e.TID, e.Priority, e.Tag, line)
	case "long":
		return fmt.Sprintf("[ %s %5d:%5d %c/%-8s ]\n%s\n", l.stamp(f, e), e.PID, e.TID, e.Priority, e.Tag, line)
	}
	return fmt.Sprintf("%c/%-8s(%5d): %s", e.Priority, e.Tag, e.PID, line)
}

// stamp formats an entry's time like liblog. -v monotonic is the wall clock minus the
// difference of the two clocks when logcat starts. So if the wall clock is set, earlier
// entries are shifted in a later logcat, and later entries in an earlier one (logprint.cpp,
// convertMonotonic).
func (l *Log) stamp(f format, e Entry) string {
	wall := e.wall
	fraction := func(d time.Duration) string {
		if f.micros {
			return fmt.Sprintf(".%06d", d.Microseconds())
		}
		return fmt.Sprintf(".%03d", d.Milliseconds())
	}
	switch {
	case f.monotonic:
		at := wall.Sub(f.boot)
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
