package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/device/claim"
)

// ClaimFor is how long a device is waited for that another apkgate uses.
const ClaimFor = time.Hour

// claimOf takes the device for this process, for as long as a run takes. Where that
// can't be done at all the run is made, since most devices have one user. nil where
// nobody else can use it.
func claimOf(key string) func(context.Context, func(string)) (func(), error) {
	if key == "" {
		return nil
	}
	return func(ctx context.Context, waiting func(string)) (func(), error) {
		taken, err := claim.Wait(ctx, claim.Folder(), key, ClaimFor, func(by claim.Holder) {
			waiting(fmt.Sprintf("is in use by %v: waiting up to %v", by, ClaimFor))
		})
		var held *claim.HeldError
		switch {
		case err == nil:
			return taken.Release, nil
		case errors.As(err, &held):
			return nil, fmt.Errorf("wait %v for the device: %w", ClaimFor, err)
		case ctx.Err() != nil:
			return nil, err
		}
		waiting(fmt.Sprintf("is not kept from other apkgates on this computer: %v", err))
		return func() {}, nil
	}
}

// InUse says who else uses the device on this computer, "" where nobody does or that
// can't be told.
func (d Device) InUse(now time.Time) string {
	if d.key == "" {
		return ""
	}
	taken, err := claim.Take(claim.Folder(), d.key, now)
	var held *claim.HeldError
	switch {
	case err == nil:
		taken.Release()
	case errors.As(err, &held):
		return held.Holder.String()
	}
	return ""
}
