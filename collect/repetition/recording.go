package repetition

import (
	"context"
	"fmt"

	"github.com/apkgate/apkgate/collect/energymeter"
	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/recorders"
)

// leftovers ends programs of earlier repetitions that still record.
type leftovers struct {
	nothing
	phone *Phone
}

func (l leftovers) before(ctx context.Context, a *attempt) error {
	if a.measured && (a.energy != nil || l.phone.Evident || l.phone.Frames.By.Recorded()) {
		return l.phone.Programs.EndLeft(ctx)
	}
	return nil
}

// recording starts and stops the recorders in parallel with the workload.
type recording struct {
	nothing
	phone *Phone
}

func (r *recording) before(ctx context.Context, a *attempt) error {
	if !a.measured {
		return nil
	}
	return r.phone.Recording.Start(ctx, r.refused(a, "nothing is recorded of it"))
}

func (r *recording) after(ctx context.Context, a *attempt) error {
	if !a.measured {
		return nil
	}
	return r.phone.Recording.Stop(ctx, r.refused(a, "its trace is not kept"))
}

// refused handles a recorder that failed: if energy needs it, the energy step reports that; a
// recorder that only evidence needs may fail, and the repetition is measured without.
func (r *recording) refused(a *attempt, otherwise string) func(recorders.Recorder, error) error {
	return func(by recorders.Recorder, err error) error {
		switch {
		case a.energy != nil && by.Serves(energymeter.Asker):
			return a.energy.Refused(err)
		case loss.Stops(err):
			return err
		case by.Serves(framesource.Asker):
			return fmt.Errorf("%w: %w", loss.ErrTimeline, err)
		}
		if by == r.phone.Perfetto {
			a.watched = nil
		} else {
			otherwise = "its methods are not sampled"
		}
		r.phone.Target.Journal.Warnf("repetition %d: %s: %v", a.n, otherwise, err)
		return nil
	}
}

// memory runs between the end of the workload and that of the recorders. It reads the app's memory
// while the app lives. Then it stops the app, as before each repetition: the compositor reports a
// frame when it shows the next one, and a closing window is one.
type memory struct {
	nothing
	phone *Phone
	work  Work
}

func (m memory) after(ctx context.Context, a *attempt) error {
	if !a.measured {
		return nil
	}
	if err := a.frames.Remember(ctx); err != nil {
		return err
	}
	if !a.frames.By.Recorded() {
		return a.frames.Count(ctx)
	}
	return m.phone.Target.Try(ctx, "am", "force-stop", m.work.App.Package)
}
