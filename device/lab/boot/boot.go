// Package boot is what every lab has in common: what is asked of one that boots virtual
// devices, and what it answers.
//
// It owns the description of a device that is to be booted, the interface of a lab, and
// the error by which a boot fails. It boots nothing: package device/lab/avd knows the SDK's
// emulator, and device/lab/genymotion its own.
//
// It takes a stand: a lab notes in a lease what it is about to create before it creates
// it, so that Stop works from the lease alone, in another process, after a kill at any
// instant; and Stop has done its work only once the instance is proved to be gone.
package boot

import (
	"context"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/lease"
)

// Spec describes the device that is to be booted. What is zero is the lab's to choose;
// what a lab can't choose or set it says, and does not pass over in silence.
type Spec struct {
	Name     string // the configuration's, for messages: "pixel #2"
	Kind     string // the lab's
	Existing string // an AVD or instance that is there and stays: none is created
	Model    string // "pixel_6", "Google Pixel 3", or the recipe of a cloud
	Android  string // "34", or "11.0" where a lab counts in versions
	Image    string // the SDK's system image: "google_apis"
	ABI      string // "x86_64"

	Width, Height int // of the screen, in pixels
	Density       int // in dots per inch
	RAMMiB        int
	Cores         int

	GPU      string // how the emulator draws: "auto", "host", "swiftshader_indirect"
	Snapshot string // to boot from; "" for a cold boot

	BatteryPercent int // 0 for as it comes
	Minutes        int // after which a cloud stops the instance by itself; 0 for its own limit
}

// Lab boots virtual devices of one kind. Its methods may be called from several
// goroutines.
type Lab interface {
	// Kind is the lab's key in a configuration: "avd".
	Kind() string
	// Check looks at whether this computer can boot such devices: programs and their
	// versions, licences, acceleration. It changes nothing.
	Check(ctx context.Context) []device.Finding
	// Boot returns once Android is up and answers. What it creates it names after the
	// lease, and notes there first; after an error the caller calls Stop with the lease
	// as after a run. tell is told of progress, a line at a time. The error is an *Error,
	// or that of ctx.
	Boot(ctx context.Context, spec Spec, held *lease.Held, tell func(string)) (*Booted, error)
	// Stop stops and deletes what the lease names, and returns once that is proved to be
	// gone; where nothing is there it is no error. It is bounded in time by itself, and
	// may be called with a lease of a process that died at any instant.
	Stop(ctx context.Context, l lease.Lease, tell func(string)) error
}

// Booted is a device that a lab has booted.
type Booted struct {
	Serial string // as "adb devices" shows it
	// Address is where adbd listens, "127.0.0.1:5555", for computers without adb server;
	// "" where that can't be reached directly.
	Address     string
	ConsolePort int // of the emulator's console on this computer; 0 for none
	// Died is closed when the device has ended by itself; nil where that can't be told.
	Died <-chan struct{}
	// Why is what it said when it died, "" for nothing; nil where Died is.
	Why func() string
}

// Error is why a device could not be booted.
type Error struct {
	Lab    string // how the lab is called in sentences: "the SDK's emulator"
	What   string // what was being done, on what, and what went wrong
	Advice string // what to do about it, "" for nothing
	// Retry says that booting again may help: a port that was taken meanwhile, a start
	// that took too long. No licence and no /dev/kvm come by waiting.
	Retry bool
}

// Error is what went wrong, with the lab.
func (e *Error) Error() string { return e.Lab + ": " + e.What }

// Hint is what to do about it.
func (e *Error) Hint() string { return e.Advice }
