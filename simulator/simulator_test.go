package simulator_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// dial connects to a simulated device.
func dial(t *testing.T, s *simulator.Simulated) device.Device {
	t.Helper()
	d, err := adb.Dial(t.Context(), s.Address(), adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func begin(t *testing.T, name string, o simulator.Options) *simulator.Simulated {
	t.Helper()
	o.Chatter = -1 // its log is not overwritten
	s, err := simulator.Start(name, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func apk(t *testing.T, name string) string {
	t.Helper()
	text, err := simapp.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name+".apk")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func output(t *testing.T, d device.Device, command string) string {
	t.Helper()
	out, err := d.Exec(t.Context(), command)
	if err != nil || out.ExitCode != 0 {
		t.Fatalf("%s: exit code %d, %v: %s%s", command, out.ExitCode, err, out.Stdout, out.Stderr)
	}
	return string(out.Stdout)
}

// A complete measurement over adb, on each kind of Android.
func TestWorkloadOverAdb(t *testing.T) {
	for _, name := range []string{"galaxy-s3-android-4.1.1", "nexus-7-android-5.1.0", "nexus-5x-android-6.0.0", "moto-g5-android-7.0", "pixel-5-android-11", "pixel-7-android-14"} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, name, simulator.Options{})
			d := dial(t, s)
			if err := d.Install(t.Context(), apk(t, "demo-good")); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(output(t, d, "getprop ro.product.model")); got != s.Profile.Model {
				t.Errorf("the model is %q, want %q", got, s.Profile.Model)
			}
			process, err := d.Start(t.Context(), "am instrument -w -r com.example.demo/androidx.test.runner.AndroidJUnitRunner")
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			var code int
			ended := make(chan error, 1)
			go func() {
				_, err := text.ReadFrom(process.Stdout())
				if err == nil {
					code, err = process.Wait()
				}
				ended <- err
			}()
			for range 10 {
				if err := s.Clock().Sleep(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-ended; err != nil || code != 0 || !strings.Contains(text.String(), "OK (1 test)") {
				t.Errorf("exit code %d, %v: %s", code, err, &text)
			}
			if log := output(t, d, "logcat -d -v threadtime -s apkgate"); strings.Count(log, " I apkgate : ") != 5 {
				t.Errorf("the log has not 5 UI events:\n%s", log)
			}
		})
	}
}

func TestDroppedDeviceReconnects(t *testing.T) {
	fault, err := simapp.ParseFault("drop after scroll repetition 1")
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, "pixel-3-android-9", simulator.Options{Faults: []simapp.Fault{fault}})
	d := dial(t, s)
	if err := d.Install(t.Context(), apk(t, "demo-good")); err != nil {
		t.Fatal(err)
	}
	process, err := d.Start(t.Context(), "am instrument -w -r com.example.demo/androidx.test.runner.AndroidJUnitRunner")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Clock().Sleep(t.Context(), 4*time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := process.Wait(); !errors.Is(err, device.ErrGone) {
		t.Errorf("the workload ends with %v, want the device gone", err)
	}
	if got := output(t, dial(t, s), "pm path com.example.demo"); !strings.HasPrefix(got, "package:") {
		t.Errorf("after the connection is back, the app is at %q", got)
	}
}

func TestPushToAFullDisk(t *testing.T) {
	s := begin(t, "pixel-3-android-9", simulator.Options{})
	d := dial(t, s)
	s.Phone.Break(simapp.Fault{Kind: simapp.NoSpace})
	err := d.Push(t.Context(), strings.NewReader("x"), "/data/local/tmp/x", 0o644, time.Unix(1e9, 0))
	if err == nil || !strings.Contains(err.Error(), "No space left on device") {
		t.Errorf("a push says %v", err)
	}
}

// With a rate the clock advances by itself, for people to watch.
func TestClockWithARate(t *testing.T) {
	s := begin(t, "pixel-3-android-9", simulator.Options{Rate: 1000})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := dial(t, s).Exec(ctx, "sleep 30; echo slept")
	if err != nil || string(out.Stdout) != "slept\n" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
}

func TestLabs(t *testing.T) {
	profiles, err := profile.Lab("upgraded-lab")
	if err != nil {
		t.Fatal(err)
	}
	var lab []*simulator.Simulated
	addresses := map[string]bool{}
	for _, p := range profiles {
		s := begin(t, p.Name, simulator.Options{})
		lab, addresses[s.Address()] = append(lab, s), true
	}
	if len(addresses) != 5 {
		t.Errorf("%d addresses for 5 devices", len(addresses))
	}
	for _, s := range lab {
		if got := strings.TrimSpace(output(t, dial(t, s), "getprop ro.build.version.release")); got != s.Profile.SDK {
			t.Errorf("%s says Android %s", s.Profile.Name, got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := profile.Lab("moon-lab"); err == nil || !strings.Contains(err.Error(), strings.Join(profile.Labs(), ", ")) {
		t.Errorf("an unknown lab: %v", err)
	}
	if _, err := simulator.Start("nokia-3310", 1, simulator.Options{}); err == nil {
		t.Error("a phone that is not there starts")
	}
}
