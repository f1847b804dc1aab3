// Package device is one Android device as the rest of apkgate sees it: a shell,
// files and packages, whatever carries them (package adb is the protocol).
//
// It owns what is true of every device: the interface, quoting for the device's
// shell, and the check before a run that the device is fit to measure on.
package device

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"
)

// Errors that callers tell apart with errors.Is.
var (
	// ErrGone says that the device or the way to it is lost: unplugged,
	// offline, rebooting, the adb server killed.
	ErrGone = errors.New("the device is gone")
	// ErrUnauthorized says that the device has not accepted this computer's key.
	ErrUnauthorized = errors.New("the device has not authorized this computer")
)

// Output is what a command on the device printed and how it ended.
type Output struct {
	Stdout, Stderr []byte
	ExitCode       int
}

// Process is a command that runs on the device.
type Process interface {
	// Stdout is the command's standard output, ended by io.EOF when it exits.
	Stdout() io.Reader
	// Stderr is what came on its standard error so far, the first 64 KiB. It is
	// filled while Stdout is read. Of devices without shell protocol 2 (Android 6
	// and older) it is empty: there Stdout holds both.
	Stderr() []byte
	// Wait drains what is unread and returns the exit code.
	Wait() (exitCode int, err error)
	// Close ends the stream, which hangs the command up. It may be called at any time.
	Close() error
}

// Device is one device. Every method honours ctx, and an error that means the
// loss of the device wraps ErrGone.
type Device interface {
	// Serial names the device as adb does: "emulator-5554", "10.0.0.7:5555".
	Serial() string
	// Exec runs a command line in the device's shell to its end. Output beyond
	// 64 MiB is an error. Use Quote for every word that is not a constant.
	Exec(ctx context.Context, command string) (Output, error)
	// Start returns once the device has accepted the command.
	Start(ctx context.Context, command string) (Process, error)
	// Push writes src to the path on the device.
	Push(ctx context.Context, src io.Reader, path string, mode fs.FileMode, modified time.Time) error
	// Pull writes the file at the path on the device to dst.
	Pull(ctx context.Context, path string, dst io.Writer) error
	// Install installs an APK file, or the several that make up one app, replacing an
	// older one and keeping its data.
	Install(ctx context.Context, apkFiles ...string) error
	// Uninstall removes a package; one that is not there is no error.
	Uninstall(ctx context.Context, pkg string) error
	// Close frees the connection.
	Close() error
}

// Clock is the time by which a device is measured: a device's own in a
// simulated lab, this computer's otherwise.
type Clock interface {
	// Now is the time since some fixed instant; it never goes back.
	Now() time.Duration
	// Sleep returns after d has passed on this clock, or with ctx's error.
	Sleep(ctx context.Context, d time.Duration) error
}

// Quote makes one command line of words, each safe from the device's shell
// (mksh and toybox sh; POSIX single quotes).
func Quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

func quote(word string) string {
	plain := word != ""
	for _, r := range word {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,@%+=", r) {
			plain = false
			break
		}
	}
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
