// Package avd boots devices in the emulator of Android's SDK.
//
// It owns the command lines for avdmanager and the emulator, and the parsing of their output:
// where the programs are, whether this computer has hardware acceleration, the AVD that is
// created for a spec, the ports, the start and all its failures, and the stop. Package program
// runs the programs, package boot defines what all labs have in common, and package console
// controls the emulator's console.
//
// No emulator runs without hardware acceleration, since measurements there mean nothing. No
// licence is accepted on a user's behalf: the error for a missing system image contains the
// command that installs it. An existing AVD is started so that nothing in it changes. An
// emulator counts as stopped only once its process has ended, its ports are closed and adb no
// longer lists it.
package avd

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device/hostprogram"
	"github.com/apkgate/apkgate/device/lab/boot"
)

// Kind is the lab's kind, as leases name it.
const Kind = "avd"

// title is the lab's name in errors.
const title = "the SDK's emulator"

// Computer is the computer that the lab runs on.
type Computer struct {
	Getenv func(string) string
	// Env is added to this process's environment for programs, each "NAME=value".
	Env []string
}

// Lab is the emulator of the SDK in the environment.
type Lab struct {
	computer Computer
	homes    string // the folder with an AVD home for each created AVD
	locks    string // the folder with a lock for each pair of ports in use
	patience patience

	mu      sync.Mutex
	running map[string]*running // by the lease's name
}

// patience is the timeout of each step.
type patience struct {
	boot   time.Duration // from the emulator's start until Android is up
	create time.Duration // of avdmanager
	end    time.Duration // from the console's kill until the process has ended
	term   time.Duration // from SIGTERM until it has ended
	forget time.Duration // until adb no longer lists the device
}

// running is an emulator that this process has started.
type running struct {
	process *hostprogram.Process
	port    *port
}

// New returns the lab of a computer. It checks nothing yet.
func New(c Computer) *Lab {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return &Lab{
		computer: c,
		homes:    filepath.Join(cache, "apkgate", "avd"),
		locks:    filepath.Join(os.TempDir(), "apkgate-ports-"+strconv.Itoa(os.Getuid())),
		patience: patience{boot: 10 * time.Minute, create: 2 * time.Minute, end: 25 * time.Second, term: 5 * time.Second, forget: 15 * time.Second},
		running:  map[string]*running{},
	}
}

// Kind is "avd".
func (l *Lab) Kind() string { return Kind }

// run runs one of the SDK's programs to its end.
func (l *Lab) run(ctx context.Context, path string, env []string, args ...string) (hostprogram.Result, error) {
	return hostprogram.Run(ctx, hostprogram.Command{Path: path, Args: args, Env: l.environment(env...)})
}

// environment returns the variables that are added for the SDK's programs.
func (l *Lab) environment(more ...string) []string {
	return append(append([]string{}, l.computer.Env...), more...)
}

// failure returns the error of a boot that a retry will not fix.
func failure(what, advice string) *boot.Error {
	return &boot.Error{Lab: title, What: what, Advice: advice}
}

// retryable returns the error of a boot that a retry may fix.
func retryable(what, advice string) *boot.Error {
	return &boot.Error{Lab: title, What: what, Advice: advice, Retry: true}
}
