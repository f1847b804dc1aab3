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

// start brings the stopped app to the state in which its start is to begin, and compares the
// reported start with other sources.
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

// before brings the app to the state in which its start is to begin.
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

// readCPUBefore reads the CPU time of the app's process before a warm or a hot start, which is not
// the start's.
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

// unknownCPU is more than the CPU time of any process.
const unknownCPU = time.Duration(math.MaxInt64)

// cpuSince returns the repetition's share of a CPU time; 0 if unknown.
func (a *attempt) cpuSince(total time.Duration) time.Duration { return max(total-a.cpuBefore, 0) }

// logged reports whether the log contains the measured start: an activity that comes back is
// neither displayed nor fully drawn again.
func (s *start) logged() bool {
	return s.work.Scenario.Workload.Startup.Mode != config.StartHot
}

// apart is how far the two rounded times of a start may differ: one is rounded to whole
// milliseconds, the other truncated.
const apart = time.Millisecond

// compareStart compares what am start reports with what the log reports of the same start.
func (s *start) compareStart(n int, start workload.Start, seen applog.Sifted) {
	if !s.logged() {
		return
	}
	switch d := seen.Startup - start.Total; {
	case seen.Startup == 0:
		s.phone.Target.Journal.Warnf("repetition %d: am start says that the first frame took %v, and the log does not contain it", n, start.Total)
	case max(d, -d) > apart:
		s.phone.Target.Journal.Warnf("repetition %d: am start says that the first frame took %v, and the log %v: the former counts", n, start.Total, seen.Startup)
	}
}

// drawnApart is how far from the first frame of a window a start may end. The system considers a
// window drawn when the app has reported that frame, which it does as soon as the render thread is
// done, and the next layout has looked at all windows (WindowState.finishDrawing,
// ActivityRecord.updateReportedVisibility): two or three vsyncs later, more if it waits for the
// window manager's lock (19 ms from the first buffer to "Displayed" in a Galaxy's log of a start of
// 2.9 s). In the timeline a frame ends when the GPU is done with it, which may be later than that.
// When the frame is shown matters to neither. Half a second is many times all of these together.
const drawnApart = 500 * time.Millisecond

// compareDrawn compares the end of a start by am start with the first frames of the app's windows,
// if the frame timeline has them. The start ended while the command ran: at least its reported
// duration after the mark before it, and before the delay that the workload adds. A hot start is
// not compared: its windows may be there, and drawn.
func (s *start) compareDrawn(a *attempt, start workload.Start) {
	if !s.logged() || !a.measured || a.frames.By != framesource.Timeline {
		return
	}
	begun, ok := a.log.Times(a.workload.Begin)()
	over, endKnown := a.log.Times(a.workload.End)()
	if !ok || !endKnown {
		return
	}
	from := begun + start.Total
	to := max(over-workload.Settles, from)
	if at, off, ok := a.frames.NearestWindow(begun, from-drawnApart, to+drawnApart); ok && off > 0 {
		s.phone.Target.Journal.Warnf("repetition %d: am start says that the first frame took %v, and by the frame timeline that of a window was done %v after the command: the former counts",
			a.n, start.Total, (at - begun).Round(time.Millisecond))
	}
}
