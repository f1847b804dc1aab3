package collect_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// timed records when workloads ran, on the device's clock.
type timed struct {
	device.Device
	clock device.Clock
	notes *notes
}

// notes are the spans of the measured repetitions. A repetition that was lost and repeated, as on a
// very busy computer, has the span that counted.
type notes struct {
	mu         sync.Mutex
	repetition int // the current one, 0 in the warm-up
	spans      map[int]stretch
}

// Report records the current repetition.
func (n *notes) Report(e journal.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e.Phase == journal.Measure {
		n.repetition = e.Repetition
	}
}

func (n *notes) keep(s stretch) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.spans[n.repetition] = s
}

// of is the span of the n-th repetition's workload, from 1.
func (n *notes) of(repetition int) stretch {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.spans[repetition]
}

func (d timed) Start(ctx context.Context, command string) (device.Process, error) {
	from := d.clock.Now()
	p, err := d.Device.Start(ctx, command)
	if err != nil || !strings.Contains(command, "am instrument ") {
		return p, err
	}
	return timedProcess{p, d, from}, nil
}

type timedProcess struct {
	device.Process
	d    timed
	from time.Duration
}

func (p timedProcess) Wait() (int, error) {
	code, err := p.Process.Wait()
	p.d.notes.keep(stretch{p.from, p.d.clock.Now()})
	return code, err
}

// powered is a simulated phone and a job of it with energy; notes, if they are the progress too,
// record the times of its workloads.
func powered(t *testing.T, profile string, o simulator.Options, settings config.Energy) (*simulator.Simulated, collect.Job, *notes) {
	t.Helper()
	s, job := simulated(t, profile, o)
	kept := &notes{spans: map[int]stretch{}}
	open := job.Open
	job.Open = func(ctx context.Context) (device.Device, error) {
		d, err := open(ctx)
		return timed{d, s.Clock(), kept}, err
	}
	job.Energy = &settings
	return s, job, kept
}

// The joules of a run are those that the simulated phone truly used, as far as its sensors are
// accurate.
func TestSimulatedJoules(t *testing.T) {
	t.Parallel()
	for profile, want := range map[string]struct {
		source, warning string
		within          float64 // of the truth; 0: not compared
	}{
		"pixel-7-android-14":       {"rails", "", 0.10},
		"pixel-5-android-11":       {"battery", "", 0.10},
		"galaxy-s21-android-13":    {"battery", "multiplied by 1000", 0.10},
		"nord-android-10":          {"battery", "turned back", 0.10},
		"moto-g5-android-7.0":      {"battery", "", 0.25},
		"pixel-3-android-9":        {"model reference-phone", "estimated by the model reference-phone", 0},
		"nexus-5x-android-6.0.0":   {"model reference-phone", "estimated by the model reference-phone", 0},
		"sdk-gphone-android-11":    {"model reference-phone", "", 0},
		"optimus-l3-android-4.1.1": {"model reference-phone", "", 0},
	} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			s, job, kept := powered(t, profile, simulator.Options{}, config.DefaultEnergy())
			r := collect.Collect(t.Context(), job, collect.Options{Progress: kept})
			wantComplete(t, r, 3)
			t.Log(r.Run.Context, r.Run.Iterations[0].Metrics, r.Run.Warnings)
			if r.Run.Energy.Source != want.source || r.Run.Context[metric.EnergyFrom] != want.source {
				t.Errorf("joules are from %q, want %q", r.Run.Energy.Source, want.source)
			}
			if want.warning != "" && !warnedOf(r.Run, want.warning) {
				t.Errorf("no word of %q", want.warning)
			}
			for i, it := range r.Run.Iterations {
				span := kept.of(i + 1)
				truth := s.Phone.Truth(span.from, span.to).Joules
				got, parts := it.Metrics["energy.total_j"], 0.0
				for _, b := range it.Events {
					parts += b.Metrics["energy.total_j"]
				}
				t.Logf("%.2f J, truly %.2f J in %v; in buckets %.2f J", got, truth, span.to-span.from, parts)
				if want.within > 0 && math.Abs(got-truth) > want.within*truth || !(got > 0) {
					t.Errorf("repetition %d: %.2f J, truly %.2f J", i+1, got, truth)
				}
				least := 0.95 * got
				if strings.HasPrefix(r.Run.Energy.Source, "model") {
					least = 0.85 * got // the network's energy belongs to no event
				}
				if parts < least || parts > 1.05*got {
					t.Errorf("repetition %d: %.2f J in all, %.2f J in the buckets", i+1, got, parts)
				}
			}
		})
	}
}

// The sampled CPU time of a method is what the simulated phone knows, and its joules are
// proportional; package methods tests how accurate those are. The first phone loses a repetition,
// of which nothing counts; the second does not count task-clock.
func TestSimulatedMethods(t *testing.T) {
	t.Parallel()
	settings := config.DefaultEnergy()
	settings.Methods = true
	crash := simapp.Fault{Kind: simapp.Crash, At: 3 * time.Second, Repetition: 3}
	for profile, faults := range map[string][]simapp.Fault{"pixel-7-android-14": {crash}, "c1-go-android-11": nil, "galaxy-s21-android-13": nil, "pixel-5-android-11": nil, "nord-android-10": nil} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			s, job, kept := powered(t, profile, simulator.Options{Faults: faults}, settings)
			r := collect.Collect(t.Context(), job, collect.Options{Progress: kept})
			wantComplete(t, r, 3)
			m := r.Run.Energy.Methods
			if m == nil || len(r.Traces) != 3 {
				t.Fatalf("%d traces, %+v", len(r.Traces), m)
			}
			local := map[string]run.Cost{}
			for _, f := range m.List {
				if strings.HasPrefix(f.Name, "com.example.demo.") {
					local[strings.TrimPrefix(f.Name, "com.example.demo.")] = f.Local
				}
			}
			for name, cost := range local {
				cpu, truly := 0.0, 0.0 // of a repetition, in ms and J
				for n := 1; n <= 3; n++ {
					span := kept.of(n)
					truth := s.Phone.Truth(span.from, span.to).Methods["com.example.demo."+name]
					cpu += truth.LocalCPU.Seconds() * 1000 / 3
					truly += truth.LocalJ / 3
				}
				if cost.LowJ > truly || truly > cost.HighJ || !cost.Blurred {
					t.Errorf("%s took %.3f J, told are %.3f to %.3f J (blurred: %v)", name, truly, cost.LowJ, cost.HighJ, cost.Blurred)
				}
				if math.Abs(cost.CPUMS-cpu) > 0.03*cpu+2 || cost.EnergyJ <= 0 {
					t.Errorf("%s: %.0f ms, truly %.0f ms; %.3f J", name, cost.CPUMS, cpu, cost.EnergyJ)
				}
			}
			// 18, 9 and 5 % of the app's time.
			if a, b, c := local["InboxAdapter.bind"].EnergyJ, local["Json.parse"].EnergyJ, local["MessageStore.load"].EnergyJ; !(a > b && b > c && c > 0) {
				t.Errorf("joules are %.3f, %.3f and %.3f: %v", a, b, c, local)
			}
			// The gauge's second and the rails' quarter of a second contain more sleep than work:
			// by the readings while methods ran they used far less than the truth.
			truth := 0.0
			for n := 1; n <= 3; n++ {
				span := kept.of(n)
				truth += s.Phone.Truth(span.from, span.to).CPUJ / 3
			}
			if app := r.Run.Iterations[0].Metrics["energy.app_j"]; math.Abs(app-m.ReadJ) > 0.1*m.ReadJ || m.ReadJ > 0.8*truth {
				t.Errorf("energy.app_j is %.2f J, the methods' sum as read %.2f J, truly %.2f J", app, m.ReadJ, truth)
			}
			t.Logf("the methods took %.2f J as told apart (%+.0f %%), %.2f J as read (%+.0f %%), truly %.2f J", m.EnergyJ, 100*(m.EnergyJ/truth-1), m.ReadJ, 100*(m.ReadJ/truth-1), truth)
			if m.Power != run.PowerSplit || m.EnergyJ < 0.9*truth {
				t.Errorf("told apart (%q) the methods took %.2f J, as read %.2f J, truly %.2f J", m.Power, m.EnergyJ, m.ReadJ, truth)
			}
		})
	}
}

// The demo app holds a wakelock for 2 s and receives 180 KiB, on a phone that counts neither while
// it believes to be charging. Android counts the wakelock only while the screen is off.
func TestSimulatedWakelocksAndBytes(t *testing.T) {
	t.Parallel()
	_, job, _ := powered(t, "sdk-gphone64-x86-android-14", simulator.Options{}, config.DefaultEnergy())
	app, err := os.ReadFile(job.App.APK)
	if err != nil {
		t.Fatal(err)
	}
	app = bytes.Replace(app, []byte("\nscenario "), []byte("\nscreen-off from open-list for 5s\n\nscenario "), 1)
	if err := os.WriteFile(job.App.APK, app, 0o600); err != nil {
		t.Fatal(err)
	}
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 3)
	for i, it := range r.Run.Iterations {
		m := it.Metrics
		if math.Abs(m["wakelock.screen_off_ms"]-2000) > 100 || m["wakelock.time_ms"] != m["wakelock.screen_off_ms"] || math.Abs(m["network.rx_bytes"]-180<<10) > 1 {
			t.Errorf("repetition %d: %v", i+1, m)
		}
	}
	if locks := r.Run.Energy.Wakelocks; len(locks) != 1 || locks[0].Name != "com.example.demo:sync" || math.Abs(locks[0].ScreenOffMS-2000) > 100 {
		t.Errorf("%+v", locks)
	}
}

// The joules of a simulated run depend only on its seed, and not on how long this computer takes to
// receive events.
func TestSimulatedJoulesAreReproducible(t *testing.T) {
	t.Parallel()
	digest := func(profile string, late time.Duration) string {
		settings := config.DefaultEnergy()
		settings.Methods = profile == "pixel-7-android-14"
		_, job, _ := powered(t, profile, simulator.Options{}, settings)
		open := job.Open
		job.Open = func(ctx context.Context) (device.Device, error) {
			d, err := open(ctx)
			return slow{d, late}, err
		}
		r := collect.Collect(t.Context(), job, collect.Options{Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
		wantComplete(t, r, 3)
		d, err := r.Run.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for profile, late := range map[string]time.Duration{"pixel-7-android-14": 60 * time.Millisecond, "nexus-5x-android-6.0.0": 0} {
		if a, b := digest(profile, 0), digest(profile, late); a != b {
			t.Errorf("two records of one measurement on %s: %s and %s", profile, a, b)
		}
	}
}

// slow is a device whose workloads are reported late, in this computer's time.
type slow struct {
	device.Device
	late time.Duration
}

func (d slow) Start(ctx context.Context, command string) (device.Process, error) {
	p, err := d.Device.Start(ctx, command)
	return slowProcess{p, d.late}, err
}

type slowProcess struct {
	device.Process
	late time.Duration
}

func (p slowProcess) Stdout() io.Reader { return slowReader{p.Process.Stdout(), p.late} }

type slowReader struct {
	io.Reader
	late time.Duration
}

func (r slowReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	time.Sleep(r.late)
	return n, err
}

// Whatever happens to the phone in the second measured repetition, it is repeated and the phone
// left as it was.
func TestSimulatedFaultsWithEnergy(t *testing.T) {
	t.Parallel()
	settings := config.DefaultEnergy()
	settings.Methods = true
	for name, f := range map[string]simapp.Fault{
		"crash":        {Kind: simapp.Crash, At: 3 * time.Second, Repetition: 3},
		"stuck":        {Kind: simapp.Stuck, At: 3 * time.Second, Repetition: 3},
		"process lost": {Kind: simapp.Lost, At: 3 * time.Second, Repetition: 3},
		"drop":         {Kind: simapp.Drop, At: 3 * time.Second, Repetition: 3},
		"reboot":       {Kind: simapp.Reboot, At: 3 * time.Second, Repetition: 3},
		"hang":         {Kind: simapp.Hang, At: 3 * time.Second, For: 5 * time.Second, Repetition: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, job, _ := powered(t, "pixel-7-android-14", simulator.Options{Powered: "usb", Faults: []simapp.Fault{f}}, settings)
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 3)
			if !warnedOf(r.Run, "repetition 2 is lost") {
				t.Errorf("%v", r.Run.Warnings)
			}
			wantClean(t, job)
		})
	}
}

// wantClean checks that the phone runs no recorder, has no file of one, and reports its charger
// truthfully.
func wantClean(t *testing.T, job collect.Job) {
	t.Helper()
	d, err := job.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	for command, want := range map[string]string{
		"pidof perfetto; pidof simpleperf; echo":                           "",
		"ls /data/misc/perfetto-traces; ls /data/local/tmp | grep apkgate": "",
		"dumpsys battery | grep 'USB powered'":                             "USB powered: true",
		"settings get system screen_off_timeout":                           "60000",
	} {
		out, err := d.Exec(t.Context(), command)
		if err != nil || strings.TrimSpace(string(out.Stdout)) != want {
			t.Errorf("%s: %q, %v; want %q", command, out.Stdout, err, want)
		}
	}
}

// A charger that is connected in the second repetition loses that and all later ones.
func TestSimulatedChargerLosesTheRepetition(t *testing.T) {
	t.Parallel()
	s, job, _ := powered(t, "pixel-5-android-11", simulator.Options{}, config.DefaultEnergy())
	r := collect.Collect(t.Context(), job, collect.Options{Progress: progressFunc(func(e journal.Event) {
		if e.Phase == journal.Measure && e.Repetition == 2 {
			s.Phone.SetPowered("usb")
		}
	})})
	if r.Run.Status != run.Partial || !errors.Is(r.Err, energy.ErrCharging) || len(r.Run.Iterations) != 1 {
		t.Errorf("status %s, %d iterations, %v", r.Run.Status, len(r.Run.Iterations), r.Err)
	}
}

func TestSimulatedPhoneWithoutAConnection(t *testing.T) {
	t.Parallel()
	settings := config.DefaultEnergy()
	settings.Disconnect = 6 * time.Second
	_, job, _ := powered(t, "pixel-7-android-14", simulator.Options{}, settings)
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 3)
	for i, it := range r.Run.Iterations {
		watts := it.Metrics["power.mean_w"]
		if took := it.Metrics["energy.total_j"] / watts; took < 8 || took > 9.5 || watts < 0.8 || watts > 3 || len(it.Events) != 6 {
			t.Errorf("repetition %d: %.2f s at %.2f W, %d buckets", i+1, took, watts, len(it.Events))
		}
	}
}
