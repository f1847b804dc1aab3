package adb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb/mux"
	"github.com/apkgate/apkgate/device/adb/wire"
)

// Errors that callers distinguish with errors.Is, in addition to those of package device.
var (
	// ErrSilent means that nothing arrived for as long as Options allow.
	ErrSilent = errors.New("no answer")
	// ErrNoSpace means that the device's storage is full.
	ErrNoSpace = errors.New("no space left on the device")
	// ErrNoServer means that no adb server listens at the address. The error also wraps
	// device.ErrGone.
	ErrNoServer = errors.New("no adb server")
)

// serverLost is the loss of the adb server, and with it of the connection to every device. It
// matches device.ErrGone, although no device need be lost.
type serverLost struct{ error }

func (l serverLost) Is(target error) bool { return target == device.ErrGone }
func (l serverLost) Unwrap() error        { return l.error }

// hinted is an error with advice for the user, which is not part of the error's text. Callers
// find it with errors.As on interface{ Hint() string }.
type hinted struct {
	error
	hint string
}

func (h *hinted) Hint() string  { return h.hint }
func (h *hinted) Unwrap() error { return h.error }

func withHint(err error, hint string) error { return &hinted{err, hint} }

// asLoss marks err as the loss of the device where the connection broke or the peer broke the
// protocol.
func asLoss(err error) error {
	var network net.Error
	var local *localError
	switch {
	case err == nil,
		errors.As(err, &local),
		errors.Is(err, device.ErrGone),
		errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the connection ended in the middle: %w", device.ErrGone, err)
	case errors.As(err, &network),
		errors.Is(err, io.ErrClosedPipe),
		errors.Is(err, mux.ErrClosed),
		errors.Is(err, wire.ErrMalformed):
		return fmt.Errorf("%w: %w", device.ErrGone, err)
	}
	return err
}

// asLossIfSilent is asLoss for answers of adb itself, where silence also means a loss.
func asLossIfSilent(err error) error {
	if errors.Is(err, ErrSilent) && !errors.Is(err, device.ErrGone) {
		return fmt.Errorf("%w: %w", device.ErrGone, err)
	}
	return asLoss(err)
}

// silence returns the error for d without an answer.
func silence(d time.Duration) error { return fmt.Errorf("%w for %v", ErrSilent, d) }

// deviceFailure maps a failure that the adb server reports to an error about the device.
func deviceFailure(err error) error {
	var failure *wire.HostFailure
	if !errors.As(err, &failure) {
		return err
	}
	text := strings.TrimSpace(failure.Text)
	switch {
	case strings.Contains(text, "unauthorized"), strings.Contains(text, "still authorizing"):
		return withHint(fmt.Errorf("%w: %w", device.ErrUnauthorized, failure), authorizeHint)
	case strings.Contains(text, "more than one"):
		return withHint(failure, "name the device: set ANDROID_SERIAL to a serial that `adb devices` lists")
	case strings.Contains(text, "not found"), strings.Contains(text, "offline"),
		strings.Contains(text, "still connecting"), strings.Contains(text, "no devices"):
		return withHint(fmt.Errorf("%w: %w", device.ErrGone, failure), "see what `adb devices` lists; a device there as offline comes back by unplugging it or by `adb reconnect`")
	}
	return failure
}

// fileFailure maps a failure that a device reports to an error about a file.
func fileFailure(err error) error {
	var failure *wire.SyncFailure
	if !errors.As(err, &failure) {
		return err
	}
	for _, known := range []struct {
		errno wire.Errno
		is    error
	}{
		{wire.ENOENT, fs.ErrNotExist},
		{wire.EACCES, fs.ErrPermission},
		{wire.ENOSPC, ErrNoSpace},
	} {
		if strings.HasSuffix(failure.Text, known.errno.Error()) {
			return fmt.Errorf("%w: %w", known.is, failure)
		}
	}
	return failure
}
