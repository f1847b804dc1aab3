package recording

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/apkgate/apkgate/device"
)

// Open connects to the recorded device. After the end of the replay it returns an error that
// wraps device.ErrGone.
func (p *Player) Open(ctx context.Context) (device.Device, error) {
	e, err := p.take(ctx, Entry{Op: Open})
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.err != nil && !p.dead {
			p.dead = true
			close(p.died)
		}
		return nil, err
	}
	if e.Error != nil {
		return nil, e.Error
	}
	return &playedDevice{p: p, serial: e.Serial, shared: e.Shared, keepsShell: e.KeepsShell}, nil
}

type playedDevice struct {
	p      *Player
	serial string
	shared bool
	// keepsShell reports whether the recorded device kept a shell. Its questions are looked up
	// like any other command.
	keepsShell bool
}

var _ device.Device = (*playedDevice)(nil)

func (d *playedDevice) Serial() string { return d.serial }
func (d *playedDevice) Shared() bool   { return d.shared }
func (d *playedDevice) Close() error   { return nil }

// KeepsShell implements device.KeepsShell.
func (d *playedDevice) KeepsShell(context.Context) bool { return d.keepsShell }

// OnLoss calls lost when the connection is lost, unless ctx ends first; see package adb.
func (d *playedDevice) OnLoss(ctx context.Context, lost func(error)) {
	d.p.mu.Lock()
	defer d.p.mu.Unlock()
	d.p.onLoss = func(err error) {
		if ctx.Err() == nil {
			lost(err)
		}
	}
}

func (d *playedDevice) Exec(ctx context.Context, command string) (device.Output, error) {
	e, err := d.p.take(ctx, Entry{Op: Exec, Command: command})
	if err != nil {
		return device.Output{}, err
	}
	return d.output(e)
}

// output returns the recorded output.
func (d *playedDevice) output(e Entry) (out device.Output, err error) {
	out.ExitCode = e.Exit
	if out.Stdout, err = d.p.recording.Content(e.Stdout); err == nil {
		out.Stderr, err = d.p.recording.Content(e.Stderr)
	}
	if err != nil {
		return device.Output{}, d.p.fail(err)
	}
	return out, e.Error.err()
}

// RunToEnd implements device.RunToEnd.
func (d *playedDevice) RunToEnd(ctx context.Context, command string, _ int64) (device.Output, error) {
	return d.Exec(ctx, command)
}

// Unrecorded implements device.Unrecorded: a recording is always alive.
func (d *playedDevice) Unrecorded() device.Device { return alive{d} }

type alive struct{ device.Device }

func (alive) Exec(context.Context, string) (device.Output, error) { return device.Output{}, nil }

func (d *playedDevice) Start(ctx context.Context, command string) (device.Process, error) {
	e, err := d.p.take(ctx, Entry{Op: Start, Command: command})
	if err != nil {
		return nil, err
	}
	if e.Error != nil {
		return nil, e.Error
	}
	d.p.mu.Lock()
	defer d.p.mu.Unlock()
	return d.p.streams[e.Stream], nil
}

// Push reads the pushed file. If its content differs from the recorded one, that is noted,
// since the answers that follow belong to the recorded one.
func (d *playedDevice) Push(ctx context.Context, src io.Reader, path string, _ fs.FileMode, _ time.Time) error {
	e, err := d.p.take(ctx, Entry{Op: Push, Path: path})
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, src); err != nil {
		return fmt.Errorf("read the file to push to %s: %w", path, err)
	}
	if len(e.Files) == 1 && e.Files[0].SHA256 != hex.EncodeToString(sum.Sum(nil)) {
		d.p.mu.Lock()
		if !slices.Contains(d.p.account.Pushed, path) {
			d.p.account.Pushed = append(d.p.account.Pushed, path)
		}
		d.p.mu.Unlock()
	}
	return e.Error.err()
}

func (d *playedDevice) Pull(ctx context.Context, path string, dst io.Writer) error {
	e, err := d.p.take(ctx, Entry{Op: Pull, Path: path})
	if err != nil {
		return err
	}
	if err := d.p.recording.copyTo(dst, e.Stdout); err != nil {
		return d.p.fail(err)
	}
	return e.Error.err()
}

// Install accepts only the files that were recorded.
func (d *playedDevice) Install(ctx context.Context, apkFiles ...string) error {
	asked := Entry{Op: Install}
	for _, path := range apkFiles {
		f, err := fileOf(path)
		if err != nil {
			return fmt.Errorf("read the APKs to install: %w", err)
		}
		asked.Files = append(asked.Files, f)
	}
	e, err := d.p.take(ctx, asked)
	if err != nil {
		return err
	}
	return e.Error.err()
}

func (d *playedDevice) Uninstall(ctx context.Context, pkg string) error {
	e, err := d.p.take(ctx, Entry{Op: Uninstall, Command: pkg})
	if err != nil {
		return err
	}
	return e.Error.err()
}
