// Package labs boots devices for a command: each when it is first needed, once for all that the
// command measures, and stops them at its end.
//
// It owns the choice of the lab for a device of the configuration, the lease of a booted device,
// and adb's connection to it. Package device/lab/boot and those below it boot devices.
//
// A booted device is stopped, with proof that it is gone, however the command ends; if that fails,
// its lease stays for `apkgate devices clean`.
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

// Pool are the devices that a command has booted. Its methods are safe for concurrent use, but not
// for the same station.
type Pool struct {
	console terminal.Console
	labs    map[string]boot.Lab // by kind
	folder  string              // of the leases
	session string

	mu      sync.Mutex
	running map[string]*instance // by the station's name
}

// instance is a booted device.
type instance struct {
	*boot.Booted
	lab  boot.Lab
	held *lease.Held
}

// NewPool returns an empty pool. Its leases contain the session's name.
func NewPool(c terminal.Console, session string) *Pool {
	return &Pool{console: c, labs: All(c), folder: lease.Folder(), session: session, running: map[string]*instance{}}
}

// Boot boots the device of a station, or returns the booted one.
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
		return nil, fmt.Errorf("write the lease of the device to boot: %w", err)
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
	case <-b.Died: // a nil channel is never ready
		return true
	default:
		return false
	}
}

// Stop stops the device of a station, if there is one. It continues when ctx is cancelled.
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

// stop stops the device and releases its lease. If that fails the lease stays, for a later cleanup.
func (d *instance) stop(ctx context.Context, tell func(string)) error {
	if err := d.lab.Stop(context.WithoutCancel(ctx), d.held.Lease(), tell); err != nil {
		d.held.Leave()
		return fmt.Errorf("%w; apkgate devices clean tries it again", err)
	}
	return d.held.Release()
}

// Close stops all devices in parallel. A failure is only a warning, since the measurements are
// complete.
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
