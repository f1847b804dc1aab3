package collect

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace/logcat"
)

// markTag is the log tag of the marks that the collector writes, to know where
// in the log a repetition begins and ends.
const markTag = "apkgate-mark"

// logReader reads the log of one repetition, mark by mark.
type logReader struct {
	*collector
	mark string // the last one written
	// markUptime is CLOCK_MONOTONIC at the first mark, measured where the log
	// has another clock.
	markUptime time.Duration
	offset     time.Duration // CLOCK_MONOTONIC less the log's clock
	aligned    bool          // offset is known
	entries    []logcat.Entry
}

// logCommand prints the log's entries that matter.
func (c *collector) logCommand() string {
	words := []string{"logcat", "-d", "-v", "threadtime"}
	if !c.facts.wallLog {
		// The UID tells what the system says from what an app says in its name; logcat
		// learned both words in Android 7.
		words = append(words, "-v", "monotonic", "-v", "uid")
	}
	buffers := []string{"main", "system", "events"}
	if c.facts.api >= 21 {
		buffers = append(buffers, "crash")
	}
	for _, b := range buffers {
		words = append(words, "-b", b)
	}
	return device.Quote(append(words,
		logcat.Tag+":V", markTag+":V", "AndroidRuntime:E", "libc:F", "ActivityManager:V", "ActivityTaskManager:V",
		"am_crash:V", "am_anr:V", "am_proc_died:V", "am_activity_launch_time:V", "wm_activity_launch_time:V",
		"input_interaction:V", "*:S")...)
}

// nextMark is the command that writes a mark no one has written before.
func (c *collector) nextMark() (mark, command string) {
	c.marks++
	mark = strconv.FormatInt(c.run.Started.UnixMilli(), 36) + "-" + strconv.Itoa(c.marks)
	return mark, device.Quote("log", "-t", markTag, mark)
}

// probeLog finds out whether the log has CLOCK_MONOTONIC: logcat has had it
// since Android 7.
func (c *collector) probeLog(ctx context.Context) error {
	_, write := c.nextMark()
	out, err := c.dev.Exec(ctx, write+"; "+c.logCommand())
	if err != nil {
		return fmt.Errorf("read the device's log: %w", err)
	}
	log, err := logcat.Read(bytes.NewReader(out.Stdout))
	if err != nil {
		return fmt.Errorf("read the device's log: %w", err)
	}
	monotonic := slices.ContainsFunc(log.Entries, func(e logcat.Entry) bool { return e.Clock == logcat.Monotonic })
	c.facts.wallLog = !monotonic
	return nil
}

var uptimeLine = regexp.MustCompile(`(?m)^Uptime: (\d+) `)

// clockProcess is a process that always runs, so that gfxinfo has something to
// print its head above: CLOCK_MONOTONIC as "Uptime". /proc/uptime would count
// sleep too.
const clockProcess = "com.android.systemui"

// openLog marks the beginning of a repetition. Where the log has the wall clock
// only, the mark is written between two readings of CLOCK_MONOTONIC.
func (c *collector) openLog(ctx context.Context) (*logReader, error) {
	l := &logReader{collector: c, aligned: !c.facts.wallLog}
	mark, write := c.nextMark()
	l.mark = mark
	line := write
	if c.facts.wallLog {
		head := device.Quote("dumpsys", "gfxinfo", clockProcess)
		line = head + "; " + write + "; " + head
	}
	out, err := c.dev.Exec(ctx, line)
	if err != nil {
		return nil, fmt.Errorf("mark the device's log: %w", err)
	}
	if times := uptimeLine.FindAllSubmatch(out.Stdout, -1); len(times) == 2 {
		before, errB := strconv.ParseInt(string(times[0][1]), 10, 50)
		after, errA := strconv.ParseInt(string(times[1][1]), 10, 50)
		if errB == nil && errA == nil {
			l.markUptime = time.Duration(before+after) * time.Millisecond / 2
		}
	}
	return l, nil
}

// read takes the entries since the last mark, and writes the next one.
func (l *logReader) read(ctx context.Context) error {
	next, write := l.nextMark()
	out, err := l.dev.Exec(ctx, write+"; "+l.logCommand())
	if err != nil {
		return fmt.Errorf("read the device's log: %w", err)
	}
	log, err := logcat.Read(bytes.NewReader(out.Stdout))
	if err != nil {
		return fmt.Errorf("read the device's log: %w", err)
	}
	from := markAt(log.Entries, l.mark)
	if from < 0 {
		l.warnf("the device's log no longer holds the beginning of a repetition: UI events may be missing (enlarge it in the developer options)")
	} else if !l.aligned && l.markUptime > 0 {
		l.offset, l.aligned = l.markUptime-log.Entries[from].Time, true
	}
	to := markAt(log.Entries, next)
	if to < 0 {
		to = len(log.Entries)
	}
	l.entries = append(l.entries, log.Entries[from+1:max(to, from+1)]...)
	l.mark = next
	return nil
}

func markAt(entries []logcat.Entry, mark string) int {
	return slices.IndexFunc(entries, func(e logcat.Entry) bool { return e.Tag == markTag && e.Message == mark })
}

// events are the events of the repetition, by their time on CLOCK_MONOTONIC
// where the log is aligned.
func (l *logReader) events() []logcat.Event {
	events, doubts := logcat.Events(l.entries)
	l.tellDoubts("the device's log", doubts)
	for i := range events {
		events[i].Time += l.offset
	}
	slices.SortStableFunc(events, func(a, b logcat.Event) int { return cmp.Compare(a.Time, b.Time) })
	return events
}
