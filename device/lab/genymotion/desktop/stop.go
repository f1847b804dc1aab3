package desktop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// allOfStop bounds Stop.
const allOfStop = 5 * time.Minute

// mayAppear is how long after a gmtool was killed what it was doing may still come true:
// the hypervisor finishes what it was asked for.
const mayAppear = 30 * time.Second

// Stop stops what the lease names, and deletes it where it was created for the lease.
func (l *Lab) Stop(ctx context.Context, of lease.Lease, tell func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, allOfStop)
	defer cancel()
	existing := of.Detail[noteExisting]
	switch {
	case existing == "" && of.Detail[noteCreating] == "":
		return nil // nothing was begun
	case existing != "" && of.Detail[noteStarting] == "":
		return nil // it ran before
	case existing != "":
		return l.end(ctx, existing, false, of, tell)
	}
	if err := genymotion.EndOrphans("gmtool", of.ID); err != nil {
		tell(err.Error())
	}
	return l.end(ctx, of.ID, true, of, tell)
}

// end stops a device until gmtool says that it is off, or until it is listed no more.
func (l *Lab) end(ctx context.Context, name string, remove bool, of lease.Lease, tell func(string)) error {
	if _, err := l.gmtool("stop " + prose.Quote(name, 80)); err != nil {
		return byHand(err, name, remove) // which no waiting brings
	}
	for {
		done, err := l.step(ctx, name, remove, tell)
		var failed *refusedError
		if errors.As(err, &failed) && !failed.failed.Retry {
			return byHand(err, name, remove)
		}
		if err == nil && done && !l.mayStillAppear(of) {
			return nil
		}
		if boot.Pause(ctx, l.lookEvery) != nil {
			if err == nil && errors.Is(ctx.Err(), context.Canceled) {
				err = context.Cause(ctx)
			}
			if err == nil {
				err = &boot.Error{Lab: called, What: fmt.Sprintf("stop %s: it still runs after %s", prose.Quote(name, 80), prose.Duration(allOfStop)), Retry: true}
			}
			return byHand(err, name, remove)
		}
	}
}

// step looks how a device stands and does what is next; done where nothing is.
func (l *Lab) step(ctx context.Context, name string, remove bool, tell func(string)) (done bool, err error) {
	doing := "stop " + prose.Quote(name, 80)
	machines, err := l.list(ctx, doing)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(machines, func(m machine) bool { return m.Name == name })
	switch {
	case i < 0, machines[i].off() && !remove:
		return true, nil
	case machines[i].off():
		tell("deleting " + prose.Short(prose.OneLine(name)))
		_, err = l.run(ctx, "delete "+prose.Quote(name, 80), stopWithin, "admin", "delete", name)
	default:
		tell("stopping " + prose.Short(prose.OneLine(name)))
		_, err = l.run(ctx, doing, stopWithin, "admin", "stop", name)
	}
	return false, err
}

// mayStillAppear reports whether something that was begun may come true though its gmtool
// was killed.
func (l *Lab) mayStillAppear(of lease.Lease) bool {
	for _, n := range []struct{ begun, done string }{{noteCreating, noteCreated}, {noteStarting, noteStarted}} {
		at, err := time.Parse(time.RFC3339, of.Detail[n.begun])
		if err == nil && of.Detail[n.done] == "" && time.Since(at).Abs() < l.mayAppear {
			return true
		}
	}
	return false
}

// byHand adds to an error what somebody can do.
func byHand(err error, name string, remove bool) error {
	e := &boot.Error{Lab: called, What: "stop " + prose.Quote(name, 80) + ": " + err.Error()}
	var failed *boot.Error
	if errors.As(err, &failed) {
		e.What, e.Advice, e.Retry = failed.What, failed.Advice, failed.Retry
	}
	if e.Advice != "" {
		e.Advice += "; "
	}
	e.Advice += "then apkgate devices clean, or gmtool admin stop " + prose.Quote(name, 80)
	if remove {
		e.Advice += " and gmtool admin delete " + prose.Quote(name, 80)
	}
	return e
}
