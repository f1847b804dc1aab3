// Package instance is one virtual device of the stand-ins: a simulated phone in a process
// of its own, with adb's port, where it is an emulator the console's too, and a file in
// the lab's folder that says that it runs.
//
// It does not know which tool has booted it. It takes a stand: a phone lives no longer
// than the lab it is of, whatever has become of who booted it; and it runs on its own
// clock, so many seconds to one of this computer's, since nobody is there to move it.
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

// Spec is what a tool asks for.
type Spec struct {
	Name    string // of its file in the folder; no two run with one name
	Profile string // of the simulated phone; "": that of the settings
	Seed    uint64 // of the simulated phone, 1 unless set
	// Options are for an instance in the caller's own process. Rate and Boot.Takes are those
	// of the settings unless set.
	Options  simulator.Options `json:"-"`
	ADB      int               // its port; 0: a free one
	Console  int               // the emulator console's port; 0: it has none
	AVD      string            // what the console calls it
	ID       string            // its id for the console, the AVD's name unless set
	Announce bool              // tell the adb server of it, as an emulator does when it starts
	Detail   map[string]string
}

// Running is an instance that runs.
type Running struct {
	Spec
	PID int
}

// The failures of an instance.
const (
	// FailsToAnswer leaves adb's port without an answer for ever.
	FailsToAnswer = "never-answers"
	// FailsToBoot leaves sys.boot_completed unset for ever.
	FailsToBoot = "never-boots"
	// FailsToEnd has it take no notice of SIGTERM, SIGINT and the console's kill.
	FailsToEnd = "never-ends"
	// DiesBooting ends it while it boots.
	DiesBooting = "dies-booting"
)

// Run is an instance, until it is told to end or the lab is gone. It tells of itself once
// its ports are open.
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

// untilTold waits until the instance is to end.
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

// openConsole opens the emulator's console for whoever has the token of the user's home,
// which is made where there is none, as the emulator does (console_auth.cpp).
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

// announce tells the adb server of a port, as the emulator does when it starts
// (android/emulation/control/AdbInterface, "host:emulator:PORT").
func announce(port int) { _, _ = ask("host:emulator:" + strconv.Itoa(port)) }

// Connect has the adb server connect to a port, as `adb connect HOST:PORT` does, and returns
// what the server says.
func Connect(serial string) (string, error) { return ask("host:connect:" + serial) }

// Disconnect takes back a Connect.
func Disconnect(serial string) (string, error) { return ask("host:disconnect:" + serial) }

// ask asks the adb server that the environment names. Where it names none, nobody is told:
// the server of whoever runs the tests is not ours to speak to.
func ask(request string) (string, error) {
	server := os.Getenv("ANDROID_ADB_SERVER_PORT")
	if server == "" {
		return "", errors.New("ask the adb server: ANDROID_ADB_SERVER_PORT names none")
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
