package setup_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/simulator/standin/genymotion"
	"github.com/apkgate/apkgate/usecase/exit"
)

// yard is a computer with the programs that boot devices, on which apkgate runs.
type yard struct {
	*standin.Lab
	t   *testing.T
	dir string // where apkgate works
}

func newYard(t *testing.T) yard {
	t.Helper()
	return yard{standin.New(t, standin.Options{Boots: 50 * time.Millisecond}), t, clitest.NewLab(t, "demo-good", "").Dir}
}

// command is apkgate as a process of the yard.
func (y yard) command(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		y.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Dir = y.dir
	cmd.Env = append(y.Environment(), clitest.CommandLine+"="+strings.Join(args, "\n"))
	return cmd
}

func (y yard) apkgate(args ...string) (status int, said string) {
	y.t.Helper()
	cmd := y.command(args...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		y.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// leases is the folder of the yard's leases.
func (y yard) leases() string { return y.Path("cache", "apkgate", "leases") }

func (y yard) configure(devices string) {
	y.t.Helper()
	clitest.WriteFile(y.t, filepath.Join(y.dir, "apkgate.yml"), fmt.Sprintf(clitest.LabConfig, "demo-good", "wifi", devices))
}

// killedCollect boots the devices of the configuration with apkgate collect, and kills it once so
// many run.
func (y yard) killedCollect(devices int) {
	y.t.Helper()
	cmd := y.command("collect", "--parallel", "3")
	if err := cmd.Start(); err != nil {
		y.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	for y.booted() < devices || len(y.Instances()) < devices {
		select {
		case <-ended:
			y.t.Fatalf("it ended with %v while %d devices ran", cmd.ProcessState, y.booted())
		case <-time.After(5 * time.Millisecond):
		}
	}
	_ = cmd.Process.Kill()
	<-ended
}

// booted counts the devices whose lease says that they were started: cleaning up one that is still
// being requested takes longer than a test should.
func (y yard) booted() (n int) {
	y.t.Helper()
	leases, err := lease.List(y.leases())
	if err != nil {
		y.t.Fatal(err)
	}
	for _, l := range leases {
		if l.Detail["uuid"] != "" || l.Detail["started"] != "" || l.Detail["process"] != "" {
			n++
		}
	}
	return n
}

const oneOfEach = `
- {name: desk, genymotion: {model: Google Pixel 3, android: "11.0"}}
- {name: mine, genymotion: {name: Mine}}
- {name: cloud, genymotion-saas: {recipe: Google Pixel 3, android: "11.0", minutes: 5}}
`

// What a killed apkgate has booted is listed, stopped and deleted, of every kind of lab; a second
// time there is nothing to do.
func TestCleanStopsBootedDevices(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	if _, err := genymotion.AddMachine(y.Folder, "Mine"); err != nil {
		t.Fatal(err)
	}
	y.configure(oneOfEach)
	y.killedCollect(3)
	leases, err := lease.List(y.leases())
	if err != nil || len(leases) != 3 {
		t.Fatalf("leases %+v, %v; want 3", leases, err)
	}
	_, said := y.apkgate("devices")
	for _, l := range leases {
		if !strings.Contains(said, l.ID) || !strings.Contains(said, "no running apkgate: apkgate devices clean stops it") {
			t.Errorf("apkgate devices says nothing of %s:\n%s", l.ID, said)
		}
	}
	if status, said := y.apkgate("devices", "clean", "--dry-run"); status != exit.StatusPass || strings.Count(said, "would be stopped") != 3 || len(y.Instances()) != 3 {
		t.Errorf("a dry run ends with %d, leaves %d devices and says\n%s", status, len(y.Instances()), said)
	}
	status, said := y.apkgate("devices", "clean")
	if status != exit.StatusPass {
		t.Errorf("it ends with %d", status)
	}
	for _, l := range leases {
		if !strings.Contains(said, l.ID+" ("+l.Name+"): nothing of it is left\n") {
			t.Errorf("it doesn't say that %s is gone:\n%s", l.ID, said)
		}
	}
	y.nothingIsLeft("Mine")
	if status, said := y.apkgate("devices", "clean"); status != exit.StatusPass || said != "nothing that apkgate has booted is left\n" {
		t.Errorf("a second time it ends with %d and says\n%s", status, said)
	}
}

const anEmulator = "- {name: pixel, avd: {model: pixel_6, android: 34, abi: x86_64}}\n"

// homes are those of the AVDs that were created in the yard.
func (y yard) homes() (names []string) {
	y.t.Helper()
	entries, err := os.ReadDir(y.Path("cache", "apkgate", "avd"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		y.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// outliving replaces the yard's emulator by a script that starts it: only the script dies with
// apkgate, as on systems whose processes outlive their parents.
func (y yard) outliving() {
	y.t.Helper()
	real, script := y.SDK("emulator", "engine", "emulator"), y.SDK("emulator", "emulator")
	if err := errors.Join(os.MkdirAll(filepath.Dir(real), 0o755), os.Rename(script, real)); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte("#!/bin/sh\n'"+real+"' \"$@\" &\nwait $!\n"), 0o755); err != nil {
		y.t.Fatal(err)
	}
}

// An emulator of a killed apkgate is ended, and the AVD that was created for it deleted, whether it
// died with apkgate or has outlived it.
func TestCleanEndsAnEmulator(t *testing.T) {
	t.Parallel()
	for _, outlives := range []bool{false, true} {
		y := newYard(t)
		if outlives {
			if runtime.GOOS == "windows" {
				continue // no shell
			}
			y.outliving()
		}
		y.configure(anEmulator)
		y.killedCollect(1)
		leases, err := lease.List(y.leases())
		if err != nil || len(leases) != 1 || !slices.Equal(y.homes(), []string{leases[0].ID}) {
			t.Fatalf("leases %+v, %v, AVDs %q; want one of each", leases, err, y.homes())
		}
		if status, said := y.apkgate("devices", "clean", "--dry-run"); status != exit.StatusPass || said != leases[0].ID+" (pixel): would be stopped: avd\n" || len(y.homes()) != 1 {
			t.Errorf("a dry run ends with %d and says\n%s", status, said)
		}
		if outlives && len(y.Instances()) != 1 {
			t.Fatal("the emulator has not outlived apkgate")
		}
		status, said := y.apkgate("devices", "clean")
		if status != exit.StatusPass || !strings.Contains(said, leases[0].ID+" (pixel): nothing of it is left\n") {
			t.Errorf("it ends with %d and says\n%s", status, said)
		}
		if outlives && !strings.Contains(said, "asked the emulator") {
			t.Errorf("the emulator is not told to end:\n%s", said)
		}
		y.nothingIsLeft()
		if left := y.homes(); len(left) > 0 {
			t.Errorf("AVDs are left: %q", left)
		}
	}
}

// nothingIsLeft checks that the yard has no lease, no phone, no instance of the cloud, and no
// machines of the Desktop except the given ones.
func (y yard) nothingIsLeft(machines ...string) {
	y.t.Helper()
	leases, err := lease.List(y.leases())
	if err != nil || len(leases) > 0 {
		y.t.Errorf("leases are left: %+v, %v", leases, err)
	}
	cloud, err := genymotion.Cloud(y.Folder)
	if err != nil || len(cloud) > 0 {
		y.t.Errorf("the cloud still has %+v, %v", cloud, err)
	}
	if list := y.Instances(); len(list) > 0 {
		y.t.Errorf("phones still run: %+v", list)
	}
	there, err := genymotion.Machines(y.Folder)
	var names []string
	for _, m := range there {
		names = append(names, m.Name)
	}
	if err != nil || !slices.Equal(names, machines) {
		y.t.Errorf("the Desktop has %q, %v; want %q", names, err, machines)
	}
}

// What can't be stopped is reported with the manual command, and its lease stays; the others are
// stopped.
func TestCleanReportsFailures(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.configure(`
- {name: desk, genymotion: {model: Google Pixel 3, android: "11.0"}}
- {name: cloud, genymotion-saas: {recipe: Google Pixel 3, android: "11.0", minutes: 5}}
`)
	y.killedCollect(2)
	y.Breaks(genymotion.SaaSNoSDK, -1)
	clitest.WriteFile(t, filepath.Join(y.leases(), "apkgate-brokenbroken.json"), "{")
	status, said := y.apkgate("devices", "clean")
	for _, part := range []string{
		"(desk): nothing of it is left", "error: clean up apkgate-", "(cloud): Genymotion SaaS: stop the instance", "no Android SDK path set",
		"hint: gmsaas config set android-sdk-path PATH; then apkgate devices clean, or stop apkgate-", "apkgate-brokenbroken.json",
	} {
		if !strings.Contains(said, part) {
			t.Errorf("it doesn't say %q:\n%s", part, said)
		}
	}
	if left := y.Instances(); status != exit.StatusInfrastructure || len(left) != 1 {
		t.Errorf("it ends with %d, and %d phones run; want %d and the cloud's", status, len(left), exit.StatusInfrastructure)
	}
	y.Breaks(genymotion.SaaSNoSDK, 0)
	if err := os.Remove(filepath.Join(y.leases(), "apkgate-brokenbroken.json")); err != nil {
		t.Fatal(err)
	}
	if status, said := y.apkgate("devices", "clean"); status != exit.StatusPass {
		t.Errorf("once it can be stopped it ends with %d:\n%s", status, said)
	}
	y.nothingIsLeft()
}

// A program that the killed apkgate was just starting holds the lock of its lease for a moment
// longer: that is waited for, and the lease has no owner in the meantime.
func TestCleanWaitsForALock(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	gone := y.command("devices", "clean")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	held, err := lease.Take(y.leases(), "avd", "")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Leave()
	path := filepath.Join(y.leases(), held.ID()+".json")
	of := func(pid int) string { return fmt.Sprintf(`"pid": %d,`, pid) }
	text := clitest.ReadFile(t, path)
	if !strings.Contains(text, of(os.Getpid())) {
		t.Fatalf("the lease names no process: %s", text)
	}
	clitest.WriteFile(t, path, strings.Replace(text, of(os.Getpid()), of(gone.Process.Pid), 1))
	if status, said := y.apkgate("devices", "clean", "--dry-run"); status != exit.StatusPass || said != held.ID()+": would be stopped: avd\n" {
		t.Errorf("a dry run ends with %d and says\n%s", status, said)
	}
	time.AfterFunc(500*time.Millisecond, held.Leave)
	if status, said := y.apkgate("devices", "clean"); status != exit.StatusPass || said != held.ID()+": nothing of it is left\n" {
		t.Errorf("it ends with %d and says\n%s", status, said)
	}
	y.nothingIsLeft()
}

// What a running apkgate has booted is left alone, and so are leases of other computers and of
// unknown labs.
func TestCleanLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	mine, err := lease.Take(y.leases(), "genymotion-saas", "")
	if err != nil {
		t.Fatal(err)
	}
	if status, said := y.apkgate("devices", "clean"); status != exit.StatusPass || !strings.Contains(said, mine.ID()+": is in use by ") {
		t.Errorf("it ends with %d and says\n%s", status, said)
	}
	if err := mine.Release(); err != nil {
		t.Fatal(err)
	}
	unknown, err := lease.Take(y.leases(), "quantum", "")
	if err != nil {
		t.Fatal(err)
	}
	unknown.Leave()
	elsewhere := strings.ReplaceAll(clitest.ReadFile(t, filepath.Join(y.leases(), unknown.ID()+".json")), "quantum", "avd")
	host, _ := os.Hostname()
	elsewhere = strings.ReplaceAll(strings.ReplaceAll(elsewhere, `"`+host+`"`, `"elsewhere"`), unknown.ID(), "apkgate-faraway")
	clitest.WriteFile(t, filepath.Join(y.leases(), "apkgate-faraway.json"), elsewhere)
	status, said := y.apkgate("devices", "clean")
	for _, part := range []string{`knows no lab "quantum"`, "clean up apkgate-faraway: it was booted on the computer elsewhere", "hint: apkgate devices clean there"} {
		if status != exit.StatusInfrastructure || !strings.Contains(said, part) {
			t.Errorf("it ends with %d and says not %q:\n%s", status, part, said)
		}
	}
}

// Changes by a killed run are undone on permanent devices.
func TestCleanRestoresDevices(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	phone, err := simulator.Start(clitest.FaultyPhone, 1, simulator.Options{Rate: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = phone.Close() })
	y.configure("- {name: shelf, address: \"" + phone.Address() + "\"}\n- {name: cloud, genymotion-saas: {recipe: Google Pixel 3}}\n")
	d := dial(t, phone)
	killed(t, d)
	status, said := y.apkgate("devices", "clean")
	if status != exit.StatusPass || !strings.Contains(said, "nothing that apkgate has booted is left") || !strings.Contains(said, "is done: set the setting screen_off_timeout back to 60000") {
		t.Errorf("it ends with %d and says\n%s", status, said)
	}
	if now := screenOff(t, d); now != "60000" {
		t.Errorf("the screen's timeout is %q", now)
	}
}

// doctor reports for each lab of the configuration whether it can boot devices here.
func TestDoctorChecksTheLabs(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.configure(oneOfEach)
	if status, said := y.apkgate("doctor"); status != exit.StatusPass || strings.Count(said, "lab genymotion") != 2 || !strings.Contains(said, "lab genymotion-saas: 2 checks fine\n") {
		t.Errorf("it ends with %d and says\n%s", status, said)
	}
	y.Breaks(genymotion.SaaSLoggedOut, -1)
	status, said := y.apkgate("doctor")
	for _, part := range []string{"lab genymotion: 3 checks fine\n", "lab genymotion-saas: 1 problem, 1 check fine\n  BAD  account ", "1 problem: account of lab genymotion-saas\n", "no authentication set", "hint: log in with gmsaas auth token", "error: devices of the configuration can't be booted here: genymotion-saas\n"} {
		if status != exit.StatusInfrastructure || !strings.Contains(said, part) {
			t.Errorf("it ends with %d and doesn't say %q:\n%s", status, part, said)
		}
	}
}
