package logcat

import (
	"fmt"
	"time"
)

// repeats is what logd of Android 8 to 11 keeps of one buffer, where it drops all but
// the first and the last of lines that are the same (LogBuffer.cpp, "chatty"). The
// last is held back until another line comes.
type repeats struct {
	last    Entry
	held    bool // last repeats the one before it, and is in no log yet
	dropped int
	at      time.Duration // of the last one dropped
}

// dropsRepeats reports whether this Android's logd does so.
func (l *Log) dropsRepeats() bool { return l.API >= 26 && l.API <= 30 }

// sameFor is how long lines that follow one another count as the same.
const sameFor = time.Minute

// squash takes an entry that is to be logged, and returns what is to be logged now.
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
