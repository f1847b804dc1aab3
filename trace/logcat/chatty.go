package logcat

import (
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// ChattyTag is the tag under which logd reports the lines that it dropped: until Android 11 lines
// of a process that writes too many ("uid=10120(com.example) main expire 157 lines"), from Android
// 8 to 11 also repetitions except the first and the last ("uid=10120(com.example) main identical 3
// lines"; system/core/logd/LogBuffer.cpp).
const ChattyTag = "chatty"

// maxDropped limits how many dropped lines one line can report: logd counts in 16 bits.
const maxDropped = 1<<16 - 1

// droppedBy parses logd's report of dropped lines; same is set if they repeat another line.
func droppedBy(message string) (n int, same, ok bool) {
	w := strings.Fields(message)
	if len(w) < 4 || !strings.HasPrefix(w[0], "uid=") || !strings.HasPrefix(w[len(w)-1], "line") {
		return 0, false, false
	}
	n, err := strconv.Atoi(w[len(w)-2])
	how := w[len(w)-3]
	return n, how == "identical", err == nil && n > 0 && n <= maxDropped && (how == "identical" || how == "expire")
}

// chatter counts the UI events that logd dropped.
type chatter struct {
	repeats int
	name    string        // of the first repeated event
	expired map[int]int   // dropped lines by process, of any kind
	writes  map[int]bool  // processes that write UI events
	last    map[int]Entry // the last entry by process, if it is a UI event
	waiting map[int]int   // dropped repetitions of last, counted if the process's next line repeats it too
}

// dropped returns warnings about UI events that logd dropped among the entries.
func dropped(entries []Entry) []run.Warning {
	c := chatter{expired: map[int]int{}, writes: map[int]bool{}, last: map[int]Entry{}, waiting: map[int]int{}}
	for _, e := range entries {
		if n, same, ok := droppedBy(e.Message); e.Tag == ChattyTag && ok {
			c.note(e, n, same)
		} else {
			c.pass(e)
		}
	}
	expired := 0
	for pid, n := range c.expired {
		if c.writes[pid] {
			expired += n
		}
	}
	var w trace.Warnings
	w.Counted(0, c.repeats, "%d UI event is missing: the device drops lines that repeat the one before them (%s): make each unlike the last, as by a number (scroll n=3)",
		"%d UI events are missing: the device drops lines that repeat the one before them (%s): make each unlike the last, as by a number (scroll n=3)", prose.Quote(c.name, MaxName))
	w.Counted(0, expired, "%d line of the process that writes the UI events is missing: the device dropped it since there were too many, perhaps with a UI event",
		"%d lines of the process that writes the UI events are missing: the device dropped them since there were too many, perhaps with UI events")
	return w.List()
}

func (c *chatter) note(e Entry, n int, same bool) {
	switch {
	case !same:
		c.expired[e.PID] += n
	case c.last[e.PID].Tag == Tag && c.last[e.PID].TID == e.TID:
		c.waiting[e.PID] += n
	}
}

// pass advances to an entry. The lines dropped before it repeat a UI event if the entries on both
// sides are equal: of other tags the log may show no lines.
func (c *chatter) pass(e Entry) {
	last := c.last[e.PID]
	if e.Tag == Tag && last.Tag == Tag && e.Message == last.Message && c.waiting[e.PID] > 0 {
		if c.repeats == 0 {
			c.name = e.Message
		}
		c.repeats += c.waiting[e.PID]
	}
	delete(c.waiting, e.PID)
	delete(c.last, e.PID)
	if e.Tag == Tag {
		c.last[e.PID], c.writes[e.PID] = e, true
	}
}
