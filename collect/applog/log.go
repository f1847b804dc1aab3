package applog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/logcat"
)

// Log reads the device's log of one repetition, mark by mark.
type Log struct {
	// MarkedAt is CLOCK_MONOTONIC at the first mark, measured if the log has another clock; 0 if
	// unknown.
	MarkedAt time.Duration
	Aligned  bool // the offset between the log's clock and CLOCK_MONOTONIC is known

	target  *target.Target
	stream  *stream       // nil: the log is not followed
	since   string        // the device's wall clock at opening, as logcat -T takes it; "" for all
	mark    string        // the last one written
	marked  span          // when, on CLOCK_MONOTONIC; zero if unknown
	offset  time.Duration // CLOCK_MONOTONIC less the log's clock
	entries []logcat.Entry
	began   time.Duration // of the first mark, on the log's clock; 0 if unknown
	until   time.Duration // of the last
}

// logCommand returns a logcat command with some options, for the log entries that matter.
func logCommand(t *target.Target, options ...string) string {
	words := append([]string{"logcat"}, options...)
	words = append(words, "-v", "threadtime")
	if !t.Facts.WallLog {
		// The UID distinguishes the system's entries from those that an app writes in its name;
		// both formats came with Android 7's logcat.
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
		"HWUI:I", "OpenGLRenderer:I", "Watchdog:W", "watchdog:V", "boot_progress_system_run:V", "input_interaction:V", logcat.ChattyTag+":V", "*:S")...)
}

// ProbeLog finds out whether the log has CLOCK_MONOTONIC: logcat has had it since Android 7.
func ProbeLog(ctx context.Context, t *target.Target) error {
	_, write := t.NextMark()
	out, err := t.Ask(ctx, write+"; "+logCommand(t, "-d"))
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

// span is an interval on CLOCK_MONOTONIC.
type span struct{ from, to time.Duration }

// OpenLog marks the beginning of a repetition, and reads CLOCK_MONOTONIC at the same time. If the
// log has only the wall clock, the mark is written between two readings.
func OpenLog(ctx context.Context, t *target.Target) (*Log, error) {
	l := &Log{Aligned: !t.Facts.WallLog, target: t}
	mark, write := t.NextMark()
	l.mark = mark
	line := write + "; " + t.ClockQuestion()
	if t.Facts.WallLog {
		line = t.ClockQuestion() + "; " + line
	}
	if t.Facts.API >= sinceTime {
		line = "date '+%m-%d %H:%M:%S.000'; " + line
	}
	asked := t.Clock.Now()
	out, err := t.Ask(ctx, line)
	if err != nil {
		return nil, fmt.Errorf("mark the device's log: %w", err)
	}
	l.since = sinceLine.FindString(string(out.Stdout))
	switch times, err := target.Uptimes(out.Stdout); {
	case err != nil:
	case len(times) == 2 && t.Facts.WallLog:
		l.MarkedAt = (times[0] + times[1]) / 2
	case len(times) == 1 && !t.Facts.WallLog:
		l.marked = span{times[0] - (t.Clock.Now() - asked), times[0]}
	}
	return l, nil
}

// Follow also reads the log as it is written, from the beginning of the repetition, so that nothing
// is lost if the device's log is too small. It is valid until Close.
func (l *Log) Follow(ctx context.Context) error {
	process, err := l.target.Start(ctx, logCommand(l.target, l.sinceOptions()...))
	if err != nil {
		return fmt.Errorf("follow the device's log: %w", err)
	}
	l.stream = newStream(process, l.mark)
	l.target.Heard = l.stream.accidentLines
	go l.stream.run()
	return nil
}

// Followed reports whether the log is followed.
func (l *Log) Followed() bool { return l.stream != nil }

// Unheard leaves reading accidents to the liveness check: nothing is measured any more.
func (l *Log) Unheard() { l.target.Heard = nil }

// Close stops following the log.
func (l *Log) Close() {
	l.Unheard()
	if l.stream != nil {
		l.stream.close()
	}
}

// sinceOptions are the options with which logcat begins with the repetition.
func (l *Log) sinceOptions() []string {
	if l.since == "" {
		return nil
	}
	return []string{"-T", l.since}
}

// sinceTime is the first version of Android whose logcat accepts a start time, and sinceLine
// matches one.
const sinceTime = 21

var sinceLine = regexp.MustCompile(`(?m)^\d\d-\d\d \d\d:\d\d:\d\d\.000$`)

// part is what was logged between two marks.
type part struct {
	entries []logcat.Entry
	from    time.Duration // of the first mark, by the log's clock
	to      time.Duration // of the second; 0 if unknown
}

// Read takes the entries since the last mark, and writes the next one. It fails with loss.ErrLog if
// neither the device's log nor the followed one has all of them.
func (l *Log) Read(ctx context.Context) error {
	next, write := l.target.NextMark()
	entries, err := l.dump(ctx, write+"; ")
	if err != nil {
		return err
	}
	p, err := l.between(ctx, entries, next)
	if err != nil {
		return err
	}
	if !l.Aligned && l.MarkedAt > 0 {
		l.offset, l.Aligned = l.MarkedAt-p.from, true
	}
	if l.began == 0 {
		l.began = p.from
	}
	if p.to == 0 {
		l.marked = span{}
	} else {
		l.until, l.marked = p.to, span{p.to, p.to}
	}
	l.entries = append(l.entries, p.entries...)
	l.mark = next
	return nil
}

// dump reads what the device's log has of the repetition.
func (l *Log) dump(ctx context.Context, before string) ([]logcat.Entry, error) {
	out, err := l.target.Ask(ctx, before+logCommand(l.target, append([]string{"-d"}, l.sinceOptions()...)...))
	if err != nil {
		return nil, fmt.Errorf("read the device's log: %w", err)
	}
	log, err := logcat.Read(bytes.NewReader(out.Stdout))
	if err != nil {
		return nil, fmt.Errorf("read the device's log: %w", err)
	}
	return log.Entries, nil
}

// between returns the entries from the last mark to the next: those of the device's log, if they
// are complete, else those that were followed. Each buffer drops its oldest entries independently,
// so that the mark's buffer may be complete and another not.
func (l *Log) between(ctx context.Context, dump []logcat.Entry, next string) (part, error) {
	from, to := markAt(dump, l.mark), markAt(dump, next)
	dumped := dump[from+1:]
	if to >= 0 {
		dumped = dump[from+1 : max(to, from+1)]
	}
	if from >= 0 && l.holds(dumped, next) {
		l.doubtClock(dump[from].Time)
		p := part{entries: dumped, from: dump[from].Time}
		if to >= 0 {
			p.to = dump[to].Time
		}
		return p, nil
	}
	if l.stream == nil {
		return part{}, fmt.Errorf("%w: the device's log no longer has the beginning of the repetition", loss.ErrLog)
	}
	end := l.stream.await(ctx, l.target.Wall, next)
	streamed, marked, ok := l.stream.since(l.mark, next)
	if end == nil || !ok {
		return part{}, fmt.Errorf("%w: the device's log no longer has the beginning of the repetition, and it could not be read to the end while it was written", loss.ErrLog)
	}
	set := time.Duration(0)
	if to >= 0 {
		set = dump[to].Time - end.Time
		l.warnClock(set)
	}
	dumped = slices.DeleteFunc(slices.Clone(dumped), func(e logcat.Entry) bool { return from < 0 && e.Time-set <= marked+rounded })
	if !holds(streamed, dumped) {
		return part{}, fmt.Errorf("%w: the device's log no longer has all of the repetition, and lines of it were not read while it was written", loss.ErrLog)
	}
	return part{streamed, marked, end.Time}, nil
}

// rounded is how far two logcats may differ on the time of one entry.
const rounded = 5 * time.Millisecond

// holds reports whether the device's log has everything that was followed.
func (l *Log) holds(dumped []logcat.Entry, next string) bool {
	if l.stream == nil {
		return true
	}
	streamed, _, ok := l.stream.since(l.mark, next)
	return !ok || holds(dumped, streamed)
}

// clockSet is how far the log's times may be off before they are doubted: far less than what a time
// server corrects at once, and more than a busy device takes to answer.
const clockSet = time.Second

// doubtClock compares the time of the last mark with when it was written. The log stores the wall
// clock, and computes its other one when it is read: entries from before the wall clock was set
// move.
func (l *Log) doubtClock(logged time.Duration) {
	if l.marked != (span{}) {
		l.warnClock(max(l.marked.from-logged, logged-l.marked.to))
	}
}

// warnClock warns by how much the clock was set, if it was: the clock by which a part of the log
// was read is off by that.
func (l *Log) warnClock(off time.Duration) {
	if off = max(off, -off); l.target.Facts.WallLog || off < clockSet {
		return
	}
	l.target.Journal.Warnf("the device's clock was set by %v while a repetition ran: UI events are in the log at wrong times, and frames in wrong buckets (turn automatic time off)",
		off.Round(time.Second))
}

// markAt returns the index of a mark, -1 if it is missing: the last one, since a run that began at
// the same time of day may have written an equal one.
func markAt(entries []logcat.Entry, mark string) int {
	for i, e := range slices.Backward(entries) {
		if e.Tag == target.MarkTag && e.Message == mark {
			return i
		}
	}
	return -1
}

// Events returns the events of the repetition, with times on CLOCK_MONOTONIC if the log is aligned.
func (l *Log) Events() []logcat.Event {
	events, doubts := logcat.Events(l.entries)
	l.target.Journal.Doubts("the device's log", doubts)
	for i := range events {
		events[i].Time += l.offset
	}
	slices.SortStableFunc(events, func(a, b logcat.Event) int { return cmp.Compare(a.Time, b.Time) })
	return events
}

// Event returns the name of the UI event under way when the log was read last, run.Start before the
// first.
func (l *Log) Event() string {
	events, _ := logcat.Events(l.entries)
	for _, e := range slices.Backward(events) {
		if e.Kind == logcat.UIEvent {
			return e.Name
		}
	}
	return run.Start
}

// SystemEnded returns the restarts of Android itself since the beginning of the repetition; none if
// the log no longer has them, as after a restart of the device.
func (l *Log) SystemEnded(ctx context.Context) ([]Anomaly, error) {
	entries, err := l.dump(ctx, "")
	if err != nil {
		return nil, err
	}
	since := *l
	since.entries = slices.Clone(l.entries)
	if from := markAt(entries, l.mark); from >= 0 {
		entries = entries[from+1:]
	} else if l.stream == nil {
		return nil, nil
	} else if streamed, marked, ok := l.stream.since(l.mark, ""); ok {
		since.entries = append(since.entries, streamed...)
		last := marked
		for _, e := range streamed {
			last = max(last, e.Time)
		}
		entries = slices.DeleteFunc(entries, func(e logcat.Entry) bool { return e.Time <= last+rounded })
	} else {
		return nil, nil
	}
	since.entries = append(since.entries, entries...)
	return systemEnded(since.Events()), nil
}

// fullyDrawn reports whether the log has the app's report of being fully drawn.
func (l *Log) fullyDrawn(app string) bool {
	events, _ := logcat.Events(l.entries)
	return slices.ContainsFunc(events, func(e logcat.Event) bool { return e.Kind == logcat.FullyDrawn && isOf(e.Process, app) })
}

// Span returns the times of the first and the last mark, on CLOCK_MONOTONIC; 0 and 0 if unknown.
func (l *Log) Span() (from, to time.Duration) {
	if !l.Aligned || l.began == 0 || l.until == 0 {
		return 0, 0
	}
	return l.began + l.offset, l.until + l.offset
}

// Times returns a function for when a mark was written, on CLOCK_MONOTONIC; false if unknown.
func (l *Log) Times(mark string) func() (time.Duration, bool) {
	return func() (time.Duration, bool) {
		i := markAt(l.entries, mark)
		if i < 0 || !l.Aligned {
			return 0, false
		}
		return l.entries[i].Time + l.offset, true
	}
}
