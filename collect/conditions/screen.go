package conditions

import (
	"context"
	"errors"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
)

// LightUp turns the screen on and keeps it on, for the app.
func (h *Holder) LightUp(ctx context.Context, app string) error {
	if err := h.Target.StayOn(ctx, app); err != nil {
		return err
	}
	return h.Target.KeepLit(ctx)
}

// Unlock dismisses the lock screen. An app draws nothing behind one that asks for a PIN; where
// energy is measured, it may have nothing to draw.
func (h *Holder) Unlock(ctx context.Context) error {
	err := h.Target.Unlock(ctx)
	if h.Energy && errors.Is(err, target.ErrLocked) {
		h.Target.Journal.Warnf("%v: an app behind it draws nothing (%s)", err, device.HintLock)
		return nil
	}
	return err
}

// Relight turns a screen that went dark since set-up on again, and dismisses the lock screen that
// came with it.
func (h *Holder) Relight(ctx context.Context, app string) error {
	shown, err := h.Target.Shows(ctx)
	switch {
	case err != nil || shown == target.ShowsApps:
		return err
	case shown == target.ShowsDialog:
		return h.Dismiss(ctx)
	}
	if shown == target.ShowsNothing {
		h.Target.Journal.Warnf("the screen had gone off between two repetitions, and was turned on again: what turns it off?")
		if err := h.LightUp(ctx, app); err != nil {
			return err
		}
	}
	return h.Unlock(ctx)
}
