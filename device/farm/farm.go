// Package farm defines device farms that take APKs and return a folder of files. There is no
// adb to their phones, a matrix of tests runs on several phones at once, and device time is
// billed by the minute.
//
// It owns the interface that each farm implements, and the cost of its minutes. The caller
// decides which builds are compared, and how often. Package farm/firebase implements Firebase
// Test Lab, farm/aws AWS Device Farm, farm/browserstack BrowserStack App Automate. A new farm
// is a package beside them, and a line in usecase/labs (farms.go).
//
// A farm notes in a lease what it is about to start before it starts it, so that Stop works
// from the lease alone, in another process, after a kill at any instant. Nothing is started
// whose cost has no limit.
package farm

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/lease"
)

// Device is a phone model as the farm names it.
type Device struct {
	Model   string // "oriole"
	Version string // of Android, in the farm's notation: "33"
}

func (d Device) String() string { return d.Model + " " + d.Version }

// Order is one matrix: the same test, once on each of the devices.
type Order struct {
	App, Test string // APK files on this computer
	Package   string // of the test
	Runner    string // the class of the test runner, "" for the one in the test's APK
	Class     string // class or class#method, "" for all of the test
	Args      map[string]string
	Devices   []Device
	Label     string        // shown in the farm's console
	Within    time.Duration // the time limit of the test on a device, in whole minutes
	// Tell receives progress messages during the submission.
	Tell func(string)
}

// File is a file that a test left on the device.
type File struct {
	Name string // the farm's, for messages
	Data []byte
}

// Outcome is the result of a matrix on one device.
type Outcome struct {
	Device Device
	// Problem is why there is no result: "the test failed"; "" if the test passed. TestFailed
	// reports that the app or the test is at fault, not the farm.
	Problem    string
	TestFailed bool
	Results    []File
	// Traces are the Perfetto traces that the test left, none of them fetched yet. TracesLeft
	// counts those beyond the limit of the list.
	Traces     []Trace
	TracesLeft int
	// Minutes are the billed minutes. Known reports that they are the farm's number, rather
	// than the maximum.
	Minutes int
	Known   bool
}

// Trace is a trace that a test left, still stored on the farm.
type Trace struct {
	Name  string // the farm's, for messages; it contains the iteration
	Bytes int64  // less than 0 if the farm does not report it
	// Fetch writes the trace to w. A trace longer than MostTrace is an error. It may be called
	// after the farm's Stop.
	Fetch func(ctx context.Context, w io.Writer) error
}

// MostTrace limits the size of a fetched trace, in bytes.
const MostTrace = 128 << 20

// ErrUnknown is wrapped by an error of Submit after which a matrix may have begun: the farm
// had not reported its number.
var ErrUnknown = errors.New("it is not known whether a matrix was begun")

// UnknownError is an error of Submit that also wraps ErrUnknown.
type UnknownError struct{ Err error }

// Error joins both texts.
func (e *UnknownError) Error() string { return e.Err.Error() + "; " + ErrUnknown.Error() }

// Unwrap returns both errors.
func (e *UnknownError) Unwrap() []error { return []error{e.Err, ErrUnknown} }

// Farm is one device farm. Its methods may be called concurrently.
type Farm interface {
	// Kind is the farm's name in leases: "firebase".
	Kind() string
	// Title is the farm's name in sentences.
	Title() string
	// Noun is the farm's own word for an order: "matrix", "matrices".
	Noun() (one, many string)
	// Check checks whether the farm can be used: programs, account, devices. It starts
	// nothing.
	Check(ctx context.Context, devices []Device) []device.Finding
	// Rates returns the prices of the devices, in their order. The error names devices that
	// the farm does not have.
	Rates(ctx context.Context, devices []Device) ([]Rate, error)
	// Submit starts the matrix, named after the lease. The caller calls Stop after an error as
	// well as after the results. An error that wraps ErrUnknown means that a matrix may run
	// and cost something.
	Submit(ctx context.Context, o Order, held *lease.Held) error
	// Await returns once the matrix has ended, whether it succeeded or not.
	Await(ctx context.Context, o Order, l lease.Lease, tell func(string)) error
	// Results returns the outcome on each device, in the order's order.
	Results(ctx context.Context, o Order, l lease.Lease) ([]Outcome, error)
	// Stop cancels the order in the lease, and returns once it has verifiably ended; it is no
	// error if nothing runs. Stop has its own timeout.
	Stop(ctx context.Context, l lease.Lease, tell func(string)) error
}

// Limited is a farm that does not return all files that a test left.
type Limited interface {
	// Missing describes, in sentences for the reader of a comparison, what is not known there
	// in addition to what no farm reports.
	Missing() string
}
