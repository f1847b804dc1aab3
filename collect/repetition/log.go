package repetition

import (
	"context"
	"errors"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/workload"
)

// log follows the log while the workload runs, and reads the rest of it at the end.
type log struct {
	nothing
	phone    *Phone
	work     Work
	writesUI bool // the test writes UI events
}

func (l *log) before(ctx context.Context, a *attempt) (err error) {
	if a.log, err = applog.OpenLog(ctx, l.phone.Target); err != nil {
		return err
	}
	return l.follow(ctx, a)
}

// after reads the log to the end. If that fails, how the workload failed is the better error.
func (l *log) after(ctx context.Context, a *attempt) error {
	if err := l.phone.Target.CheckAlive(ctx); err != nil {
		return err
	}
	err := a.log.Read(ctx)
	if errors.Is(err, loss.ErrLog) && a.ended != nil {
		return loss.Of(l.phone.Target.Name, causeOf(a.ended), journal.Measure, a.n, a.ended)
	}
	return err
}

// follow starts following the log while the workload runs. Where energy is measured, each log line
// that is sent takes some of it, so the log is followed only if nothing else does, including what
// is recorded as evidence.
func (l *log) follow(ctx context.Context, a *attempt) error {
	if l.work.detaches() && a.energy != nil || a.energy != nil && !l.phone.Evident && l.phone.Target.KeepsLog {
		return nil
	}
	err := a.log.Follow(ctx)
	if err == nil || loss.Stops(err) {
		return err
	}
	if a.measured {
		l.phone.Target.Journal.Warnf("repetition %d: what goes wrong is noticed in the end alone: %v", a.n, err)
	}
	return nil
}

// sift extracts what the log contains about the app.
func (l *log) sift(a *attempt) applog.Sifted {
	alive := a.frames.Alive
	if workload.Orchestrated(l.work.Scenario.Workload) {
		alive = 0 // its process ends with each test
	}
	return a.log.Sift(applog.App{Package: l.work.App.Package, PIDs: a.frames.PIDs, Alive: alive, WritesUI: &l.writesUI})
}

// causeOf returns whose failure a lost repetition is that the device survived.
func causeOf(err error) loss.Cause {
	if errors.Is(err, loss.ErrGarbled) || errors.Is(err, loss.ErrTimeline) {
		return loss.Infrastructure
	}
	return loss.Workload
}

// readLogEvery limits how much the device's log buffer must hold.
const readLogEvery = 30 * time.Second

// ring reads the log periodically if it is not followed, before the device's buffer wraps.
type ring struct {
	nothing
	phone *Phone
}

func (r ring) while(ctx context.Context, a *attempt) error {
	if a.log.Followed() || r.phone.Target.Clock.Now() < a.readLogAt {
		return nil
	}
	if err := a.log.Read(ctx); err != nil {
		return err
	}
	a.readLogAt = r.phone.Target.Clock.Now() + readLogEvery
	return nil
}
