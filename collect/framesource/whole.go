package framesource

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace/gfxinfo"
)

// Whole is how many frames of a repetition Android counted, and how many of them are
// janky; the zero Whole where those that were seen are all of them.
type Whole struct{ Count, Janky int }

// Seen is the share of the frames that were seen one by one; 1 where all were.
func (w Whole) Seen(seen int) float64 {
	if w.Count <= seen {
		return 1
	}
	return float64(seen) / float64(w.Count)
}

// Whole is what Android counted in the repetition, where that is more than was seen. Of
// those that were not seen some may be janky, and those that were seen stay what they are:
// what Android says of janks is kept within these bounds, as there are emulators on which
// it counts none.
func (s *Sampler) Whole() Whole {
	seen, janky := len(s.Frames), 0
	for _, f := range s.Frames {
		if f.Janky {
			janky++
		}
	}
	total := int(s.stated.Total)
	if s.By.Recorded() || total <= seen {
		return Whole{}
	}
	return Whole{Count: total, Janky: min(max(int(s.stated.Janky), janky), janky+total-seen)}
}

// graphicsStatsSince is the API level from which the system keeps what it has counted of a
// process that has ended, in a service of its own (GraphicsStatsService).
const graphicsStatsSince = 24

// Counted reads what the system has counted of an app's frames up to now, whatever process
// drew them; false where it tells of no app at all. Between the end of a process and the
// time at which its count is kept, that is missing.
func Counted(ctx context.Context, t *target.Target, app string) (gfxinfo.Stated, bool, error) {
	if t.Facts.API < graphicsStatsSince {
		return gfxinfo.Stated{}, false, nil
	}
	out, err := t.Ask(ctx, device.Quote("dumpsys", "graphicsstats"))
	if err != nil {
		return gfxinfo.Stated{}, false, fmt.Errorf("read what the system has counted of the app's frames: %w", err)
	}
	d, err := gfxinfo.Read(bytes.NewReader(out.Stdout))
	if err != nil {
		return gfxinfo.Stated{}, false, fmt.Errorf("read what the system has counted of the app's frames: %w", err)
	}
	return d.OfPackage(app), len(d.Packages) > 0 && !d.Cut, nil
}

func (s *Sampler) readPackage(ctx context.Context) (gfxinfo.Stated, bool, error) {
	return Counted(ctx, s.Target, s.App)
}

// readBefore reads what was counted before the repetition, when no more is added to it:
// the app was stopped just now, and what it had counted may not be kept yet. A count only
// grows: one below what was known before is not all of it.
func (s *Sampler) readBefore(ctx context.Context) (err error) {
	if s.before, s.kept, err = s.readPackage(ctx); err != nil || !s.kept {
		return err
	}
	_, err = s.Target.Poll(ctx, keptEvery, keptWithin, func() (bool, error) {
		if err := s.Target.Clock.Sleep(ctx, keptEvery); err != nil {
			return false, err
		}
		now, _, err := s.readPackage(ctx)
		still := now == s.before && now.Total >= s.Least.Total
		s.before = now
		return still, err
	})
	if s.before.Total < s.Least.Total {
		s.before = s.Least
	}
	return err
}

// How long the system may take to keep what it counted of a process that has ended, and
// how often to look.
const (
	keptWithin = 2 * time.Second
	keptEvery  = 300 * time.Millisecond
)

// Count takes what Android counted of the repetition's frames, when it is over: of all
// processes, those that have ended included, to their last frame. Where the system does
// not keep that, it is what the processes said when they were last asked.
func (s *Sampler) Count(ctx context.Context) error {
	if s.By.Recorded() || !s.Target.Facts.HasFramestats() {
		return nil
	}
	s.stated = s.recording.Stated()
	if !s.kept {
		return nil
	}
	_, err := s.Target.Poll(ctx, keptEvery, keptWithin, func() (bool, error) {
		now, whole, err := s.readPackage(ctx)
		kept := gfxinfo.Stated{Total: now.Total - s.before.Total, Janky: now.Janky - s.before.Janky}
		if err != nil || !whole || kept.Total < s.stated.Total || kept.Janky < 0 {
			return false, err
		}
		s.stated, s.toTheEnd = kept, true
		return true, nil
	})
	return err
}
