// Package instance runs one virtual device of the stand-ins: a simulated phone in a process of
// its own, with adb's port, for an emulator also the console's, and a file in the lab's folder
// while it is running.
//
// It does not know which tool has booted it. A phone never outlives its lab, even if the
// process that booted it has died. It runs on its own clock, at a fixed rate to this
// computer's, since no caller advances it.
package instance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/console"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// Spec is a tool's request.
type Spec struct {
	Name    string // of its file in the folder; running instances have different names
	Profile string // of the simulated phone; "": the one in the settings
	Seed    uint64 // of the simulated phone; 1 by default
	// Options are for an instance in the caller's own process. Rate and Boot.Takes default to
	// the settings.
	Options  simulator.Options `json:"-"`
	ADB      int               // its port; 0: a free one
	Console  int               // the port of the emulator's console; 0: none
	AVD      string            // its name in the console
	ID       string            // its id in the console; the AVD's name by default
	Announce bool              // announce it to the adb server, like a starting emulator
	Detail   map[string]string
}

// Running is a running instance.
type Running struct {
	Spec
	PID int
}

// The failures of an instance.
const (
	// FailsToAnswer makes adb's port never answer.
	FailsToAnswer = "never-answers"
	// FailsToBoot keeps sys.boot_completed unset for ever.
	FailsToBoot = "never-boots"
	// FailsToEnd makes it ignore SIGTERM, SIGINT and the console's kill.
	FailsToEnd = "never-ends"
	// DiesBooting makes it exit during the boot.
	DiesBooting = "dies-booting"
)

// Run runs an instance until it is told to end or the lab is gone. ready is called once its
// ports are open.
func Run(folder state.Folder, spec Spec, ready func(Running) error) error {
	settings, err := folder.Settings()
	if err != nil {
		return err
	}
	spec.Profile = cmp.Or(spec.Profile, settings.Profile)
	spec.Seed = cmp.Or(spec.Seed, 1)
	spec.Options.Rate = cmp.Or(spec.Options.Rate, settings.Rate)
	boots := cmp.Or(spec.Options.Boot.Takes, settings.Boots)
	spec.Options.Boot.Takes, spec.Options.Boot.Silent = boots, boots/2
	switch {
	case folder.Fails(FailsToAnswer):
		spec.Options.Boot.Silent = 1000 * time.Hour
	case folder.Fails(FailsToBoot):
		spec.Options.Boot.Never = true
	}
	dies := folder.Fails(DiesBooting)

	listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(spec.ADB))
	if err != nil {
		return fmt.Errorf("listen for adb to %s: %w", spec.Name, err)
	}
	spec.ADB = listener.Addr().(*net.TCPAddr).Port
	phone, err := simulator.StartAt(listener, spec.Profile, spec.Seed, spec.Options)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer phone.Close()

	ending, end := context.WithCancel(context.Background())
	defer end()
	if spec.Console > 0 {
		if err := openConsole(ending, end, phone, spec, folder.Fails); err != nil {
			return err
		}
	}
	running := Running{spec, os.Getpid()}
	if err := folder.Save(fileOf(spec.Name), running); err != nil {
		return err
	}
	defer os.Remove(folder.Path(fileOf(spec.Name)))
	if spec.Announce {
		announce(spec.ADB)
	}
	if err := ready(running); err != nil {
		return err
	}
	if dies {
		time.Sleep(time.Duration(float64(boots/2) / spec.Options.Rate))
		return errors.New("the instance died while it booted")
	}
	untilTold(ending, folder)
	return nil
}

// untilTold waits until the instance has to end.
func untilTold(ending context.Context, folder state.Folder) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ending.Done():
			return
		case <-signals:
			if !folder.Fails(FailsToEnd) {
				return
			}
		case <-look.C:
			if folder.Gone() {
				return
			}
		}
	}
}

// openConsole opens the emulator's console for clients with the token in the user's home,
// which is created if there is none, as by the emulator (console_auth.cpp).
func openConsole(ending context.Context, end func(), s *simulator.Simulated, spec Spec, fails func(string) bool) error {
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	token := filepath.Join(home, ".emulator_console_auth_token")
	if _, err := os.Stat(token); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(token, []byte("standin"+strconv.Itoa(os.Getpid())), 0o600); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(spec.Console))
	if err != nil {
		return fmt.Errorf("listen for the console of %s: %w", spec.Name, err)
	}
	context.AfterFunc(ending, func() { _ = listener.Close() })
	emulator := &console.Emulator{Name: spec.AVD, ID: spec.ID, TokenFile: token, OnNetwork: s.Phone.Emulate, OnBattery: s.Phone.Charge,
		OnKill: func() {
			if !fails(FailsToEnd) {
				end()
			}
		}}
	go func() { _ = emulator.Serve(listener) }()
	return nil
}

// announce announces a port to the adb server, like a starting emulator
// (android/emulation/control/AdbInterface, "host:emulator:PORT").
func announce(port int) { _, _ = ask("host:emulator:" + strconv.Itoa(port)) }

// Connect makes the adb server connect to a port, like `adb connect HOST:PORT`, and returns
// the server's answer.
func Connect(serial string) (string, error) { return ask("host:connect:" + serial) }

// Disconnect reverts a Connect.
func Disconnect(serial string) (string, error) { return ask("host:disconnect:" + serial) }

// ask sends a request to the adb server in the environment. Without one it does nothing: the
// adb server of the user who runs the tests must not be used.
func ask(request string) (string, error) {
	server := os.Getenv("ANDROID_ADB_SERVER_PORT")
	if server == "" {
		return "", errors.New("send a request to the adb server: ANDROID_ADB_SERVER_PORT is not set")
	}
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+server, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "%04x%s", len(request), request); err != nil {
		return "", err
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	answer, err := io.ReadAll(conn)
	if len(answer) < 8 || string(answer[:4]) != "OKAY" {
		return "", fmt.Errorf("ask the adb server for %s: %q, %v", request, answer, err)
	}
	return string(answer[8:]), nil
}

func fileOf(name string) string { return filepath.Join("instances", name+".json") }
