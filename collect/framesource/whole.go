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

// Whole is Android's count of a repetition's frames, and of the janky ones; the zero Whole if all
// were seen.
type Whole struct{ Count, Janky int }

// Seen returns the share of the frames that were seen one by one; 1 if all were.
func (w Whole) Seen(seen int) float64 {
	if w.Count <= seen {
		return 1
	}
	return float64(seen) / float64(w.Count)
}

// Whole returns Android's count of the repetition, if it exceeds the seen frames. Unseen frames may
// be janky, and seen ones stay what they are: Android's count of janks is limited to these bounds,
// since some emulators count none.
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

// graphicsStatsSince is the API level from which the system keeps the counts of an ended process,
// in a service of its own (GraphicsStatsService).
const graphicsStatsSince = 24

// Counted reads the system's count of an app's frames so far, over all processes; false if it lists
// no app at all. Between the end of a process and when its count is stored, that is missing.
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

// readBefore reads the count before the repetition, once it does not grow any more: the app was
// stopped just now, and its count may not be stored yet. A count only grows: one below an earlier
// one is incomplete.
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

// How long the system may take to store the count of an ended process, and how often to poll.
const (
	keptWithin = 2 * time.Second
	keptEvery  = 300 * time.Millisecond
)

// Count takes Android's count of the repetition's frames, when it is over: of all processes,
// including ended ones, to their last frame. If the system does not keep that, it is the processes'
// last own count.
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
