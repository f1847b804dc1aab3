package energy_test

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/model"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/batterystats"
	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
	"github.com/apkgate/apkgate/trace/powerprofile"
)

// corpus returns the folder of real dumps outside the repository.
func corpus(t testing.TB) string {
	t.Helper()
	return corpustest.Path(t, "batterystats")
}

// TestRealRails adds up the rails of a Pixel 6 while an app starts: twelve of its sixteen, since
// four are of linear regulators (L…), which the converters (S…) feed. The total equals the
// counters' own differences, and settles at the third of a watt that the phone's screen and memory
// draw. An inspection of the trace has the same sum.
func TestRealRails(t *testing.T) {
	t.Parallel()
	f, err := os.Open(filepath.Join(corpus(t), "..", "perfetto", "api32_startup_warm.perfetto-trace"))
	if err != nil {
		t.Skipf("the trace is not here: %v", err)
	}
	defer func() { _ = f.Close() }()
	trace, err := powerdata.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	differences := 0.0
	for _, r := range trace.Rails {
		if !strings.HasPrefix(r.Name, "L") {
			differences += float64(r.Samples[len(r.Samples)-1].MicroWattSeconds-r.Samples[0].MicroWattSeconds) / 1e6
		}
	}
	p, err := energy.OfRails(energy.RailsOf(trace))
	if err != nil || len(p.Rails) != 12 || len(p.LeftOut) != 4 {
		t.Fatalf("%d rails count, without %v: %v", len(p.Rails), p.LeftOut, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	seen, err := powerdata.Inspect(f)
	if total := seen.Metrics["energy.total_j"]; err != nil || math.Abs(total-differences) > 1e-6*differences {
		t.Errorf("an inspection has %g J, the counters differ by %g J (%v)", total, differences, err)
	}
	from, to := p.Total.Span()
	joules, covered := p.Total.Energy(from, to)
	if covered != to-from || math.Abs(joules-differences) > 0.01*differences {
		t.Errorf("%g J in %v of %v, the counters differ by %g J", joules, covered, to-from, differences)
	}
	if w := p.Total.Mean(to-400*time.Millisecond, to); w < 0.3 || w > 0.4 {
		t.Errorf("%g W at the end", w)
	}
	if parts := p.Components(from, to); parts[0].Name != "CPU(LITTLE)" {
		t.Errorf("the hungriest part is %s", parts[0].Name)
	}
}

func realProfiles(t testing.TB) map[string]powerprofile.Profile {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus(t), "power_profiles", "*.xml"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d power profiles: %v", len(files), err)
	}
	out := map[string]powerprofile.Profile{"reference-phone": model.ReferenceProfile()}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := powerprofile.Read(f)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		_ = f.Close()
		out[strings.TrimSuffix(filepath.Base(file), ".xml")] = p
	}
	return out
}

func realDump(t testing.TB, name string) batterystats.Dump {
	t.Helper()
	f, err := os.Open(filepath.Join(corpus(t), name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	d, err := batterystats.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// busiestApp returns the UID of the app with the most CPU time.
func busiestApp(p *batterystats.Period) int {
	best, most := -1, -1.0
	if p == nil {
		return best
	}
	for _, u := range p.UIDs {
		busy := u.Stated["cpu_user_ms"] + u.Stated["cpu_system_ms"] + u.Stated["cpu_processes_ms"]
		if u.UID >= 10_000 && busy > most {
			best, most = u.UID, busy
		}
	}
	return best
}

// TestRealProfilesOnRealDumps applies every power profile to every dump with times on battery: a
// phone in use draws between 10 mW and 15 W. The log has the table of docs/evaluation/energy.md.
func TestRealProfilesOnRealDumps(t *testing.T) {
	t.Parallel()
	profiles := realProfiles(t)
	dumps, err := filepath.Glob(filepath.Join(corpus(t), "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	estimates := 0
	for _, file := range dumps {
		name := filepath.Base(file)
		d := realDump(t, name)
		uid := busiestApp(d.Main())
		states := model.StatesOf(d.Main(), uid)
		if states.Elapsed < time.Minute {
			continue
		}
		platform, noPlatform := energy.OfPlatform(d, uid, 0, states.Elapsed)
		for device, profile := range profiles {
			made, err := model.New(profile)
			if err != nil {
				t.Errorf("%s: %v", device, err)
				continue
			}
			e, err := made.Estimate(0, states.Elapsed, nil, states)
			if err != nil {
				t.Errorf("%s by %s: %v", name, device, err)
				continue
			}
			estimates++
			mean := e.TotalJ / states.Elapsed.Seconds()
			least := 0.01
			if profile.Placeholder() {
				least = 0 // its currents are 0.1 mA
			}
			if mean < least || mean > 15 || e.AppJ <= 0 || e.AppJ > e.TotalJ {
				t.Errorf("%s by %s: %.4g W, the app %.3g of %.3g J: %v", name, device, mean, e.AppJ, e.TotalJ, e.Device)
			}
			if noPlatform == nil {
				t.Logf("| %s | %s | %.2f W | %.2f | %.2f |", name, device, mean, e.TotalJ/platform.TotalJ, e.AppJ/platform.AppJ)
			}
		}
	}
	if estimates < 100 {
		t.Errorf("%d estimates: were the dumps read?", estimates)
	}
}

// TestRealSensors compares the sensors' joules with the platform's own, which the texts state for
// each UID: on an emulator with Android 9, whose accelerometer has 3 mA, and on a phone with
// Android 12 or later. The phone's currents are derived from one of its UIDs for each sensor: 0.19
// mA for number 11, 0.001 mA for two others. They must fit all other UIDs, which had the sensor on
// for 31 ms to 2.3 h, and the same phone on another day.
func TestRealSensors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file     string
		currents map[int]float64
		uids     int
	}{
		{"jeanboydev_emulator_9_batterystats.txt", map[int]float64{0: 3}, 2},
		{"fishbonec_batterystats.txt", map[int]float64{11: 0.19, 2181: 0.001}, 2},
		{"fishbonec_batterystats3.txt", map[int]float64{11: 0.19, 2181: 0.001, 272: 0.001}, 5},
	} {
		p := realDump(t, c.file)
		held := 0
		for _, u := range p.Main().UIDs {
			stated := u.PartsMAh["sensors"] + u.PartsMAh["sensor"]
			known := stated > 0
			for handle := range u.SensorsMS {
				known = known && c.currents[handle] > 0
			}
			if !known {
				continue
			}
			held++
			states := model.StatesOf(p.Main(), u.UID)
			e, err := model.Reference().WithSensors(c.currents).Estimate(0, states.Elapsed, nil, states)
			if err != nil {
				t.Fatal(err)
			}
			got := 0.0
			for _, part := range e.App {
				if part.Name == "sensors" {
					got = part.EnergyJ
				}
			}
			if want := stated * 3.6 * 3.85; math.Abs(got-want) > 0.005*want { // the text has three digits
				t.Errorf("%s: the sensors of %s took %.4g J, by the platform %.4g J", c.file, u.Name, got, want)
			}
		}
		if held < c.uids {
			t.Errorf("%s: %d UIDs were compared, want %d", c.file, held, c.uids)
		}
	}
}
