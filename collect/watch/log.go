package watch

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/logcat"
)

// Log reads the device's log of one repetition, mark by mark.
type Log struct {
	// MarkedAt is CLOCK_MONOTONIC at the first mark, measured where the log has
	// another clock; 0 where that is not known.
	MarkedAt time.Duration
	Aligned  bool // it is known how the log's clock and CLOCK_MONOTONIC relate

	target  *target.Target
	mark    string        // the last one written
	marked  span          // when, on CLOCK_MONOTONIC; zero where that is not known
	offset  time.Duration // CLOCK_MONOTONIC less the log's clock
	entries []logcat.Entry
	began   time.Duration // of the first mark, on the log's clock; 0 where it is not known
	until   time.Duration // of the last
}

// logCommand prints the log's entries that matter.
func logCommand(t *target.Target) string {
	words := []string{"logcat", "-d", "-v", "threadtime"}
	if !t.Facts.WallLog {
		// The UID tells what the system says from what an app says in its name; logcat
		// learned both words in Android 7.
		words = append(words, "-v", "monotonic", "-v", "uid")
	}
	buffers := []string{"main", "system", "events"}
	if t.Facts.API >= 21 {
		buffers = append(buffers, "crash")
	}
	for _, b := range buffers {
		words = append(words, "-b", b)
	}
	return device.Quote(append(words,
		logcat.Tag+":V", target.MarkTag+":V", "AndroidRuntime:E", "libc:F", "ActivityManager:V", "ActivityTaskManager:V",
		"am_crash:V", "am_anr:V", "am_proc_start:V", "am_proc_died:V", "am_activity_launch_time:V", "wm_activity_launch_time:V", "am_activity_fully_drawn_time:V",
		"Watchdog:W", "watchdog:V", "boot_progress_system_run:V", "input_interaction:V", logcat.ChattyTag+":V", "*:S")...)
}

// ProbeLog finds out whether the log has CLOCK_MONOTONIC: logcat has had it
// since Android 7.
func ProbeLog(ctx context.Context, t *target.Target) error {
	_, write := t.NextMark()
	out, err := t.Ask(ctx, write+"; "+logCommand(t))
	if err != nil {
		return fmt.Errorf("read the device's log: %w", err)
	}
	log, err := logcat.Read(bytes.NewReader(out.Stdout))
	if err != nil {
		return fmt.Errorf("read the device's log: %w", err)
	}
	monotonic := slices.ContainsFunc(log.Entries, func(e logcat.Entry) bool { return e.Clock == logcat.Monotonic })
	t.Facts.WallLog = !monotonic
	return nil
}

// span is when something was: between two times on CLOCK_MONOTONIC.
type span struct{ from, to time.Duration }

// OpenLog marks the beginning of a repetition, and reads CLOCK_MONOTONIC beside it.
// Where the log has the wall clock only, the mark is written between two readings.
func OpenLog(ctx context.Context, t *target.Target) (*Log, error) {
	l := &Log{Aligned: !t.Facts.WallLog, target: t}
	mark, write := t.NextMark()
	l.mark = mark
	line := write + "; " + t.ClockQuestion()
	if t.Facts.WallLog {
		line = t.ClockQuestion() + "; " + line
	}
	asked := t.Clock.Now()
	out, err := t.Ask(ctx, line)
	if err != nil {
		return nil, fmt.Errorf("mark the device's log: %w", err)
	}
	switch times, err := target.Uptimes(out.Stdout); {
	case err != nil:
	case len(times) == 2 && t.Facts.WallLog:
		l.MarkedAt = (times[0] + times[1]) / 2
	case len(times) == 1 && !t.Facts.WallLog:
		l.marked = span{times[0] - (t.Clock.Now() - asked), times[0]}
	}
	return l, nil
}

// Read takes the entries since the last mark, and writes the next one.
func (l *Log) Read(ctx context.Context) error {
	next, write := l.target.NextMark()
	out, err := l.target.Ask(ctx, write+"; "+logCommand(l.target))
	if err != nil {
		return fmt.Errorf("read the device's log: %w", err)
	}
	log, err := logcat.Read(bytes.NewReader(out.Stdout))
	if err != nil {
		return fmt.Errorf("read the device's log: %w", err)
	}
	from := markAt(log.Entries, l.mark)
	if from < 0 {
		l.target.Journal.Warnf("the device's log no longer holds the beginning of a repetition: UI events may be missing (enlarge it in the developer options)")
	} else if !l.Aligned && l.MarkedAt > 0 {
		l.offset, l.Aligned = l.MarkedAt-log.Entries[from].Time, true
	}
	if from >= 0 {
		l.doubtClock(log.Entries[from].Time)
		if l.began == 0 {
			l.began = log.Entries[from].Time
		}
	}
	to := markAt(log.Entries, next)
	if to < 0 {
		to, l.marked = len(log.Entries), span{}
	} else {
		l.until = log.Entries[to].Time
		l.marked = span{l.until, l.until}
	}
	l.entries = append(l.entries, log.Entries[from+1:max(to, from+1)]...)
	l.mark = next
	return nil
}

// clockSet is how far the log's times may lie off before they are doubted: far less
// than what a time server corrects at once, and more than a busy device takes to
// answer.
const clockSet = time.Second

// doubtClock compares the time of the last mark with when it was written. The log
// keeps the wall clock, and works its other one out as it is read: what was written
// before the wall clock was set moves.
func (l *Log) doubtClock(logged time.Duration) {
	off := max(l.marked.from-logged, logged-l.marked.to)
	if l.marked == (span{}) || l.target.Facts.WallLog || off < clockSet {
		return
	}
	l.target.Journal.Warnf("the device's clock was set by %v while a repetition ran: UI events before that are in the log at wrong times, and frames in wrong buckets (turn automatic time off)",
		off.Round(time.Second))
}

// markAt is the place of a mark, -1 where it is not there: the last one, since a run that
// began at the same time of day may have written its like.
func markAt(entries []logcat.Entry, mark string) int {
	for i, e := range slices.Backward(entries) {
		if e.Tag == target.MarkTag && e.Message == mark {
			return i
		}
	}
	return -1
}

// Events are the events of the repetition, by their time on CLOCK_MONOTONIC
// where the log is aligned.
func (l *Log) Events() []logcat.Event {
	events, doubts := logcat.Events(l.entries)
	l.target.Journal.Doubts("the device's log", doubts)
	for i := range events {
		events[i].Time += l.offset
	}
	slices.SortStableFunc(events, func(a, b logcat.Event) int { return cmp.Compare(a.Time, b.Time) })
	return events
}

// Event is the name of the UI event under way when the log was read last, run.Start before
// the first.
func (l *Log) Event() string {
	events, _ := logcat.Events(l.entries)
	for _, e := range slices.Backward(events) {
		if e.Kind == logcat.UIEvent {
			return e.Name
		}
	}
	return run.Start
}

// SystemEnded are the times since the beginning of the repetition that Android itself was
// ended and started again; none where the log no longer tells of it, as where the device
// restarted.
func (l *Log) SystemEnded(ctx context.Context) ([]Anomaly, error) {
	out, err := l.target.Ask(ctx, logCommand(l.target))
	if err != nil {
		return nil, fmt.Errorf("read the device's log: %w", err)
	}
	log, err := logcat.Read(bytes.NewReader(out.Stdout))
	if err != nil {
		return nil, fmt.Errorf("read the device's log: %w", err)
	}
	from := markAt(log.Entries, l.mark)
	if from < 0 {
		return nil, nil
	}
	since := *l
	since.entries = append(slices.Clone(l.entries), log.Entries[from+1:]...)
	return systemEnded(since.Events()), nil
}

// fullyDrawn reports whether the log tells that the app says that it is fully drawn.
func (l *Log) fullyDrawn(app string) bool {
	events, _ := logcat.Events(l.entries)
	return slices.ContainsFunc(events, func(e logcat.Event) bool { return e.Kind == logcat.FullyDrawn && isOf(e.Process, app) })
}

// Span is from the first mark to the last, on CLOCK_MONOTONIC; 0 and 0 where that is
// not known.
func (l *Log) Span() (from, to time.Duration) {
	if !l.Aligned || l.began == 0 || l.until == 0 {
		return 0, 0
	}
	return l.began + l.offset, l.until + l.offset
}

// Times tells when a mark was written, on CLOCK_MONOTONIC; false where it is not known.
func (l *Log) Times(mark string) func() (time.Duration, bool) {
	return func() (time.Duration, bool) {
		i := markAt(l.entries, mark)
		if i < 0 || !l.Aligned {
			return 0, false
		}
		return l.entries[i].Time + l.offset, true
	}
}
