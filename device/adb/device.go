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

// transport is a way to one device.
type transport interface {
	// open opens a stream to a service of the device's adb daemon.
	open(ctx context.Context, service string) (io.ReadWriteCloser, error)
	// features are what the daemon can do, as far as the way to it knows of it.
	features(ctx context.Context) ([]string, error)
	// watch returns once the way to the device is lost.
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
	shell    *kept // nil: none is kept now
	closed   bool

	asking sync.Mutex // held while the kept shell is asked
}

var _ device.Device = (*Device)(nil)

// Serial names the device as adb does.
func (d *Device) Serial() string { return d.serial }

// Close frees the connection to the device, where there is one of its own, and ends the
// shell that is kept.
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

// OnLoss calls lost once the way to the device is lost that was there when it was called,
// with an error that wraps device.ErrGone, unless ctx has ended before. It asks the device
// nothing: the adb server reports what comes and goes (host:track-devices), and a connection
// of our own that it has ended.
func (d *Device) OnLoss(ctx context.Context, lost func(error)) {
	go func() {
		if err := d.failed("watching the connection", d.transport.watch(ctx)); errors.Is(err, device.ErrGone) && ctx.Err() == nil {
			lost(err)
		}
	}()
}

// Shared reports whether the connection to the device is an adb server's, which
// holds it open whatever Close does.
func (d *Device) Shared() bool {
	_, shared := d.transport.(*serverTransport)
	return shared
}

// Features are what the device's adb daemon can do: "shell_v2", "cmd", ….
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

// open opens a stream to a service, bounded by ctx and by silence.
func (d *Device) open(ctx context.Context, service string) (*call, error) {
	stream, err := d.transport.open(ctx, service)
	if err != nil {
		return nil, err
	}
	return newCall(ctx, stream, d.options.SilenceTimeout), nil
}

// failed says what was being done, and on what device.
func (d *Device) failed(doing string, err error) error {
	return fmt.Errorf("%s on %s: %w", doing, d.serial, gone(err))
}
