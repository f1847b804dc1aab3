package logcat

import (
	"fmt"
	"time"
)

// repeats is the state of logd of Android 8 to 11 for one buffer, where it drops all but the
// first and the last of identical lines (LogBuffer.cpp, "chatty"). The last one is held back
// until another line arrives.
type repeats struct {
	last    Entry
	held    bool // last repeats its predecessor, and is not in the log yet
	dropped int
	at      time.Duration // of the last dropped one
}

// dropsRepeats reports whether this Android's logd does so.
func (l *Log) dropsRepeats() bool { return l.API >= 26 && l.API <= 30 }

// sameFor is how long consecutive lines count as identical.
const sameFor = time.Minute

// squash takes a new entry, and returns the entries to log now.
func (r *repeats) squash(e Entry) []Entry {
	if r.last.PID == e.PID && r.last.Priority == e.Priority && r.last.Tag == e.Tag && r.last.Text == e.Text && e.at-r.last.at <= sameFor {
		if r.held {
			r.dropped++
			r.at = r.last.at
		}
		r.last, r.held = e, true
		return nil
	}
	var out []Entry
	if r.dropped > 0 {
		chatty := Entry{Buffer: e.Buffer, PID: r.last.PID, TID: r.last.TID, Priority: 'I', Tag: "chatty", at: r.at, wall: r.last.wall.Add(r.at - r.last.at)}
		plural := "s"
		if r.dropped == 1 {
			plural = ""
		}
		chatty.Text = fmt.Sprintf("uid=%d identical %d line%s", chatty.uid(), r.dropped, plural)
		out = append(out, chatty)
	}
	if r.held {
		out = append(out, r.last)
	}
	*r = repeats{last: e}
	return append(out, e)
}

// uid is the user of the process that logs.
func (e Entry) uid() int {
	switch e.PID {
	case SystemPID:
		return 1000
	case TombstonedPID:
		return 1058
	}
	return 10120
}
