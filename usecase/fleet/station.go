package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device/lab/boot"
)

// Station is a device that jobs are made on, one after another: one that is there, or
// one that is booted when it is needed first.
type Station struct {
	Name string // in progress and in what went wrong
	// Profile is that of the jobs that it makes, their Device.
	Profile string
	// Place is what it shares with other stations, for Lab.Places; "" for nothing.
	Place string
	// Start readies it; tell is told how far it is. After an error nothing is left of it.
	Start func(ctx context.Context, tell func(message string)) (*Started, error)
	// Fresh has it started anew for each job, so that none finds what another left.
	Fresh bool
}

// Started is a station that is ready.
type Started struct {
	// Bind gives a job the device: the way to it, whose it is, its time.
	Bind func(*collect.Job)
	// Died is closed when the device has ended by itself; nil where that can't be told.
	Died <-chan struct{}
	// Why is what it said when it died; nil where Died is.
	Why func() string
	// Stop lets it go, and is bounded in time by itself; nil where there is nothing to do.
	Stop func(ctx context.Context, tell func(message string)) error
}

// died is why the device ended by itself, nil where it did not.
func (s *Started) died() error {
	if s.Died == nil {
		return nil
	}
	select {
	case <-s.Died:
	default:
		return nil
	}
	if why := s.Why(); why != "" {
		return fmt.Errorf("it ended by itself: %s", journal.Line(why))
	}
	return errors.New("it ended by itself")
}

// isFinal reports whether a station that could not be started would fail again.
func isFinal(err error) bool {
	var failed *boot.Error
	return errors.As(err, &failed) && !failed.Retry
}

// isLost reports whether the device was lost while it made the results, for good: collect
// has waited for it to come back.
func isLost(results []collect.Result) error {
	for _, r := range results {
		if loss.IsInfrastructure(r.Err) && loss.IsGone(r.Err) {
			return r.Err
		}
	}
	return nil
}
