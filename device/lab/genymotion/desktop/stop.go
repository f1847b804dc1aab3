package desktop

import (
	"context"
	"slices"
	"time"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// allOfStop is the timeout of Stop.
const allOfStop = 5 * time.Minute

// mayAppear is how long after a gmtool was killed its request may still be completed by the
// hypervisor.
const mayAppear = 30 * time.Second

// Stop stops what the lease names, and deletes it if it was created for the lease.
func (l *Lab) Stop(ctx context.Context, of lease.Lease, tell func(string)) error {
	existing := of.Detail[noteExisting]
	switch {
	case existing == "" && of.Detail[noteCreating] == "":
		return nil // nothing was begun
	case existing != "" && of.Detail[noteStarting] == "":
		return nil // it was already running
	case existing != "":
		return l.end(ctx, existing, false, of, tell)
	}
	if err := genymotion.EndOrphans("gmtool", of.ID); err != nil {
		tell(err.Error())
	}
	return l.end(ctx, of.ID, true, of, tell)
}

// end stops a device until gmtool reports it as off, or no longer lists it.
func (l *Lab) end(ctx context.Context, name string, remove bool, of lease.Lease, tell func(string)) error {
	byHand := "gmtool admin stop " + prose.Quote(name, 80)
	if remove {
		byHand += " and gmtool admin delete " + prose.Quote(name, 80)
	}
	return boot.Ending{
		Lab: called, Doing: "stop " + prose.Quote(name, 80), Still: "it still runs", ByHand: byHand,
		Within: allOfStop, Every: l.lookEvery, Hopeless: genymotion.Hopeless,
		Step: func(ctx context.Context) (bool, error) {
			done, err := l.step(ctx, name, remove, tell)
			return done && !l.mayStillAppear(of), err
		},
	}.Run(ctx)
}

// step checks the state of a device and takes the next step; done reports that there is none.
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

// mayStillAppear reports whether a request may be completed although its gmtool was killed.
func (l *Lab) mayStillAppear(of lease.Lease) bool {
	return boot.MayAppear(of, noteCreating, noteCreated, l.mayAppear) || boot.MayAppear(of, noteStarting, noteStarted, l.mayAppear)
}
