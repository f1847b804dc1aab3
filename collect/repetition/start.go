package repetition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
)

// start brings the app, which was stopped, to the state that its start is to begin from, and
// compares what is told of a start with what else is known of it.
type start struct {
	nothing
	phone  *Phone
	work   Work
	full   applog.FullDisplay // of the start that is measured
	former applog.FullDisplay // of the start before a warm or a hot one
}

func newStart(p *Phone, w Work) *start {
	full := applog.FullDisplay{Target: p.Target, App: w.App.Package}
	return &start{phone: p, work: w, full: full, former: full}
}

// before brings the app to the state that its start is to begin from.
func (s *start) before(ctx context.Context, a *attempt) error {
	startup := s.work.Scenario.Workload.Startup
	switch {
	case startup == nil:
		return nil
	case startup.Mode == config.StartCold:
		return s.work.Plan.ReadyCold(ctx)
	}
	log, err := applog.OpenLog(ctx, s.phone.Target)
	if err != nil {
		return err
	}
	if err := s.work.Plan.StartBefore(ctx); err != nil {
		return err
	}
	if lost, err := s.former.Await(ctx, log); lost != nil || err != nil {
		return errors.Join(lost, err)
	}
	if err := s.work.Plan.Leave(ctx); err != nil {
		return err
	}
	return s.readCPUBefore(ctx, a)
}

// readCPUBefore notes what CPU time the app's process has had before a warm or a hot
// start, which is none of the start's.
func (s *start) readCPUBefore(ctx context.Context, a *attempt) error {
	out, err := s.phone.Target.Ask(ctx, "cat /proc/$("+target.PIDs(s.work.App.Package)+")/stat")
	if err != nil {
		return fmt.Errorf("read the app's CPU time: %w", err)
	}
	before, ok := framesource.CPUOf(out.Stdout)
	if a.cpuBefore = before; !ok {
		a.cpuBefore = unknownCPU
	}
	return nil
}

// unknownCPU is more than any process has had.
const unknownCPU = time.Duration(math.MaxInt64)

// cpuSince is how much of a CPU time the repetition's own is; 0 where that is not known.
func (a *attempt) cpuSince(total time.Duration) time.Duration { return max(total-a.cpuBefore, 0) }

// logged reports whether the log tells of the start that is measured: an activity
// that comes back is neither displayed nor fully drawn anew.
func (s *start) logged() bool {
	return s.work.Scenario.Workload.Startup.Mode != config.StartHot
}

// apart is how far the two times of a start may lie apart that are rounded: one to
// whole milliseconds, the other cut.
const apart = time.Millisecond

// compareStart holds what am start says against what the log tells of the same start.
func (s *start) compareStart(n int, start workload.Start, seen applog.Sifted) {
	if !s.logged() {
		return
	}
	switch d := seen.Startup - start.Total; {
	case seen.Startup == 0:
		s.phone.Target.Journal.Warnf("repetition %d: am start says that the first frame took %v, and the log does not tell of it", n, start.Total)
	case max(d, -d) > apart:
		s.phone.Target.Journal.Warnf("repetition %d: am start says that the first frame took %v, and the log %v: the former counts", n, start.Total, seen.Startup)
	}
}

// drawnApart is how far from the first frame of a window a start may end. The system
// takes a window for drawn when the app has told it of that frame, which it does as soon
// as the render thread is done, and the next layout has looked at all windows
// (WindowState.finishDrawing, ActivityRecord.updateReportedVisibility): two or three
// vsyncs later, more where it waits for the window manager's lock (19 ms from the first
// buffer to "Displayed" in a Galaxy's log of a start of 2.9 s). The timeline has a frame
// end when the GPU is done with it, which may be later than that. When it is shown matters
// to neither. Half a second is many times what those take together.
const drawnApart = 500 * time.Millisecond

// compareDrawn holds when a start ended, as am start says, against the first frames of
// the app's windows, where the frame timeline has them. It ended within the time of the
// command: after what it took at the least, from the mark before it, and before the rest
// that the workload goes on for. Of a hot start nothing follows: its windows may be there,
// and drawn.
func (s *start) compareDrawn(a *attempt, start workload.Start) {
	if !s.logged() || !a.measured || a.frames.By != framesource.Timeline {
		return
	}
	begun, ok := a.log.Times(a.workload.Begin)()
	over, told := a.log.Times(a.workload.End)()
	if !ok || !told {
		return
	}
	from := begun + start.Total
	to := max(over-workload.Settles, from)
	if at, off, ok := a.frames.NearestWindow(begun, from-drawnApart, to+drawnApart); ok && off > 0 {
		s.phone.Target.Journal.Warnf("repetition %d: am start says that the first frame took %v, and by the frame timeline that of a window was done %v after the command: the former counts",
			a.n, start.Total, (at - begun).Round(time.Millisecond))
	}
}
