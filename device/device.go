// Package device defines an Android device as the rest of apkgate uses it: a shell, files and
// packages, independent of the protocol (package adb implements adb's).
//
// It owns what is true of every device: the interface, quoting for the device's shell, and the
// check before a run that the device is fit to measure on.
package device

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"
)

// Errors that callers distinguish with errors.Is.
var (
	// ErrGone means that the device or the connection to it is lost: unplugged, offline,
	// rebooting, the adb server killed.
	ErrGone = errors.New("the device is gone")
	// ErrUnauthorized means that the device has not accepted this computer's key.
	ErrUnauthorized = errors.New("the device has not authorized this computer")
)

// Output is what a command printed on the device, and its exit code.
type Output struct {
	Stdout, Stderr []byte
	ExitCode       int
}

// Process is a command that runs on the device.
type Process interface {
	// Stdout is the command's standard output, ended by io.EOF when it exits.
	Stdout() io.Reader
	// Stderr is the first 64 KiB of the command's standard error so far. It is filled while
	// Stdout is read. For devices without shell protocol 2 (Android 6 and older) it is empty,
	// and Stdout contains both.
	Stderr() []byte
	// Wait discards unread output and returns the exit code.
	Wait() (exitCode int, err error)
	// Close ends the stream, which hangs up the command. It may be called at any time.
	Close() error
}

// Device is one device. Every method honours ctx, and an error that means the
// loss of the device wraps ErrGone.
type Device interface {
	// Serial names the device as adb does: "emulator-5554", "10.0.0.7:5555".
	Serial() string
	// Exec runs a command line in the device's shell to its end. Output of more than 64 MiB is
	// an error. Use Quote for every word that is not a constant.
	Exec(ctx context.Context, command string) (Output, error)
	// Start returns once the device has accepted the command.
	Start(ctx context.Context, command string) (Process, error)
	// Push writes src to the path on the device.
	Push(ctx context.Context, src io.Reader, path string, mode fs.FileMode, modified time.Time) error
	// Pull writes the file at the path on the device to dst.
	Pull(ctx context.Context, path string, dst io.Writer) error
	// Install installs an app from one APK file, or from several split APKs, replacing an
	// older version and keeping its data.
	Install(ctx context.Context, apkFiles ...string) error
	// Uninstall removes a package. A package that is not installed is no error.
	Uninstall(ctx context.Context, pkg string) error
	// Close frees the connection.
	Close() error
}

// Clock is the time by which a device is measured: the device's own in a simulated lab,
// otherwise this computer's.
type Clock interface {
	// Now is the time since some fixed instant; it never decreases.
	Now() time.Duration
	// Sleep returns after d has passed on this clock, or with ctx's error.
	Sleep(ctx context.Context, d time.Duration) error
}

// Quote joins words to one command line, each quoted for the device's shell (mksh and toybox
// sh; POSIX single quotes).
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
