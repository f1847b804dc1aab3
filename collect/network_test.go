package collect_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/simulator"
	simconsole "github.com/apkgate/apkgate/simulator/console"
	"github.com/apkgate/apkgate/simulator/simapp"
)

const (
	onePhone    = "pixel-7-android-14"
	oneEmulator = "sdk-gphone64-x86-android-14"
)

// once is a job of one repetition.
func once(job collect.Job, network string) collect.Job {
	job.Network, job.Scenario.Repetitions, job.Scenario.WarmUp = network, 1, 0
	return job
}

// withConsole gives an emulator a console, and its user the token.
func withConsole(t *testing.T, s *simulator.Simulated, job *collect.Job) *simconsole.Emulator {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	token := filepath.Join(os.Getenv("HOME"), ".emulator_console_auth_token")
	if err := os.WriteFile(token, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &simconsole.Emulator{Name: "test", TokenFile: token, OnNetwork: s.Phone.Emulate}
	go func() { _ = e.Serve(l) }()
	t.Cleanup(func() { l.Close() })
	job.Console = l.Addr().(*net.TCPAddr).Port
	return e
}

// drawn is the number of frames after the list was opened and before it was scrolled.
func drawn(t *testing.T, r collect.Result) float64 {
	t.Helper()
	for _, e := range r.Run.Iterations[0].Events {
		if e.Name == "open-list" {
			return e.Metrics["frames.count"]
		}
	}
	t.Fatal("no event open-list")
	return 0
}

func TestNetworkIsShapedByTC(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, profile, network string
		o                      simulator.Options
		want, warned           string
	}{
		{"su 0", onePhone, "3g", simulator.Options{Network: "4g"}, "tc: 1600 kbit/s down, 768 up, 300 ms", ""},
		{"adb as root", onePhone, "edge", simulator.Options{Network: "4g", Root: true, Production: true}, "tc: 240 kbit/s down, 200 up, 840 ms", ""},
		{"su -c", onePhone, "lossy", simulator.Options{Network: "4g", Magisk: true, Production: true}, "tc: 12000 kbit/s down, 12000 up, 70 ms, 10 % lost", ""},
		{"no ifb", onePhone, "3g", simulator.Options{Network: "4g", NoIFB: true}, "tc: 768 kbit/s up, 300 ms", "goes out alone"},
		{"no netem", onePhone, "3g", simulator.Options{Network: "4g", NoNetem: true}, "", "qdisc kind is unknown"},
		{"no root", onePhone, "3g", simulator.Options{Network: "4g", Production: true}, "", "no root"},
		{"a phone on such a network", onePhone, "lte", simulator.Options{Network: "4g"}, "", ""},
		{"an emulator without a console", oneEmulator, "lte", simulator.Options{}, "tc: 12000 kbit/s down, 12000 up, 70 ms", ""},
		{"nothing to slow down", onePhone, "wifi", simulator.Options{}, "", ""},
		{"a name that says nothing", onePhone, "mobile", simulator.Options{Network: "4g"}, "", ""},
		{"a name that is another's", onePhone, "umts", simulator.Options{Network: "4g"}, "", "mobile network is LTE"},
		{"an emulator's own link", oneEmulator, "4g", simulator.Options{Network: "4g"}, "", "emulator's own link"},
		{"offline", onePhone, "offline", simulator.Options{}, "", ""},
	} {
		s, job := simulated(t, c.profile, c.o)
		r := collect.Collect(t.Context(), once(job, c.network), collect.Options{})
		wantComplete(t, r, 1)
		if got := r.Run.Context["network_shaped"]; got != c.want {
			t.Errorf("%s: the network is shaped by %q, want %q", c.what, got, c.want)
		}
		if warned := warnedOf(r.Run, "network"); warned != (c.warned != "") || warned && !warnedOf(r.Run, c.warned) {
			t.Errorf("%s: warnings: %v", c.what, r.Run.Warnings)
		}
		for _, iface := range []string{"wlan0", "rmnet_data0", "eth0"} {
			if left, err := onPhone(t, s, "tc qdisc show dev "+iface); err != nil || strings.Contains(left, "netem") || strings.Contains(left, "clsact") {
				t.Errorf("%s: afterwards %s has %q, %v", c.what, iface, left, err)
			}
		}
	}
}

// On a slow network the app's content comes later: on a fast network, the part of the animation
// that waits for it is shorter.
func TestSlowNetworkDelaysContent(t *testing.T) {
	t.Parallel()
	frames := func(network string) float64 {
		_, job := simulated(t, onePhone, simulator.Options{Network: "4g", Even: true})
		r := collect.Collect(t.Context(), once(job, network), collect.Options{})
		wantComplete(t, r, 1)
		return drawn(t, r)
	}
	if fast, slow := frames("lte"), frames("edge"); slow >= fast {
		t.Errorf("of the list that is loaded %g frames are drawn before it is scrolled on LTE, and %g on EDGE: want fewer", fast, slow)
	}
}

func TestForeignShapingIsLeftAlone(t *testing.T) {
	t.Parallel()
	s, job := simulated(t, onePhone, simulator.Options{Network: "4g"})
	const theirs = "tc qdisc add dev rmnet_data0 root handle 1: netem delay 20000us"
	if _, err := onPhone(t, s, "su 0 "+theirs); err != nil {
		t.Fatal(err)
	}
	r := collect.Collect(t.Context(), once(job, "3g"), collect.Options{})
	wantComplete(t, r, 1)
	left, _ := onPhone(t, s, "tc qdisc show dev rmnet_data0")
	if !warnedOf(r.Run, "another program") || r.Run.Context["network_shaped"] != "" || !strings.Contains(left, "netem 1:") {
		t.Errorf("warnings %v, context %q, left %q", r.Run.Warnings, r.Run.Context["network_shaped"], left)
	}
}

func TestNetworkIsShapedByTheConsole(t *testing.T) {
	s, job := simulated(t, oneEmulator, simulator.Options{Production: true})
	withConsole(t, s, &job)
	var during string
	watch := progressFunc(func(e journal.Event) {
		if e.Phase == journal.Measure && during == "" {
			during = consoleSays(t, &target.Target{Console: job.Console})
		}
	})
	r := collect.Collect(t.Context(), once(job, "3g"), collect.Options{Progress: watch})
	wantComplete(t, r, 1)
	if got := r.Run.Context["network_shaped"]; got != "console: 1600 kbit/s, 300 ms" || warnedOf(r.Run, "network") {
		t.Errorf("shaped by %q; warnings: %v", got, r.Run.Warnings)
	}
	if want := "1600000:1600000 bits/s up:down with a delay of 300 to 300 ms"; during != want {
		t.Errorf("while it is measured the console emulates %s, want %s", during, want)
	}
	if after := consoleSays(t, &target.Target{Console: job.Console}); !strings.HasPrefix(after, "0:0 ") {
		t.Errorf("afterwards the console emulates %s", after)
	}
	// The console loses no packets, and tc isn't available either.
	r = collect.Collect(t.Context(), once(job, "lossy"), collect.Options{})
	wantComplete(t, r, 1)
	if !warnedOf(r.Run, "console loses no packets", "no root") || r.Run.Context["network_shaped"] != "" {
		t.Errorf("lossy: %v", r.Run.Warnings)
	}
}

func consoleSays(t *testing.T, on *target.Target) string {
	t.Helper()
	c, err := on.OpenConsole(t.Context())
	if err != nil {
		t.Error(err)
		return ""
	}
	defer c.Close()
	n, err := c.Network(t.Context())
	if err != nil {
		t.Error(err)
	}
	return n.String()
}

// A run that is killed at any command leaves a network that the next run, or `apkgate devices
// restore`, makes as fast as it was.
func TestShapingOfAKilledRunIsUndone(t *testing.T) {
	for _, byConsole := range []bool{true, false} {
		told := ""
		step := everyOf(7)
		for n, over := 1, false; !over; n += step {
			s, job := simulated(t, oneEmulator, simulator.Options{})
			job = once(job, "3g")
			if byConsole {
				withConsole(t, s, &job)
			}
			ownedBy(&job, "here")
			job.Owner.Lock, job.Scenario.Retries = "same", 0
			over = killedAt(t, job, n, n%2 == 0)
			d := target.New(job.Device, job.Clock, time.Now(), job.Open)
			d.Console, d.Journal, d.Owner = job.Console, journal.New(job.Device, nil), job.Owner
			if err := d.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, w := range d.Journal.Warnings {
				told += w.Text + "\n"
			}
			left, err := onPhone(t, s, "tc qdisc show dev eth0; su 0 ip link set apkgate0 up 2>&1")
			if err != nil || strings.Contains(left, "netem") || strings.Contains(left, "clsact") || !strings.Contains(left, "Cannot find device") {
				t.Fatalf("killed at its operation %d, and put back: %q, %v", n, left, err)
			}
			if byConsole {
				if says := consoleSays(t, d); !strings.HasPrefix(says, "0:0 ") {
					t.Fatalf("killed at its operation %d, and put back: the console emulates %s", n, says)
				}
			}
		}
		if want := map[bool]string{true: "its speed back", false: "what slows eth0 down"}[byConsole]; !strings.Contains(told, want) {
			t.Errorf("it was never told that %q was put back: %s", want, told)
		}
	}
}

// A device that restarts has its full network speed again, and is slowed down again.
func TestNetworkIsShapedAgainAfterARestart(t *testing.T) {
	t.Parallel()
	s, job := simulated(t, onePhone, simulator.Options{Network: "4g", Faults: []simapp.Fault{{Kind: simapp.Reboot, Repetition: 1, At: time.Second}}})
	job = once(job, "3g")
	job.Scenario.Repetitions = 2
	slowed := 0
	watch := progressFunc(func(e journal.Event) {
		if e.Phase != journal.Measure {
			return
		}
		if shown, err := onPhone(t, s, "tc qdisc show dev rmnet_data0"); err == nil && strings.Contains(shown, "netem 5151:") {
			slowed++
		}
	})
	r := collect.Collect(t.Context(), job, collect.Options{Progress: watch})
	wantComplete(t, r, 2)
	if slowed < 2 {
		t.Errorf("%d of the repetitions began on a slow network: %v", slowed, r.Run.Warnings)
	}
}
