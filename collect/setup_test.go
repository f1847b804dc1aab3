package collect_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/simulator"
)

// rewrite changes the file of a simulated app.
func rewrite(t *testing.T, file, from, to string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), from) {
		t.Fatalf("%s has no %q", file, from)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// asking makes the job's app request runtime permissions.
func asking(t *testing.T, job *collect.Job, permissions ...string) {
	t.Helper()
	rewrite(t, job.App.APK, "\nscenario ", "\npermission "+strings.Join(permissions, "\npermission ")+"\nscenario ")
}

// TestClearedDataKeepsPermissions: pm clear revokes what install -g granted, and a test would then
// meet a dialog.
func TestClearedDataKeepsPermissions(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"nexus-5x-android-6.0.0", "pixel-7-android-14"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			_, job := simulated(t, profile, simulator.Options{})
			asking(t, &job, "android.permission.CAMERA", "android.permission.POST_NOTIFICATIONS")
			job.Scenario.ClearData, job.Scenario.Retries = true, 0
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 3)
			if warnedOf(r.Run, "permission") {
				t.Errorf("warnings: %v", r.Run.Warnings)
			}
		})
	}
}

// TestClearedDataGrantsNothingNew: an app that was installed without its permissions is not given
// them.
func TestClearedDataGrantsNothingNew(t *testing.T) {
	t.Parallel()
	s, job := simulated(t, "pixel-7-android-14", simulator.Options{})
	asking(t, &job, "android.permission.CAMERA")
	for _, file := range []string{job.App.APK, job.App.TestAPK} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Phone.Install(text); err != nil {
			t.Fatal(err)
		}
	}
	job.App.APK, job.App.TestAPK = "", ""
	job.Scenario.ClearData, job.Scenario.Retries = true, 0
	r := collect.Collect(t.Context(), job, collect.Options{})
	if r.Err == nil || !strings.Contains(r.Err.Error(), "CAMERA") {
		t.Errorf("an app without its permission: %v", r.Err)
	}
}

// TestALockScreenIsDismissed: a screen that is off, or shows a lock screen without a PIN, hides the
// app from its test.
func TestALockScreenIsDismissed(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"nexus-5-android-4.4.4", "nexus-5x-android-6.0.0", "pixel-7-android-14"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			s, job := simulated(t, profile, simulator.Options{Keyguard: "swipe"})
			if _, err := onPhone(t, s, "input keyevent KEYCODE_SLEEP"); err != nil {
				t.Fatal(err)
			}
			job.Scenario.Retries = 0
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 3)
			if warnedOf(r.Run, "lock") {
				t.Errorf("warnings: %v", r.Run.Warnings)
			}
		})
	}
}

// TestALockScreenWithAPINIsAnError before anything is measured.
func TestALockScreenWithAPINIsAnError(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"nexus-5x-android-6.0.0", "pixel-7-android-14"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			_, job := simulated(t, profile, simulator.Options{Keyguard: "pin"})
			r := collect.Collect(t.Context(), job, collect.Options{})
			var lost *loss.Error
			if !errors.As(r.Err, &lost) || lost.Phase != journal.SetUp || !loss.IsInfrastructure(r.Err) ||
				!strings.Contains(lost.Error(), "lock screen") || !strings.Contains(lost.Hint(), "screen lock") {
				t.Errorf("a phone that asks for its PIN: %v", r.Err)
			}
		})
	}
}

// Joules are measured behind a lock screen too: the workload may show nothing.
func TestALockScreenWithAPINAndEnergy(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-7-android-14", simulator.Options{Keyguard: "pin"})
	job.Energy = &config.Energy{Source: config.EnergyRails}
	r := collect.Collect(t.Context(), job, collect.Options{})
	if !warnedOf(r.Run, "lock screen") || loss.IsInfrastructure(r.Err) {
		t.Errorf("%v; warnings %v, want one of the lock screen alone", r.Err, r.Run.Warnings)
	}
}

// onPhone runs a command on a simulated phone and returns what it printed.
func onPhone(t *testing.T, s *simulator.Simulated, command string) (string, error) {
	t.Helper()
	d, err := adb.Dial(t.Context(), s.Address(), patience(simulator.Options{}))
	if err != nil {
		return "", err
	}
	defer func() { _ = d.Close() }()
	out, err := d.Exec(t.Context(), command)
	return string(out.Stdout), err
}

// TestTheScreenIsKeptOnWithoutACharger: "stay on" needs a charger, and a screen that goes off
// between two repetitions hides the app from the next.
func TestTheScreenIsKeptOnWithoutACharger(t *testing.T) {
	t.Parallel()
	for name, keyguard := range map[string]string{"no lock": "", "swipe": "swipe"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, job := simulated(t, "pixel-7-android-14", simulator.Options{Powered: "battery", Keyguard: keyguard})
			const seconds15 = "15000"
			if _, err := onPhone(t, s, "settings put system screen_off_timeout "+seconds15); err != nil {
				t.Fatal(err)
			}
			rewrite(t, job.App.APK, "scenario read-mail 8s", "scenario read-mail 30s") // quiet at its end
			job.Scenario.Retries = 0
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 3)
			after, err := onPhone(t, s, "settings get system screen_off_timeout")
			if err != nil || strings.TrimSpace(after) != seconds15 {
				t.Errorf("afterwards the screen goes off after %q ms, %v", after, err)
			}
		})
	}
}

// TestWiFiIsWaitedFor: svc wifi enable returns before there is a network.
func TestWiFiIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"nexus-5-android-4.4.4", "pixel-3-android-9", "pixel-7-android-14"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			s, job := simulated(t, profile, simulator.Options{})
			if _, err := onPhone(t, s, "svc wifi disable"); err != nil {
				t.Fatal(err)
			}
			network := ""
			watch := progressFunc(func(e journal.Event) {
				if e.Phase == journal.WarmUp && network == "" {
					network, _ = onPhone(t, s, "dumpsys connectivity")
				}
			})
			r := collect.Collect(t.Context(), job, collect.Options{Progress: watch})
			wantComplete(t, r, 3)
			if !strings.Contains(network, "WIFI") {
				t.Errorf("the first repetition begins on %q", network)
			}
			if warnedOf(r.Run, "network") {
				t.Errorf("warnings: %v", r.Run.Warnings)
			}
		})
	}
}

// TestMissingWiFiIsReported after the time that it is waited for.
func TestMissingWiFiIsReported(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-7-android-14", simulator.Options{Network: "4g"})
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 3)
	if !warnedOf(r.Run, `"wifi"`, "30s", "on none") {
		t.Errorf("a phone that finds no Wi-Fi: %v", r.Run.Warnings)
	}
}

// TestWarnsOfANetworkThatStaysOn if the device ignores the command to turn it off.
func TestWarnsOfANetworkThatStaysOn(t *testing.T) {
	t.Parallel()
	for _, ignored := range []string{"", "global wifi_on"} {
		_, job := simulated(t, "pixel-7-android-14", simulator.Options{Ignored: []string{ignored}})
		job.Network = "none"
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 3)
		if warned := warnedOf(r.Run, `"none"`, "on WIFI"); warned != (ignored != "") {
			t.Errorf("ignored %q: %v", ignored, r.Run.Warnings)
		}
	}
}

// TestIgnoredSettingsAreReported: some makers' phones silently ignore settings changed over adb.
func TestIgnoredSettingsAreReported(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"system screen_off_timeout", "global stay_on_while_plugged_in", "system screen_brightness_mode"} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			energy := config.DefaultEnergy()
			energy.Settle = new(time.Duration)
			_, name, _ := strings.Cut(setting, " ")
			for _, ignored := range [][]string{nil, {setting}} {
				s, job := simulated(t, "pixel-5-android-11", simulator.Options{Ignored: ignored})
				s.Phone.Set("system screen_brightness_mode", "1")
				job.Energy = &energy
				r := collect.Collect(t.Context(), job, collect.Options{})
				wantComplete(t, r, 3)
				if warned := warnedOf(r.Run, name, "ignores"); warned != (ignored != nil) {
					t.Errorf("ignored: %q; warnings: %v", ignored, r.Run.Warnings)
				}
			}
		})
	}
}

// TestAVerifierIsReported before it refuses, or waits for a tap on the phone's screen.
func TestAVerifierIsReported(t *testing.T) {
	t.Parallel()
	for value, refuses := range map[string]bool{"1": true, "0": false} {
		s, job := simulated(t, "pixel-7-android-14", simulator.Options{Verifier: true})
		s.Phone.Set("global verifier_verify_adb_installs", value)
		told := false
		watch := progressFunc(func(e journal.Event) {
			told = told || e.Phase == journal.SetUp && strings.Contains(e.Message, "verifies apps")
		})
		r := collect.Collect(t.Context(), job, collect.Options{Progress: watch})
		if told != refuses || (r.Err != nil) != refuses {
			t.Errorf("of %s: told %v, %v", value, told, r.Err)
		}
		var lost *loss.Error
		if refuses && (!errors.As(r.Err, &lost) || !strings.Contains(lost.Error(), "INSTALL_FAILED_VERIFICATION_FAILURE") || !strings.Contains(lost.Hint(), "verification")) {
			t.Errorf("the refusal: %v", r.Err)
		}
	}
}
