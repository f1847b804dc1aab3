package adb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apkgate/apkgate/device"
)

// transport is a connection to one device.
type transport interface {
	// open opens a stream to a service of the device's adb daemon.
	open(ctx context.Context, service string) (io.ReadWriteCloser, error)
	// features returns the features of the daemon, as far as the connection knows them.
	features(ctx context.Context) ([]string, error)
	// watch returns once the connection to the device is lost.
	watch(ctx context.Context) error
	close() error
}

// Device is one device, reached through an adb server or directly. It may be
// used by many goroutines at once.
type Device struct {
	serial    string
	transport transport
	options   Options

	mu       sync.Mutex
	known    bool
	features []string
	shell    *kept // the kept shell, nil for none
	closed   bool

	asking sync.Mutex // held while the kept shell runs a question
}

var _ device.Device = (*Device)(nil)

// Serial names the device as adb does.
func (d *Device) Serial() string { return d.serial }

// Close frees the device's own connection, if there is one, and ends the kept shell.
func (d *Device) Close() error {
	d.mu.Lock()
	shell := d.shell
	d.shell, d.closed = nil, true
	d.mu.Unlock()
	if shell != nil {
		shell.close()
	}
	return d.transport.close()
}

// OnLoss calls lost once the current connection to the device is lost, with an error that
// wraps device.ErrGone, unless ctx ends first. It sends the device nothing: the adb server
// reports devices that come and go (host:track-devices), and a direct connection ends by
// itself.
func (d *Device) OnLoss(ctx context.Context, lost func(error)) {
	go func() {
		if err := d.failed("watching the connection", d.transport.watch(ctx)); errors.Is(err, device.ErrGone) && ctx.Err() == nil {
			lost(err)
		}
	}()
}

// Shared reports whether the connection to the device belongs to an adb server, which keeps it
// open after Close.
func (d *Device) Shared() bool {
	_, shared := d.transport.(*serverTransport)
	return shared
}

// Features returns the features of the device's adb daemon: "shell_v2", "cmd", ….
func (d *Device) Features(ctx context.Context) ([]string, error) {
	d.mu.Lock()
	known, features := d.known, d.features
	d.mu.Unlock()
	if known {
		return features, nil
	}
	features, err := d.transport.features(ctx)
	if err != nil {
		return nil, d.failed("asking for the features", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known, d.features = true, features
	return features, nil
}

func (d *Device) has(ctx context.Context, feature string) (bool, error) {
	features, err := d.Features(ctx)
	return slices.Contains(features, feature), err
}

// open opens a stream to a service, limited by ctx and by the silence timeout.
func (d *Device) open(ctx context.Context, service string) (*call, error) {
	stream, err := d.transport.open(ctx, service)
	if err != nil {
		return nil, err
	}
	return newCall(ctx, stream, d.options.SilenceTimeout), nil
}

// failed adds the operation and the device to an error.
func (d *Device) failed(doing string, err error) error {
	return fmt.Errorf("%s on %s: %w", doing, d.serial, asLoss(err))
}
