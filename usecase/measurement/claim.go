package measurement

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/device/devicelock"
	"github.com/apkgate/apkgate/internal/prose"
)

// ClaimFor is how long to wait for a device that another apkgate uses.
const ClaimFor = time.Hour

// owner returns this process as a user of the device, nil if nobody else can use it.
func (d Device) owner() *devicelock.Owner {
	if d.key == "" {
		return nil
	}
	me := devicelock.Me(time.Now())
	return &me
}

// claimOf returns a function that takes the device for this process, for as long as a run takes. If
// that fails the run is made anyway, since the device itself is marked with its user. nil if nobody
// else can use it.
func claimOf(key string) func(context.Context, devicelock.Owner, func(string)) (string, func(), error) {
	if key == "" {
		return nil
	}
	return func(ctx context.Context, me devicelock.Owner, waiting func(string)) (string, func(), error) {
		taken, err := devicelock.Wait(ctx, devicelock.Folder(), key, me, ClaimFor, func(by devicelock.Owner) {
			waiting(fmt.Sprintf("is in use by %v: waiting up to %s", by, prose.Duration(ClaimFor)))
		})
		var held *devicelock.HeldError
		switch {
		case err == nil:
			return taken.Lock(), taken.Release, nil
		case errors.As(err, &held):
			return "", nil, fmt.Errorf("wait %s for the device: %w", prose.Duration(ClaimFor), err)
		case ctx.Err() != nil:
			return "", nil, err
		}
		waiting(fmt.Sprintf("is kept from other apkgates only by its own mark: %v", err))
		return "", func() {}, nil
	}
}

// InUse returns who else uses the device on this computer, "" if nobody does or it is unknown.
func (d Device) InUse(now time.Time) string {
	if d.key == "" {
		return ""
	}
	taken, err := devicelock.Take(devicelock.Folder(), d.key, devicelock.Me(now))
	var held *devicelock.HeldError
	switch {
	case err == nil:
		taken.Release()
	case errors.As(err, &held):
		return held.Owner.String()
	}
	return ""
}
