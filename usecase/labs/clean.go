package labs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/device/program"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// atOnce is how many devices are stopped at once: each waits for its lab most of the time.
const atOnce = 8

// Clean stops and deletes what the leases name whose process is gone, and tells each thing
// that is done, which begins with the lease's name. What could not be stopped, or isn't
// known to be, is in the error, one for each lease; its lease stays.
func Clean(ctx context.Context, c terminal.Console, leases []lease.Lease, tell func(string)) error {
	stoppers := map[string]stopper{}
	for kind, lab := range All(c) {
		stoppers[kind] = lab
	}
	for kind, farm := range farms(c) {
		stoppers[kind] = farm
	}
	var telling sync.Mutex
	problems := make([]error, len(leases))
	free := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, l := range leases {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			problems[i] = cleanOne(ctx, stoppers, l, func(line string) {
				telling.Lock()
				defer telling.Unlock()
				tell(Called(l) + ": " + line)
			})
		})
	}
	all.Wait()
	return errors.Join(problems...)
}

// Called is a lease in sentences: "apkgate-x7k2m3qa (pixel #2)".
func Called(l lease.Lease) string {
	if l.Name == "" {
		return l.ID
	}
	return l.ID + " (" + l.Name + ")"
}

// InUse reports whether the apkgate that took a lease still runs. That its lock is held is
// not enough: a program that was just being started may have inherited it.
func InUse(l lease.Lease) bool { return l.InUse && (l.Elsewhere() || lives(l.Owner.PID)) }

// stopper stops what a lease names: a lab, or a farm.
type stopper interface {
	Stop(ctx context.Context, l lease.Lease, tell func(string)) error
}

func cleanOne(ctx context.Context, labs map[string]stopper, l lease.Lease, tell func(string)) error {
	lab := labs[l.Kind]
	switch {
	case InUse(l):
		tell("is in use by " + l.Owner.String() + " and left alone")
		return nil
	case l.Elsewhere():
		return &leftError{l, fmt.Errorf("it was booted on the computer %s", l.Owner.Host), "apkgate devices clean there"}
	case lab == nil:
		return &leftError{l, fmt.Errorf("this apkgate knows no lab %q", l.Kind), "apkgate devices clean of the version that booted it"}
	}
	held, err := reclaim(l)
	switch {
	case errors.Is(err, lease.ErrInUse), errors.Is(err, fs.ErrNotExist):
		tell("is somebody else's by now")
		return nil
	case err != nil:
		return &leftError{l, err, ""}
	}
	if err := lab.Stop(ctx, held.Lease(), tell); err != nil {
		held.Leave()
		return &leftError{l, err, ""}
	}
	tell("nothing of it is left")
	return held.Release()
}

// inheritedFor is how long a lease's lock may outlive its process: one that was just being
// started by it has the lock, too, until it is a program of its own.
const inheritedFor = 10 * time.Second

// reclaim holds a lease whose process is gone.
func reclaim(l lease.Lease) (*lease.Held, error) {
	for until := time.Now().Add(inheritedFor); ; time.Sleep(20 * time.Millisecond) {
		held, err := lease.Reclaim(lease.Folder(), l.ID)
		if !errors.Is(err, lease.ErrInUse) || lives(l.Owner.PID) || time.Now().After(until) {
			return held, err
		}
	}
}

// lives reports whether a process of the number runs on this computer, as far as can be
// told.
func lives(pid int) bool {
	_, err := program.IDOf(pid)
	return !errors.Is(err, program.ErrNoProcess)
}

// leftError is a lease behind which something may still run.
type leftError struct {
	lease  lease.Lease
	err    error
	advice string // "": the error's own
}

// Error names the lease.
func (e *leftError) Error() string { return "clean up " + Called(e.lease) + ": " + e.err.Error() }

// Unwrap returns why it is left.
func (e *leftError) Unwrap() error { return e.err }

// Hint is what to do about it.
func (e *leftError) Hint() string { return e.advice }
