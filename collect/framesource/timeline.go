package framesource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace/jank"
	timeline "github.com/apkgate/apkgate/trace/perfetto/frames"
)

// ErrNoTimeline reports that the recording has no frame timeline.
var ErrNoTimeline = errors.New("the device writes no timeline of frames")

// aliveQuestion returns the query of the time, CLOCK_BOOTTIME, of the kernel's report on the app's
// process and on the device, and of the app's processes if it has none or another one than before.
// It does not involve the app, nor a program as long as the app lives, since Android's shell reads
// files itself. Finding an app's processes means reading the names of all.
func (s *Sampler) aliveQuestion() string {
	line := device.Quote(append([]string{"cat", "/proc/uptime"}, s.files()...)...) + " 2>/dev/null"
	if s.pid == 0 {
		return line + "; " + target.PIDs(s.App)
	}
	return line + " || " + target.PIDs(s.App)
}

// readAlive checks whether the app runs.
func (s *Sampler) readAlive(ctx context.Context, memory bool) (answer, func(workloadRuns bool), error) {
	a, err := s.ask(ctx, s.aliveQuestion(), nil, memory)
	if err != nil {
		return a, nil, err
	}
	r := readingOf(a.head)
	a.stat = a.head
	s.passed(monotonic([]byte(r.uptime), s.slept))
	return a, func(bool) {
		if _, lives := r.stats[s.pid]; lives && len(r.pids) == 0 {
			return
		}
		s.pid = 0
		for _, pid := range r.pids {
			s.pid = pid
			s.PIDs[pid] = true
		}
		if found := len(r.pids); found > 1 {
			s.Target.Journal.Warnf("%s ran %d times at once, as of two users or in a work profile: the frames of all are counted, and the CPU time and memory are of one at a time", s.App, found)
		}
	}, nil
}

// WarnUnread warns if the app's process was never found though its frames are known.
func (s *Sampler) WarnUnread(n int) {
	if s.By.Recorded() && len(s.ticks) == 0 {
		s.Target.Journal.Warnf("repetition %d: the app's CPU time and memory are missing: no process of the name %s was found while it ran", n, s.App)
	}
}

// monotonic returns CLOCK_MONOTONIC by /proc/uptime, 0 for none; the clock may have slept.
func monotonic(uptime []byte, slept time.Duration) time.Duration {
	seconds, _, _ := strings.Cut(string(uptime), " ")
	up, err := strconv.ParseFloat(seconds, 64)
	if err != nil || !(up > 0 && up < 1e9) {
		return 0
	}
	return time.Duration(up*float64(time.Second)) - slept
}

// beginTimeline aligns the clocks of a repetition whose frames the timeline has.
func (s *Sampler) beginTimeline(ctx context.Context) error {
	out, err := s.Target.Ask(ctx, s.Target.ClockQuestion())
	if err != nil {
		return fmt.Errorf("read the device's clock: %w", err)
	}
	if uptime, err := target.Uptime(out.Stdout); err == nil {
		s.passed(uptime)
		s.begun = uptime
	}
	s.slept, _ = target.Slept(out.Stdout)
	return nil
}

// TakeTimeline takes the frames of the app's processes from the recording, from Begin to when the
// workload ended on CLOCK_MONOTONIC, 0 if unknown.
func (s *Sampler) TakeTimeline(ctx context.Context, perfetto *recorders.Perfetto, pids []int, until time.Duration) error {
	s.ran(pids)
	err := perfetto.Fetch(ctx, func(trace io.ReadSeeker) (err error) {
		s.timeline, err = timeline.ReadTimeline(trace, func(pid int) bool { return s.PIDs[pid] })
		return err
	})
	switch {
	case err != nil:
		return err
	case !s.timeline.Written:
		return ErrNoTimeline
	}
	s.Frames = s.measured(s.timeline.Frames, until)
	return nil
}

// ran adds the app's processes in the log.
func (s *Sampler) ran(pids []int) {
	for _, pid := range pids {
		s.PIDs[pid] = true
	}
}

// measured returns the frames that belong to the repetition.
func (s *Sampler) measured(all []jank.Frame, until time.Duration) []jank.Frame {
	return slices.DeleteFunc(all, func(f jank.Frame) bool { return !s.Measures(f.At, until) })
}

// Measures reports whether a frame of that time belongs to the repetition: from Begin to when the
// workload ended, 0 if unknown.
func (s *Sampler) Measures(at, until time.Duration) bool {
	return at >= s.begun && (until <= 0 || at <= until)
}

// timelineLoss returns why a repetition is lost by its frame timeline.
func (s *Sampler) timelineLoss(n int) error {
	switch t := s.timeline; {
	case t.Lost > 0:
		return fmt.Errorf("%w: parts of it were lost in %d places of the trace", loss.ErrTimeline, t.Lost)
	case s.counted() == 0:
		return &loss.Error{Cause: loss.Workload, Device: s.Target.Name, Phase: journal.Measure, Repetition: n,
			Err:    fmt.Errorf("%w: %s drew nothing that is in the system's frame timeline", loss.ErrNoFrames, s.App),
			Advice: "apps that draw by themselves (Flutter, games, video) are not in it; see whether the workload opens the app at all"}
	case t.Forgotten > 0:
		s.Target.Journal.Warnf("repetition %d: %d frames took so long that the device no longer knew when they were due: their time is counted from the last vsync before", n, t.Forgotten)
	}
	return nil
}
