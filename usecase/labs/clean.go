package labs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device/hostprogram"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// atOnce is the number of devices stopped at once: each waits for its lab most of the time.
const atOnce = 8

// Clean stops and deletes the devices in leases whose process is gone, and reports each step,
// preceded by the lease's name. It returns one error for each lease whose devices could not be
// stopped, or are not known to be; its lease stays.
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

// Called returns a lease's name for people: "apkgate-x7k2m3qa (pixel #2)".
func Called(l lease.Lease) string {
	if l.Name == "" {
		return l.ID
	}
	return l.ID + " (" + l.Name + ")"
}

// InUse reports whether the apkgate that took a lease still runs. A held lock is not enough: a
// program that was just being started may have inherited it.
func InUse(l lease.Lease) bool { return l.InUse && (l.Elsewhere() || lives(l.Owner.PID)) }

// stopper stops the devices of a lease: a lab, or a farm.
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
		tell("has another owner by now")
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

// inheritedFor is how long a lease's lock may outlive its process: a child has the lock, too,
// between fork and exec.
const inheritedFor = 10 * time.Second

// reclaim takes a lease whose process is gone.
func reclaim(l lease.Lease) (*lease.Held, error) {
	for until := time.Now().Add(inheritedFor); ; time.Sleep(20 * time.Millisecond) {
		held, err := lease.Reclaim(lease.Folder(), l.ID)
		if !errors.Is(err, lease.ErrInUse) || lives(l.Owner.PID) || time.Now().After(until) {
			return held, err
		}
	}
}

// lives reports whether a process with that id runs on this computer, if that can be determined.
func lives(pid int) bool {
	_, err := hostprogram.IDOf(pid)
	return !errors.Is(err, hostprogram.ErrNoProcess)
}

// leftError is a lease whose devices may still run.
type leftError struct {
	lease  lease.Lease
	err    error
	advice string // "": the error's own
}

// Error names the lease.
func (e *leftError) Error() string { return "clean up " + Called(e.lease) + ": " + e.err.Error() }

// Unwrap returns the reason.
func (e *leftError) Unwrap() error { return e.err }

// Hint returns the advice.
func (e *leftError) Hint() string { return e.advice }
