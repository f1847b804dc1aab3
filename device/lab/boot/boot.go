// Package boot defines labs, which boot virtual devices: their interface, the description of a
// device, and their errors.
//
// It owns what all labs have in common. It boots nothing itself: package device/lab/avd boots
// the SDK's emulator, and device/lab/genymotion Genymotion's devices.
//
// A lab notes in a lease what it is about to create before it creates it, so that Stop works
// from the lease alone, in another process, after a kill at any instant. Stop returns only
// once the instance has verifiably ended.
package boot

import (
	"context"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/lease"
)

// Spec describes a device to boot. The lab chooses the fields that are zero. A field that a
// lab can't choose or set is reported, and never ignored silently.
type Spec struct {
	Name     string // the configuration's, for messages: "pixel #2"
	Kind     string // the lab's
	Existing string // an existing AVD or instance to use, which is kept: none is created
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

	BatteryPercent int // 0 for the default
	Minutes        int // after which a cloud stops the instance itself; 0 for the cloud's limit
}

// Lab boots virtual devices of one kind. Its methods may be called concurrently.
type Lab interface {
	// Kind is the lab's key in a configuration: "avd".
	Kind() string
	// Check checks whether this computer can boot such devices: programs and their versions,
	// licences, acceleration. It changes nothing.
	Check(ctx context.Context) []device.Finding
	// Boot returns once Android is up and answers. What it creates is named after the lease,
	// and noted there first. The caller calls Stop with the lease after an error as well as
	// after a run. tell is called with each line of progress. The error is an *Error, or that
	// of ctx.
	Boot(ctx context.Context, spec Spec, held *lease.Held, tell func(string)) (*Booted, error)
	// Stop stops and deletes what the lease names, and returns once that has verifiably ended;
	// it is no error if nothing is left. It has its own timeout, and accepts the lease of a
	// process that died at any instant.
	Stop(ctx context.Context, l lease.Lease, tell func(string)) error
}

// Booted is a device that a lab has booted.
type Booted struct {
	Serial string // as "adb devices" shows it
	// Address is where adbd listens, "127.0.0.1:5555", for computers without an adb server; ""
	// if it can't be connected to directly.
	Address     string
	ConsolePort int // of the emulator's console on this computer; 0 for none
	// Died is closed when the device has ended by itself; nil if that can't be detected.
	Died <-chan struct{}
	// Why returns the device's last message after its death, "" for none; nil where Died is.
	Why func() string
}

// Error is why a device could not be booted.
type Error struct {
	Lab    string // the lab's name in sentences: "the SDK's emulator"
	What   string // the operation, its object, and what went wrong
	Advice string // what to do about it, "" for nothing
	// Retry reports that booting again may help: a port was taken, or a start took too long. A
	// missing licence or /dev/kvm will not appear by waiting.
	Retry bool
}

// Error is what went wrong, with the lab's name.
func (e *Error) Error() string { return e.Lab + ": " + e.What }

// Hint is what to do about it.
func (e *Error) Hint() string { return e.Advice }
