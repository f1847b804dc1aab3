package adb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/apkgate/apkgate/device/adb/wire"
)

// FileInfo is what a device tells of a file.
type FileInfo struct {
	Name     string      // the last part of the path, or the path that was asked for
	Mode     fs.FileMode // permissions, and directory, symbolic link or irregular
	Size     int64       // bytes
	Modified time.Time   // to the second
}

// Push writes src to the path on the device, with the permissions of mode. A
// zero modified means now. Parent directories are made.
func (d *Device) Push(ctx context.Context, src io.Reader, path string, mode fs.FileMode, modified time.Time) error {
	err := d.sync(ctx, path, func(c *call, r *bufio.Reader) error { return push(c, r, src, path, mode, modified) })
	if err != nil {
		return d.failed("writing "+path, err)
	}
	return nil
}

func push(c *call, r *bufio.Reader, src io.Reader, path string, mode fs.FileMode, modified time.Time) error {
	// The path is what stands before the last comma.
	request := fmt.Sprintf("%s,%d", path, wire.RegularMode(mode))
	if _, err := c.Write(wire.AppendSyncString(nil, wire.SyncSend, request)); err != nil {
		return refusal(r, err)
	}
	if err := sendData(c, r, src); err != nil {
		return err
	}
	if modified.IsZero() {
		modified = time.Now()
	}
	if _, err := c.Write(wire.AppendSync(nil, wire.SyncDone, uint32(modified.Unix()))); err != nil {
		return refusal(r, err)
	}
	return readOkay(r)
}

func sendData(c *call, r *bufio.Reader, src io.Reader) error {
	const header = 8
	frame := make([]byte, header+wire.MaxSyncData)
	for {
		n, err := src.Read(frame[header:])
		if n > 0 {
			wire.AppendSync(frame[:0], wire.SyncData, uint32(n))
			if _, err := c.Write(frame[:header+n]); err != nil {
				return refusal(r, err)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &localError{"reading what to send", err}
		}
	}
}

// localError is about this side's end of a transfer, and says nothing of the device.
type localError struct {
	doing string
	err   error
}

func (e *localError) Error() string { return e.doing + ": " + e.err.Error() }
func (e *localError) Unwrap() error { return e.err }

// refusal is why the device stopped listening, where it said so, and else err.
func refusal(r *bufio.Reader, err error) error {
	if errors.Is(err, ErrSilent) {
		return err
	}
	var failure *wire.SyncFailure
	if said := readOkay(r); errors.As(said, &failure) {
		return said
	}
	return err
}

func readOkay(r *bufio.Reader) error {
	id, size, err := wire.ReadSync(r)
	switch {
	case err != nil:
		return err
	case id == wire.SyncOkay:
		return nil
	case id == wire.SyncFail:
		return wire.ReadSyncFailure(r, size)
	}
	return fmt.Errorf("%w: %q, want OKAY or FAIL", wire.ErrMalformed, id[:])
}

// Pull writes the file at the path on the device to dst.
func (d *Device) Pull(ctx context.Context, path string, dst io.Writer) error {
	err := d.sync(ctx, path, func(c *call, r *bufio.Reader) error { return pull(c, r, path, dst) })
	if err != nil {
		return d.failed("reading "+path, err)
	}
	return nil
}

func pull(c *call, r *bufio.Reader, path string, dst io.Writer) error {
	if _, err := c.Write(wire.AppendSyncString(nil, wire.SyncRecv, path)); err != nil {
		return refusal(r, err)
	}
	data := make([]byte, wire.MaxSyncData)
	for {
		id, size, err := wire.ReadSync(r)
		switch {
		case err != nil:
			return err
		case id == wire.SyncDone:
			return nil
		case id == wire.SyncFail:
			return wire.ReadSyncFailure(r, size)
		case id != wire.SyncData || size > wire.MaxSyncData:
			return fmt.Errorf("%w: %q with %d bytes, want DATA with at most %d", wire.ErrMalformed, id[:], size, wire.MaxSyncData)
		}
		if _, err := io.ReadFull(r, data[:size]); err != nil {
			return err
		}
		if _, err := dst.Write(data[:size]); err != nil {
			return &localError{"keeping what was received", err}
		}
	}
}

// Stat tells of the file at the path, itself where it is a symbolic link. Where
// there is none, the error wraps fs.ErrNotExist.
func (d *Device) Stat(ctx context.Context, path string) (FileInfo, error) {
	stat2, err := d.has(ctx, wire.FeatureStat2)
	var s wire.Stat
	if err == nil {
		err = d.sync(ctx, path, func(c *call, r *bufio.Reader) (err error) {
			c.allow(d.options.ReplyTimeout)
			s, err = stat(c, r, path, stat2)
			return err
		})
	}
	if err == nil && s.Error != 0 {
		err = s.Error
	}
	if err != nil {
		return FileInfo{}, d.failed("looking at "+path, err)
	}
	return fileInfo(path, s), nil
}

func stat(c *call, r *bufio.Reader, path string, version2 bool) (wire.Stat, error) {
	want, read := wire.SyncStat, wire.ReadStat
	if version2 {
		want, read = wire.SyncLstat, wire.ReadStat2
	}
	if _, err := c.Write(wire.AppendSyncString(nil, want, path)); err != nil {
		return wire.Stat{}, refusal(r, err)
	}
	var id wire.SyncID
	if _, err := io.ReadFull(r, id[:]); err != nil {
		return wire.Stat{}, err
	}
	if id != want {
		return wire.Stat{}, fmt.Errorf("%w: %q, want %q", wire.ErrMalformed, id[:], want[:])
	}
	return read(r)
}

func fileInfo(name string, s wire.Stat) FileInfo {
	return FileInfo{Name: name, Mode: s.FileMode(), Size: int64(s.Size), Modified: s.Modified}
}

// maxEntries bounds the entries of a directory.
const maxEntries = 1 << 20

// List lists the directory at the path, without "." and "..". The device tells
// of one that it can't read as if it were empty.
func (d *Device) List(ctx context.Context, path string) ([]FileInfo, error) {
	var entries []FileInfo
	err := d.sync(ctx, path, func(c *call, r *bufio.Reader) error {
		if _, err := c.Write(wire.AppendSyncString(nil, wire.SyncList, path)); err != nil {
			return refusal(r, err)
		}
		for {
			name, s, more, err := wire.ReadEntry(r)
			if err != nil || !more {
				return err
			}
			if len(entries) == maxEntries {
				return fmt.Errorf("%w: more than %d entries", wire.ErrMalformed, maxEntries)
			}
			if name != "." && name != ".." {
				entries = append(entries, fileInfo(name, s))
			}
		}
	})
	if err != nil {
		return nil, d.failed("listing "+path, err)
	}
	return entries, nil
}

// sync opens the sync service, for one request about the path.
func (d *Device) sync(ctx context.Context, path string, do func(c *call, r *bufio.Reader) error) error {
	if most := wire.MaxSyncPath - len(",32768"); len(path) > most {
		return fmt.Errorf("a path of %d bytes, at most %d allowed", len(path), most)
	}
	c, err := d.open(ctx, "sync:")
	if err != nil {
		return err
	}
	defer c.Close()
	err = do(c, bufio.NewReaderSize(c, 64<<10))
	if err == nil {
		c.Write(wire.AppendSync(nil, wire.SyncQuit, 0)) // a courtesy: the answer is had
		return nil
	}
	return fileFailure(unanswered(err))
}
