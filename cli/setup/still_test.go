package setup_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// onShelf runs apkgate with a configuration of one simulated phone, called shelf.
func onShelf(t *testing.T, phone *simulator.Simulated, conditions, command string) (status int, stdout, stderr string) {
	t.Helper()
	l := clitest.NewLab(t, "demo-good", "")
	clitest.WriteFile(t, l.Path("demo.apk"), "apkgate-simulated-app/1\npackage com.example.demo\n")
	clitest.WriteFile(t, l.Path("apkgate.yml"), "app: {package: com.example.demo, apk: demo.apk}\nscenarios:\n  - name: scroll\n    workload: {monkey: {events: 10}}\n    warm-up: 2\n"+
		"devices: [{address: \""+phone.Address()+"\", name: shelf}]\nconditions: {"+conditions+"}\n")
	args := []string{command, "--config", l.Path("apkgate.yml")}
	if command == "doctor" {
		args = append(args, "--verbose")
	}
	var out, errs bytes.Buffer
	status = cli.Main(terminal.Console{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: time.Now, Clock: phone.Clock(),
		Getenv: func(name string) string { return map[string]string{"HOME": l.Dir}[name] },
	}, args)
	return status, strings.ReplaceAll(out.String(), phone.Address(), "SERIAL"), errs.String()
}

// Bad findings come first, and are named next to the device's name; each line has the state, what a
// run does about it, and the command that does the same by hand.
func TestDoctorShowsConditions(t *testing.T) {
	phone, err := simulator.Start("pixel-7-android-14", 1, simulator.Options{Boot: simulator.Boot{Busy: time.Hour, ANR: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { phone.Close() })
	for _, key := range []string{"system screen_brightness_mode", "system accelerometer_rotation", "global low_power"} {
		phone.Phone.Set(key, "1")
	}
	phone.Phone.Set("global window_animation_scale", "0")
	phone.Phone.Set("global transition_animation_scale", "0")
	phone.Phone.Set("global animator_duration_scale", "0")
	if err := phone.Clock().Sleep(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := onShelf(t, phone, "fixed-performance: auto, rotation: 90, idle-within: 90s", "doctor")
	if status != exit.StatusInfrastructure {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	if want := "shelf: 3 problems, 19 checks fine\n  BAD  dialog "; !strings.HasPrefix(stdout, want) {
		t.Errorf("doctor begins with\n%.200s\nwant\n%s", stdout, want)
	}
	for _, want := range []string{
		`Android says that "com.android.systemui" does not respond, and lets no app have the focus → a run presses Wait`,
		"  BAD  saver        on\n                    hint: turn the battery saver off: Android slows the device down\n                    fix:  adb -s SERIAL shell settings put global low_power 0\n",
		"% busy → a run waits until it is idle, up to 1m30s\n",
		"  ok   brightness   40 % (102 of 255), and changes with the light of the room → a run keeps it as it was last set by hand\n",
		"by hand: adb -s SERIAL shell settings put system screen_brightness_mode 0\n",
		"  ok   rotation     the screen turns with the device → a run turns it by 90°\n",
		"→ a run turns it off until it ends\n                    by hand: adb -s SERIAL shell pm bg-dexopt-job --disable\n",
		"→ a run turns the fixed performance mode on, where its maker has built it in\n",
		"  ok   animations   off: frames of animations are not measured → a run leaves them so, and its context says so\n",
		"by hand: adb -s SERIAL shell 'settings put global window_animation_scale 1; ",
		"  ok   warm-up      before it is measured, a run plays scroll 2 times\n",
		"  ok   battery      96 %, on battery\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("nothing of\n%s\nin\n%s", want, stdout)
		}
	}
	if bad := strings.LastIndex(stdout, "  BAD "); bad > strings.Index(stdout, "  ok ") {
		t.Errorf("what is not fit does not stand first:\n%s", stdout)
	}
	if phone.Phone.Dialog() == "" || phone.Phone.Setting("global low_power") != "1" {
		t.Error("doctor has changed the phone")
	}
}

// Each configured network has a line: what a run does for it and, if it can't be slowed down, what
// to do about that.
func TestDoctorShowsNetworks(t *testing.T) {
	for policy, c := range map[string]struct {
		status int
		want   string
	}{
		"warn":   {exit.StatusPass, "  ok   network      3g: mobile data can't be slowed down: adb has no root on the device → a run turns Wi-Fi off, has it as fast as it is, and says so\n                    hint: an emulator that runs on this computer"},
		"refuse": {exit.StatusInfrastructure, "shelf: 1 problem, 25 checks fine\n  BAD  network      3g: mobile data can't be slowed down: adb has no root on the device → a run measures nothing on it, as conditions.policy says\n                    hint: "},
	} {
		phone, err := simulator.Start("pixel-7-android-14", 1, simulator.Options{Network: "4g", Production: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { phone.Close() })
		status, stdout, stderr := onShelf(t, phone, "policy: "+policy+"}\nnetworks: [wifi, lte, 3g, none]\ncontext: {extra: {}", "doctor")
		if status != c.status {
			t.Errorf("%s: exit status %d, want %d: %s", policy, status, c.status, stderr)
		}
		for _, want := range []string{
			c.want,
			"  ok   network      wifi: the device's own Wi-Fi → a run turns mobile data off\n",
			"  ok   network      lte: the device's own mobile network, which is LTE → a run turns Wi-Fi off\n",
			"  ok   network      none: no network at all → a run turns Wi-Fi and mobile data off\n",
		} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: nothing of\n%s\nin\n%s", policy, want, stdout)
			}
		}
	}
}

// If the policy is to refuse, an unfit device ends the command with 3 before anything is measured,
// and the command that shows more is printed.
func TestUnfitDeviceEndsTheCommand(t *testing.T) {
	for policy, want := range map[string]int{"warn": exit.StatusPass, "refuse": exit.StatusInfrastructure} {
		phone, err := simulator.Start("pixel-7-android-14", 1, simulator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { phone.Close() })
		phone.Phone.Set("global low_power", "1")
		status, _, stderr := onShelf(t, phone, "policy: "+policy, "collect")
		refused := strings.Contains(stderr, "conditions.policy is refuse: saver: on") && strings.Contains(stderr, "apkgate doctor has the command for each")
		if status != want || refused != (policy == "refuse") {
			t.Errorf("%s: exit status %d, want %d\n%s", policy, status, want, stderr)
		}
	}
}
