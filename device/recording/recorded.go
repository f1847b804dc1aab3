package recording

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/apkgate/apkgate/device"
)

// recordedDevice is a device whose exchanges are recorded.
type recordedDevice struct {
	device.Device
	s          *Recorded
	keepsShell bool
}

var _ device.Device = (*recordedDevice)(nil)

// Shared implements adb.Device.Shared.
func (d *recordedDevice) Shared() bool {
	shared, ok := d.Device.(interface{ Shared() bool })
	return ok && shared.Shared()
}

// OnLoss calls lost at the point of the recording where the run learns of the loss; see
// package adb.
func (d *recordedDevice) OnLoss(ctx context.Context, lost func(error)) {
	if watched, can := d.Device.(interface {
		OnLoss(ctx context.Context, lost func(error))
	}); can {
		watched.OnLoss(ctx, func(err error) { d.s.arrived(event{err: err, lost: lost, watch: ctx}) })
	}
}

func (d *recordedDevice) Exec(ctx context.Context, command string) (device.Output, error) {
	return d.command(command, func() (device.Output, error) { return d.Device.Exec(ctx, command) })
}

// Ask implements device.Ask.
func (d *recordedDevice) Ask(ctx context.Context, command string) (device.Output, error) {
	return d.command(command, func() (device.Output, error) { return device.Ask(ctx, d.Device, command) })
}

// KeepsShell implements device.KeepsShell, with the value from when the device was connected.
func (d *recordedDevice) KeepsShell(context.Context) bool { return d.keepsShell }

// RunToEnd implements device.RunToEnd.
func (d *recordedDevice) RunToEnd(ctx context.Context, command string, most int64) (device.Output, error) {
	return d.command(command, func() (device.Output, error) { return device.RunToEnd(ctx, d.Device, command, most) })
}

func (d *recordedDevice) command(command string, run func() (device.Output, error)) (device.Output, error) {
	e := d.s.begin(Entry{Op: Exec, Command: d.s.w.black.String(command)})
	out, err := run()
	e.Stdout, e.Stderr, e.Exit = d.s.w.text(out.Stdout), d.s.w.text(out.Stderr), out.ExitCode
	d.s.finish(e, err)
	return out, err
}

// Unrecorded implements device.Unrecorded: calls are noted for the record, and not replayed.
func (d *recordedDevice) Unrecorded() device.Device { return &unrecordedDevice{d.Device, d.s} }

type unrecordedDevice struct {
	device.Device
	s *Recorded
}

func (d *unrecordedDevice) Exec(ctx context.Context, command string) (device.Output, error) {
	e := d.s.begin(Entry{Op: Alive, Command: d.s.w.black.String(command)})
	out, err := d.Device.Exec(ctx, command)
	e.TookNS, e.Error = max(int64(d.s.clock.Now())-e.AtNS, 0), d.s.failed(err)
	d.s.w.write(*e)
	return out, err
}

func (d *recordedDevice) Start(ctx context.Context, command string) (device.Process, error) {
	s := d.s
	e := s.begin(Entry{Op: Start, Command: s.w.black.String(command)})
	process, err := d.Device.Start(ctx, command)
	var gated *stream
	if err == nil {
		gated = newStream(func() { _ = process.Close() })
		gated.until(ctx)
		s.mu.Lock()
		s.next++
		e.Stream = s.next
		s.streams[e.Stream] = gated
		s.mu.Unlock()
		go s.pump(e.Stream, process)
	}
	s.finish(e, err)
	if err != nil {
		return nil, err
	}
	return gated, nil
}

// pump reads the output of a process line by line, so that a confidential name is never split.
func (s *Recorded) pump(number int, process device.Process) {
	lines := bufio.NewReaderSize(process.Stdout(), 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			s.arrived(event{stream: number, printed: append([]byte(nil), line...)})
		}
		switch {
		case err == nil || err == bufio.ErrBufferFull:
			continue
		case err == io.EOF:
			err = nil
		}
		exit, waitErr := process.Wait()
		if err != nil {
			waitErr = nil // it is the same error
		}
		s.arrived(event{stream: number, ended: true, err: err, exit: exit, waitErr: waitErr, stderr: process.Stderr()})
		return
	}
}

func (d *recordedDevice) Push(ctx context.Context, src io.Reader, path string, mode fs.FileMode, modified time.Time) error {
	e := d.s.begin(Entry{Op: Push, Path: path, Mode: uint32(mode.Perm())})
	err := d.recordTransfer(func(copy io.Writer) error {
		return d.Device.Push(ctx, io.TeeReader(src, copy), path, mode, modified)
	}, func(t *Text) { e.Files = []File{{SHA256: t.SHA256, Bytes: t.Bytes, Kept: true}} })
	d.s.finish(e, err)
	return err
}

func (d *recordedDevice) Pull(ctx context.Context, path string, dst io.Writer) error {
	e := d.s.begin(Entry{Op: Pull, Path: d.s.w.black.String(path)})
	err := d.recordTransfer(func(copy io.Writer) error {
		return d.Device.Pull(ctx, path, io.MultiWriter(dst, copy))
	}, func(t *Text) { e.Stdout = t })
	d.s.finish(e, err)
	return err
}

// recordTransfer runs a transfer and keeps a copy of its content.
func (d *recordedDevice) recordTransfer(transfer func(copy io.Writer) error, keep func(*Text)) error {
	file, err := os.CreateTemp("", "apkgate-recording-*")
	if err != nil {
		d.s.w.fail(err)
		return transfer(io.Discard)
	}
	defer func() { _, _ = file.Close(), os.Remove(file.Name()) }()
	err = transfer(&bounded{file, maxContent + 1})
	if _, seek := file.Seek(0, io.SeekStart); seek != nil {
		d.s.w.fail(seek)
	} else if text := d.s.w.content(file, true); text != nil {
		keep(text)
	}
	return err
}

// bounded writes the first bytes and drops the rest.
type bounded struct {
	w    io.Writer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	if _, err := b.w.Write(p[:n]); err != nil {
		b.left = 0 // the copy is incomplete, as its size shows
	}
	return len(p), nil
}

func (d *recordedDevice) Install(ctx context.Context, apkFiles ...string) error {
	e := d.s.begin(Entry{Op: Install})
	for _, path := range apkFiles {
		if f, err := fileOf(path); err == nil { // otherwise it can't be installed either
			e.Files = append(e.Files, f)
		}
	}
	err := d.Device.Install(ctx, apkFiles...)
	d.s.finish(e, err)
	return err
}

// fileOf returns the record of a file on this computer.
func fileOf(path string) (File, error) {
	file, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	n, err := io.Copy(sum, file)
	return File{Name: filepath.Base(path), SHA256: hex.EncodeToString(sum.Sum(nil)), Bytes: n}, err
}

func (d *recordedDevice) Uninstall(ctx context.Context, pkg string) error {
	e := d.s.begin(Entry{Op: Uninstall, Command: pkg})
	err := d.Device.Uninstall(ctx, pkg)
	d.s.finish(e, err)
	return err
}
