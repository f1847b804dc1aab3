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

// Push writes src to the path on the device, with the permissions of mode. A zero modified
// means now. Parent directories are created.
func (d *Device) Push(ctx context.Context, src io.Reader, path string, mode fs.FileMode, modified time.Time) error {
	err := d.sync(ctx, path, func(c *call, r *bufio.Reader) error { return push(c, r, src, path, mode, modified) })
	if err != nil {
		return d.failed("writing "+path, err)
	}
	return nil
}

func push(c *call, r *bufio.Reader, src io.Reader, path string, mode fs.FileMode, modified time.Time) error {
	// adbd takes everything before the last comma as the path.
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

// localError is an error on this computer's side of a transfer, unrelated to the device.
type localError struct {
	doing string
	err   error
}

func (e *localError) Error() string { return e.doing + ": " + e.err.Error() }
func (e *localError) Unwrap() error { return e.err }

// refusal returns the reason that the device sent before it stopped reading, or else err.
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
		c.Write(wire.AppendSync(nil, wire.SyncQuit, 0)) // a courtesy: the answer has arrived
		return nil
	}
	return fileFailure(asLossIfSilent(err))
}
