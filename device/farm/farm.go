// Package farm is what device farms have in common that take APKs and give back a folder:
// there is no adb to their phones, a matrix of tests runs on several at once, and it is paid
// for by the minute.
//
// It owns what is asked of a farm, in the interface that each implements, and what its
// minutes cost. Which builds are measured against which, and how often, is the caller's;
// package farm/firebase knows Firebase Test Lab, farm/aws AWS Device Farm. A new farm is a
// package beside them, and a line in usecase/labs (farms.go).
//
// It takes a stand: a farm notes in a lease what it is about to start before it starts it, so
// that Stop works from the lease alone, in another process, after a kill at any instant; and
// nothing is started whose cost is not bounded beforehand.
package farm

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/lease"
)

// Device is a kind of phone as the farm names it.
type Device struct {
	Model   string // "oriole"
	Version string // of Android, as the farm counts: "33"
}

func (d Device) String() string { return d.Model + " " + d.Version }

// Order is one matrix: the same test on each of the devices, once.
type Order struct {
	App, Test string // APK files of this computer
	Package   string // of the test
	Runner    string // the class of the test runner, "" for what the test's APK says
	Class     string // class or class#method, "" for all of the test
	Args      map[string]string
	Devices   []Device
	Label     string        // by which a person finds it in the farm's console
	Within    time.Duration // the longest that the test may take on a device, in whole minutes
	// Tell takes what goes on while it is submitted.
	Tell func(string)
}

// File is one that a test has left.
type File struct {
	Name string // the farm's, for messages
	Data []byte
}

// Outcome is what came of a matrix on one device.
type Outcome struct {
	Device Device
	// Problem is why nothing can be taken from it: "the test failed"; "" where it passed.
	// TestFailed says that the app or the test is why, and not the farm.
	Problem    string
	TestFailed bool
	Results    []File
	// Traces are those of Perfetto that the test has left, of which nothing is fetched yet;
	// TracesLeft counts those that are beyond what is listed.
	Traces     []Trace
	TracesLeft int
	// Minutes are those that are paid for; Told says that the farm told, and that they are
	// not the most that it can have been.
	Minutes int
	Told    bool
}

// Trace is a file that a test has left, and that lies on the farm still.
type Trace struct {
	Name  string // the farm's, for messages and for the iteration in it
	Bytes int64  // less than 0 where the farm does not tell
	// Fetch writes it to w, MostTrace bytes at most: of a longer one it is an error. It may
	// be called after the farm's Stop.
	Fetch func(ctx context.Context, w io.Writer) error
}

// MostTrace bounds a trace that is fetched, in bytes.
const MostTrace = 128 << 20

// ErrUntold is in an error of Submit after which it is not known whether a matrix was begun:
// the farm had not told its number yet.
var ErrUntold = errors.New("it is not known whether a matrix was begun")

// UntoldError is an error of Submit with ErrUntold in it.
type UntoldError struct{ Err error }

// Error is what went wrong, and that.
func (e *UntoldError) Error() string { return e.Err.Error() + "; " + ErrUntold.Error() }

// Unwrap returns both.
func (e *UntoldError) Unwrap() []error { return []error{e.Err, ErrUntold} }

// Farm is one device farm. Its methods may be called from several goroutines.
type Farm interface {
	// Kind is the farm's in leases: "firebase".
	Kind() string
	// Title is the farm's in sentences.
	Title() string
	// Noun is what the farm itself calls an order: "matrix", "matrices".
	Noun() (one, many string)
	// Check looks whether the farm can be used from here: programs, account, devices. It
	// starts nothing.
	Check(ctx context.Context, devices []Device) []device.Finding
	// Rates are what the devices cost, in their order. An error names those that the farm
	// has not.
	Rates(ctx context.Context, devices []Device) ([]Rate, error)
	// Submit has the matrix begun, which it names after the lease. After an error the
	// caller calls Stop, as after the results; ErrUntold says that it may cost something.
	Submit(ctx context.Context, o Order, held *lease.Held) error
	// Await returns once the matrix has come to its end, whatever that is.
	Await(ctx context.Context, o Order, l lease.Lease, tell func(string)) error
	// Results are those of each device of the order, in its order.
	Results(ctx context.Context, o Order, l lease.Lease) ([]Outcome, error)
	// Stop cancels what the lease names, and returns once it is proved to have ended; where
	// nothing runs it is no error. It is bounded in time by itself.
	Stop(ctx context.Context, l lease.Lease, tell func(string)) error
}

// Limited is a farm that gives back less than the files that a test has left.
type Limited interface {
	// Missing is what is not known of a comparison there beyond what no farm tells, as
	// sentences for whoever reads it.
	Missing() string
}
