// Package avd boots devices in the emulator of Android's SDK.
//
// It owns everything that is said to avdmanager and to the emulator, and what they answer:
// where the programs are, whether this computer can run an emulator fast, the virtual
// device that is created for a description, the ports, the start with all the ways in
// which it fails, and the end. What is true of every program is package program's, of every
// boot package boot's; the emulator's console is package console's.
//
// It takes a stand: no emulator runs without hardware acceleration, since nothing that is
// measured there says anything; no licence is accepted for anybody, so that a system image
// that is not installed is named with what to type; an AVD that was there before is started
// so that nothing of it changes; and an emulator is stopped only once its process is gone,
// its ports are closed and adb misses it.
package avd

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/program"
)

// Kind is the lab's kind, as leases name it.
const Kind = "avd"

// inSentences is how errors call the lab.
const inSentences = "the SDK's emulator"

// Computer is what the lab runs on.
type Computer struct {
	Getenv func(string) string
	// Env is what programs get in their environment beside this process's own, each
	// "NAME=value".
	Env []string
}

// Lab is the emulator of the SDK that the environment names.
type Lab struct {
	computer Computer
	homes    string // the folder with a home of AVDs for each that is created
	locks    string // the folder with a lock for each pair of ports in use
	patience patience

	mu      sync.Mutex
	running map[string]*running // by the lease's name
}

// patience is how long each step may take.
type patience struct {
	boot   time.Duration // from the emulator's start until Android is up
	create time.Duration // of avdmanager
	end    time.Duration // from the console's kill until the process is gone
	term   time.Duration // from SIGTERM until it is gone
	forget time.Duration // until adb misses the device
}

// running is an emulator that this process has started.
type running struct {
	process *program.Process
	port    *port
}

// New is the lab of a computer. It looks at nothing yet.
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
func (l *Lab) run(ctx context.Context, path string, env []string, args ...string) (program.Result, error) {
	return program.Run(ctx, program.Command{Path: path, Args: args, Env: l.environment(env...)})
}

// environment is what the SDK's programs get beside this process's own.
func (l *Lab) environment(more ...string) []string {
	return append(append([]string{}, l.computer.Env...), more...)
}

// failure is the error of a boot that a further one won't help.
func failure(what, advice string) *boot.Error {
	return &boot.Error{Lab: inSentences, What: what, Advice: advice}
}

// passing is the error of a boot that a further one may help.
func passing(what, advice string) *boot.Error {
	return &boot.Error{Lab: inSentences, What: what, Advice: advice, Retry: true}
}
