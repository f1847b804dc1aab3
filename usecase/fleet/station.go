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

// Station is a device on which jobs are made successively: one that exists, or one that is booted
// when it is first needed.
type Station struct {
	Name string // in progress and errors
	// Profile is that of the jobs that it makes, their Device.
	Profile string
	// Place is what it shares with other stations, for Lab.Places; "" for nothing.
	Place string
	// Start prepares it; tell receives its progress. After an error nothing is left of it.
	Start func(ctx context.Context, tell func(message string)) (*Started, error)
	// Fresh starts it anew for each job, so that none finds what another left.
	Fresh bool
}

// Started is a station that is ready.
type Started struct {
	// Bind gives a job the device: its connection, its owner, its clock.
	Bind func(*collect.Job)
	// Died is closed when the device has ended by itself; nil if that can't be detected.
	Died <-chan struct{}
	// Why returns the device's last output when it died; nil if Died is.
	Why func() string
	// Stop stops it, within a time limit of its own; nil if there is nothing to do.
	Stop func(ctx context.Context, tell func(message string)) error
}

// died returns why the device ended by itself, nil if it did not.
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

// isLost reports whether the device was lost for good while it made the results: collect has waited
// for it to come back.
func isLost(results []collect.Result) error {
	for _, r := range results {
		if loss.IsInfrastructure(r.Err) && loss.IsGone(r.Err) {
			return r.Err
		}
	}
	return nil
}
