package target

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
)

// How long a hot device rests in a whole run, at most, and how often it is polled.
const (
	longestCooling = 10 * time.Minute
	coolingStep    = 5 * time.Second
)

// CoolDown waits until the device is not throttled any more. All calls of a run share
// longestCooling; a device that stays hot is measured as it is, with a warning.
func (t *Target) CoolDown(ctx context.Context) error {
	for ; t.cooled < longestCooling; t.cooled += coolingStep {
		heat, _, err := device.Slowdown(ctx, t.dev)
		if err != nil || heat == "" {
			return err
		}
		t.Journal.Report(journal.Settle, 0, 0, fmt.Sprintf("cooling down (%s)", journal.Line(heat)))
		if err := errors.Join(t.Renew(ctx), t.Rest(ctx, coolingStep)); err != nil {
			return err
		}
		if t.cooled+coolingStep >= longestCooling {
			t.Journal.Warnf("the device did not cool down within %s of rest: what is measured from here on is that of a hot device", prose.Duration(longestCooling))
		}
	}
	return nil
}

// WarnThrottled warns if the device was throttled in a repetition, as far as that can be seen at
// its end.
func (t *Target) WarnThrottled(ctx context.Context, n int) error {
	heat, saver, err := device.Slowdown(ctx, t.dev)
	if err != nil {
		return err
	}
	if heat != "" {
		t.Journal.Warnf("repetition %d: Android was slowing the device down for heat (%s): its numbers are those of a hot device", n, journal.Line(heat))
	}
	if saver {
		t.Journal.Warnf("the battery saver was on: Android was slowing the device down")
	}
	return nil
}
