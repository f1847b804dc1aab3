// Package labs has devices booted for a command: each when it is needed first, once
// for all that the command measures, and gone when it ends.
//
// It owns which lab boots a device of the configuration, the lease under which it does,
// and how adb reaches what is booted. How a lab boots is package device/lab/boot's and those
// below it.
//
// It takes a stand: what is booted is stopped and proved to be gone however the command
// ends; where that can't be done, its lease stays and says so to `apkgate devices clean`.
package labs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Pool are the devices that a command has booted. Its methods may be called from several
// goroutines; those of one station not at the same time.
type Pool struct {
	console terminal.Console
	labs    map[string]boot.Lab // by kind
	folder  string              // of the leases
	session string

	mu      sync.Mutex
	running map[string]*instance // by the station's name
}

// instance is one that is booted.
type instance struct {
	*boot.Booted
	lab  boot.Lab
	held *lease.Held
}

// NewPool is empty. The session's name stands in its leases.
func NewPool(c terminal.Console, session string) *Pool {
	return &Pool{console: c, labs: All(c), folder: lease.Folder(), session: session, running: map[string]*instance{}}
}

// Boot boots the device of a station, or returns the one that is booted already.
func (p *Pool) Boot(ctx context.Context, station string, d config.Device, tell func(string)) (*boot.Booted, error) {
	if there := p.there(station); there != nil {
		if !hasDied(there.Booted) {
			return there.Booted, nil
		}
		if err := p.Stop(ctx, station, tell); err != nil {
			return nil, err
		}
	}
	spec := SpecOf(station, d)
	lab := p.labs[spec.Kind]
	if lab == nil {
		return nil, &boot.Error{Lab: spec.Kind, What: "no such lab is known"}
	}
	held, err := lease.Take(p.folder, spec.Kind, p.session)
	if err != nil {
		return nil, fmt.Errorf("note what is booted, for it to be stopped whatever happens: %w", err)
	}
	started, err := lab.Boot(ctx, spec, held, tell)
	its := &instance{started, lab, held}
	if err != nil {
		return nil, errors.Join(err, its.stop(ctx, tell))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[station] = its
	return started, nil
}

func (p *Pool) there(station string) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running[station]
}

func hasDied(b *boot.Booted) bool {
	select {
	case <-b.Died: // nil is never ready
		return true
	default:
		return false
	}
}

// Stop ends the device of a station; none is no error. It goes on when ctx is cancelled.
func (p *Pool) Stop(ctx context.Context, station string, tell func(string)) error {
	p.mu.Lock()
	its := p.running[station]
	delete(p.running, station)
	p.mu.Unlock()
	if its == nil {
		return nil
	}
	return its.stop(ctx, tell)
}

// stop ends the device, and its lease with it. Where that fails the lease stays, for
// whoever cleans up.
func (d *instance) stop(ctx context.Context, tell func(string)) error {
	if err := d.lab.Stop(context.WithoutCancel(ctx), d.held.Lease(), tell); err != nil {
		d.held.Leave()
		return fmt.Errorf("%w; apkgate devices clean tries it again", err)
	}
	return d.held.Release()
}

// Close ends all devices, side by side. What can't be ended is a warning, since what was
// measured is whole.
func (p *Pool) Close() {
	p.mu.Lock()
	stations := slices.Sorted(maps.Keys(p.running))
	p.mu.Unlock()
	problems := make([]error, len(stations))
	var all sync.WaitGroup
	for i, station := range stations {
		all.Go(func() { problems[i] = p.Stop(context.Background(), station, func(string) {}) })
	}
	all.Wait()
	for i, err := range problems {
		if err != nil {
			fmt.Fprintf(p.console.Stderr, "warning: %s could not be stopped: %s\n", terminal.Plain(stations[i]), terminal.Plain(err.Error()))
		}
	}
}
