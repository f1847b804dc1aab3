package conditions

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
)

// How often "wait" is pressed for one process, and how long a dialog may take to close.
const (
	mostDialogs = 5
	goneFor     = 3 * time.Second
	goneEvery   = 250 * time.Millisecond
)

// Dismiss closes the dialogs in which Android reports that a process does not respond or has
// crashed, such as System UI's at the start of a slow emulator: no app has the focus behind one. It
// presses the button that changes the least. Keys can't do that, since the focused button depends
// on the version of Android. Neither can the broadcast that closes system dialogs, since it may end
// the process.
func (h *Holder) Dismiss(ctx context.Context) error {
	for range mostDialogs {
		d, shown, err := h.dialog(ctx)
		if err != nil || !shown {
			return err
		}
		pressed, err := h.press(ctx, d)
		if err != nil {
			return err
		}
		if !pressed {
			h.reportDialog(d)
			return nil
		}
		did := "was told to wait"
		if d.Crashed {
			did = "was closed"
		}
		h.Target.Journal.Warnf("Android said that %s, in a dialog behind which no app has the focus: it %s", journal.Line(d.String()), did)
	}
	d, shown, err := h.dialog(ctx)
	if err == nil && shown {
		h.reportDialog(d)
	}
	return err
}

func (h *Holder) reportDialog(d device.Dialog) {
	h.Report(device.Finding{
		Name: "dialog", Detail: "Android says that " + journal.Line(d.String()) + ", and its dialog does not go: no app has the focus",
		Hint: "press a button of the dialog on the device's screen, or restart the device",
	})
}

// dialog returns the dialog that has the focus.
func (h *Holder) dialog(ctx context.Context) (d device.Dialog, shown bool, err error) {
	out, err := h.Target.Ask(ctx, device.FocusQuery)
	if err != nil {
		return d, false, fmt.Errorf("look for a dialog of the system: %w", err)
	}
	d, shown = device.ReadDialog(string(out.Stdout))
	return d, shown, nil
}

// press presses the dialog's button and reports whether the dialog closed.
func (h *Holder) press(ctx context.Context, d device.Dialog) (gone bool, err error) {
	const (
		file = "/data/local/tmp/apkgate-window.xml"
		most = 1 << 20 // bytes of a window dump
	)
	look := "uiautomator dump " + file + " >/dev/null 2>&1; cat " + file + "; rm -f " + file
	out, err := h.Target.Recorded(ctx, look, target.Change{Kind: target.Files, Put: file})
	if err != nil {
		return false, fmt.Errorf("look for the dialog's buttons: %w", err)
	}
	x, y, found := device.FindButton(string(out.Stdout[:min(len(out.Stdout), most)]), d.Buttons())
	if !found {
		return false, nil
	}
	if err := h.Target.Try(ctx, "input", "tap", strconv.Itoa(x), strconv.Itoa(y)); err != nil {
		return false, fmt.Errorf("press the dialog's button: %w", err)
	}
	return h.Target.Poll(ctx, goneEvery, goneFor, func() (bool, error) {
		now, shown, err := h.dialog(ctx)
		return !shown || now != d, err
	})
}
