package repetition

import (
	"bytes"
	"cmp"
	"context"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/record"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/hierarchy"
)

// views reads the views of the app's window after each UI event, in the warm-up.
type views struct {
	nothing
	phone      *Phone
	work       Work
	seen       record.Views
	unreported bool // the device does not report them
}

// while reads the current views of the app's window. It does so only in the warm-up, since dumpsys
// blocks the app's UI thread. The last reading before the next event counts for an event.
func (v *views) while(ctx context.Context, a *attempt) error {
	if a.measured || v.work.Watcher == nil || !v.phone.Evident || v.unreported {
		return nil
	}
	out, err := v.phone.Target.Exec(ctx, "dumpsys", "activity", "top")
	if err == nil {
		err = a.log.Read(ctx)
	}
	if err != nil {
		return v.without(err)
	}
	before := cmp.Or(a.event, run.Start)
	a.event = a.log.Event()
	tree, err := hierarchy.Read(bytes.NewReader(out.Stdout))
	if err != nil {
		return v.without(err)
	}
	if w, ok := tree.Of(v.work.App.Package); ok && a.event == before {
		v.seen.Add(w.Count(before))
	}
	return nil
}

// without disables reading, unless the device is gone.
func (v *views) without(err error) error {
	if loss.Stops(err) {
		return err
	}
	v.unreported = true
	v.phone.Target.Journal.Warnf("the views of the app's windows are not known: %v", err)
	return nil
}

// addTo adds the views to the record's section, with a warning about those that seem hidden.
func (v *views) addTo(section *run.Frames) {
	if section == nil || len(v.seen) == 0 {
		return
	}
	section.Views = v.seen
	if v.seen.Hidden() {
		v.phone.Target.Journal.Warnf("views that are drawn though later ones cover them: %s", hierarchy.Assumptions)
	}
}
