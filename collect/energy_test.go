package collect_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/model"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// measured collects with energy on a modified phone.
func measured(t *testing.T, api int, source string, change func(*power), changeJob func(*collect.Job)) (*phone, collect.Result) {
	t.Helper()
	p := newPhone(api)
	p.power = newPower()
	if change != nil {
		change(p.power)
	}
	settings := config.DefaultEnergy()
	settings.Source = source
	r := collectOn(t, p, func(j *collect.Job) {
		j.Energy = &settings
		if changeJob != nil {
			changeJob(j)
		}
	})
	return p, r
}

// The phone draws 2 W for 10 s, and 2 W more in the 3 s between a and b: 26 J in all, of which 2 ×
// 2.005, 4 × 3 and 2 × 4.995 in the buckets. Readings are 250 ms apart, so that a step may be seen
// up to that much early or late.
func wantTrueJoules(t *testing.T, r collect.Result) {
	t.Helper()
	wantComplete(t, r, 3)
	const late = 0.25 * 2 // J: a step of 2 W, 250 ms off
	near := func(what string, got, want, within float64) {
		if math.Abs(got-want) > within {
			t.Errorf("%s is %.3f, want %.3f ± %.2f", what, got, want, within)
		}
	}
	for _, it := range r.Run.Iterations {
		near("energy.total_j", it.Metrics["energy.total_j"], 26, late)
		near("power.mean_w", it.Metrics["power.mean_w"], 2.6, 0.05)
		for i, want := range []float64{4.01, 12, 9.99} {
			near("energy of "+it.Events[i].Name, it.Events[i].Metrics["energy.total_j"], want, late)
		}
		if it.Metrics["wakelock.time_ms"] != 3000 || it.Metrics["network.rx_bytes"] != 5000 || it.Metrics["network.tx_bytes"] != 700 {
			t.Errorf("by batterystats: %v", it.Metrics)
		}
	}
	if len(r.Run.Energy.Wakelocks) != 1 || r.Run.Energy.Wakelocks[0].Name != "Sync" || r.Run.Energy.Wakelocks[0].HeldMS != 3000 {
		t.Errorf("wakelocks: %+v", r.Run.Energy.Wakelocks)
	}
}

// slowStart is a Maestro that takes 8 s to start, in which the device idles at 1 W.
type slowStart struct {
	*phone
	called, begun chan struct{}
	due           time.Duration // when the flow begins
	flow          device.Process
}

const jvmTakes = 8 * time.Second

func (s *slowStart) host(context.Context, string, ...string) ([]byte, int, error) {
	s.due = s.Now() + jvmTakes
	close(s.called)
	<-s.begun
	_, err := s.flow.Wait()
	return nil, 0, err
}

// Sleep waits for the host where the collector waits for the workload: 20 ms at a time.
func (s *slowStart) Sleep(ctx context.Context, d time.Duration) (err error) {
	if d > 20*time.Millisecond {
		return s.phone.Sleep(ctx, d)
	}
	<-s.called
	if err := s.phone.Sleep(ctx, d); err != nil {
		return err
	}
	if s.flow == nil && s.Now() >= s.due {
		s.flow, err = s.Start(ctx, "flow")
		close(s.begun)
	}
	return err
}

// The energy used while Maestro starts is not the scenario's.
func TestEnergyOfAFlowBeginsWithTheApp(t *testing.T) {
	t.Parallel()
	p := newPhone(33)
	p.power = newPower()
	p.power.rails, p.power.charger = true, "USB"
	s := &slowStart{phone: p, called: make(chan struct{}), begun: make(chan struct{})}
	job := p.job("fake")
	job.Clock = s
	settings := config.DefaultEnergy()
	job.Energy = &settings
	job.Scenario.Repetitions = 1
	job.Scenario.Workload = config.Workload{Maestro: &config.Maestro{Flow: "flows/open.yaml"}}
	r := collect.Collect(t.Context(), job, collect.Options{Host: s.host})
	wantComplete(t, r, 1)
	// 2 W from 50 ms, when the app's first activity is started, to "a" at 2.005 s.
	if start := r.Run.Iterations[0].Events[0]; start.Name != run.Start || math.Abs(start.Metrics["energy.total_j"]-3.91) > 0.5 {
		t.Errorf("before the first event %v, want 3.91 J, and none of the 8 J before the app is started", start)
	}
}

func TestEnergyByRails(t *testing.T) {
	t.Parallel()
	for _, api := range []int{29, 33} {
		p, r := measured(t, api, config.EnergyAuto, func(w *power) { w.rails, w.charger = true, "USB" }, nil)
		wantTrueJoules(t, r)
		if e := r.Run.Energy; e.Source != "rails" || r.Run.Context[metric.EnergyFrom] != "rails" || len(e.Components) != 1 || e.UpdateMS != 250 {
			t.Errorf("API %d: %+v in %v", api, e, r.Run.Context)
		}
		if r.Run.Context["powered"] != "usb" || r.Run.Context["compiled"] != "speed" {
			t.Errorf("context %v", r.Run.Context)
		}
		wantUndone(t, p)
	}
}

// The workload's joules are right however long the device takes to report its clock.
func TestEnergyBeginsWithTheWorkload(t *testing.T) {
	t.Parallel()
	p := newPhone(33)
	p.power, p.slowDump = newPower(), time.Second
	p.power.rails, p.power.charger, p.power.hungry = true, "USB", true
	settings := config.DefaultEnergy()
	r := collectOn(t, p, func(j *collect.Job) { j.Energy = &settings })
	wantComplete(t, r, 3)
	const want, late = 8 * 10, 0.25 * 7 // J: 8 W for 10 s; the step from 1 W, 250 ms off
	for _, it := range r.Run.Iterations {
		if got := it.Metrics["energy.total_j"]; math.Abs(got-want) > late {
			t.Errorf("%.2f J, want %d", got, want)
		}
	}
}

// wantUndone checks that the phone is as it was found.
func wantUndone(t *testing.T, p *phone) {
	t.Helper()
	w := p.power
	if len(w.recording) != 0 || w.unplugged || w.settings["screen_off_timeout"] != "60000" || w.settings["perf_harden"] != "1" || w.settings["screen_brightness_mode"] != "1" {
		t.Errorf("left behind: %v, unplugged %v, settings %v", w.recording, w.unplugged, w.settings)
	}
	for path := range w.files {
		if path != "config" {
			t.Errorf("%s is left on the device", path)
		}
	}
}

func TestEnergyByTheBattery(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		api                      int
		noVolts, noProps, noWait bool
	}{
		"Android 15": {35, false, false, false},
		"Android 14, whose perfetto tells no voltage": {34, true, false, false},
		"Android 13, and no chargers":                 {33, true, true, false},
		"Android 12, and does not wait":               {31, true, true, true},
		"Android 10":                                  {29, true, true, true},
		"Android 8, without perfetto":                 {27, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, r := measured(t, c.api, config.EnergyAuto, func(w *power) {
				w.current, w.noVolts, w.noProps, w.noWait = true, c.noVolts, c.noProps, c.noWait
			}, nil)
			wantComplete(t, r, 3)
			if r.Run.Energy.Source != "battery" || r.Run.Context["powered"] != "battery" {
				t.Errorf("%+v, %v", r.Run.Energy, r.Run.Context)
			}
			if c.api >= 29 {
				wantTrueJoules(t, r)
			} else if got := r.Run.Iterations[0].Metrics["energy.total_j"]; math.Abs(got-26) > 3 {
				t.Errorf("%.2f J, want 26: readings are a second apart", got)
			}
			if p.did("dumpsys battery unplug") != 0 {
				t.Error("the battery service was lied to while the battery was measured")
			}
			wantUndone(t, p)
		})
	}
}

// 8 W could be 8 mW in another unit if there is no charge counter. The idle readings of the sensors
// during set-up settle it.
func TestCurrentUnitIsKeptFromSetUp(t *testing.T) {
	t.Parallel()
	_, r := measured(t, 33, config.EnergyAuto, func(w *power) { w.current, w.hungry = true, true }, nil)
	wantComplete(t, r, 3)
	want := 8 * workloadTime.Seconds()
	if got := r.Run.Iterations[0].Metrics["energy.total_j"]; r.Run.Energy.Source != "battery" || math.Abs(got-want) > 0.03*want {
		t.Errorf("%.2f J by %s, want %.2f by the battery", got, r.Run.Energy.Source, want)
	}
}

func TestEnergyOfAnEmulatorIsModelled(t *testing.T) {
	t.Parallel()
	p, r := measured(t, 33, config.EnergyAuto, func(w *power) { w.emulator, w.charger = true, "AC" }, nil)
	wantComplete(t, r, 3)
	if e := r.Run.Energy; e.Source != "model "+model.ReferencePhone || e.BatteryJ == 0 {
		t.Errorf("%+v", e)
	}
	for _, it := range r.Run.Iterations {
		total, parts := it.Metrics["energy.total_j"], 0.0
		for _, b := range it.Events {
			parts += b.Metrics["energy.total_j"]
		}
		// What batterystats reports only of the whole run is in no bucket.
		if !(total > 1 && total < 100) || parts > total || parts < 0.99*total {
			t.Errorf("%.2f J in all, %.2f J in the buckets", total, parts)
		}
		if app := it.Metrics["energy.app_j"]; !(app > 0 && app < total) {
			t.Errorf("the app's part is %.2f J of %.2f J", app, total)
		}
	}
	if p.did("dumpsys battery unplug") != 1 || p.did("dumpsys battery reset") != 1 {
		t.Error("batterystats counts on battery alone, which an emulator never is")
	}
	wantUndone(t, p)
}

// The app had sensor 11 of 20 mA on for 8 s of each repetition: at 3.85 V that is 0.616 J. If the
// device's statement is implausible or unreadable, only the sensors' energy is missing, with a
// warning; without a statement there is no warning.
func TestEnergyOfSensorsIsModelled(t *testing.T) {
	t.Parallel()
	const on = "9,10123,l,sr,11,8000,1,0,8000,0\n"
	sensor := func(milliamperes float32) string {
		part := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 11)
		part = protowire.AppendFixed32(protowire.AppendTag(part, 24, protowire.Fixed32Type), math.Float32bits(milliamperes))
		list := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), part)
		return string(protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), list))
	}
	for name, c := range map[string]struct {
		api     int
		prints  string
		joules  float64
		warning string
	}{
		"a current":    {33, sensor(20), 0.616, ""},
		"none":         {33, sensor(0), 0, ""},
		"no sensors":   {33, "", 0, ""},
		"nonsense":     {33, sensor(-20), 0, "states a current of -20 mA"},
		"another text": {33, "Permission Denial: can't dump SensorService\n", 0, "begins with \"Permission Denial"},
		"Android 10":   {29, sensor(20), 0, ""},
	} {
		p, r := measured(t, c.api, config.EnergyModel, func(w *power) { w.estimate, w.sensors = on, c.prints }, nil)
		wantComplete(t, r, 3)
		got := 0.0
		for _, part := range r.Run.Energy.Components {
			if part.Name == "sensors" {
				got = part.EnergyJ
			}
		}
		if math.Abs(got-c.joules) > 1e-6 || r.Run.Energy.Source != "model "+model.ReferencePhone {
			t.Errorf("%s: the sensors took %.4f J by the %s, want %.4f J", name, got, r.Run.Energy.Source, c.joules)
		}
		if warned := warnedOf(r.Run, "sensors"); warned != (c.warning != "") || warned && !warnedOf(r.Run, c.warning) {
			t.Errorf("%s: %v, want a warning with %q", name, r.Run.Warnings, c.warning)
		}
		if asked := p.did("dumpsys sensorservice --proto"); asked > 1 || asked == 1 != (c.api >= 30) {
			t.Errorf("%s: the device was asked %d times", name, asked)
		}
	}
}

// Without an energy section no extra command is sent.
func TestNoExtraCommandsWithoutEnergy(t *testing.T) {
	t.Parallel()
	plain, none := newPhone(30), newPhone(30)
	plain.power, none.power = newPower(), newPower()
	wantComplete(t, collectOn(t, plain, nil), 3)
	wantComplete(t, collectOn(t, none, func(j *collect.Job) { j.Energy = &config.Energy{Source: config.EnergyNone} }), 3)
	if diff := cmp.Diff(plain.kinds(), none.kinds()); diff != "" {
		t.Errorf("no section (-), source none (+):\n%s", diff)
	}
	for _, c := range plain.commands {
		for _, word := range []string{"perfetto", "simpleperf", "sensorservice", "batterystats", "compile", "/proc/stat", "unplug"} {
			if strings.Contains(c, word) {
				t.Errorf("sent without energy: %s", c)
			}
		}
	}
}

var digits = regexp.MustCompile(`[0-9]+|mywpi\w+`)

// kinds returns the commands that were sent, without duplicates and numbers.
func (p *phone) kinds() []string {
	seen := map[string]bool{}
	for _, c := range p.commands {
		seen[digits.ReplaceAllString(c, "N")] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func TestChargingLosesTheRepetition(t *testing.T) {
	t.Parallel()
	p, r := measured(t, 33, config.EnergyBattery, func(w *power) { w.current, w.chargeAt = true, 2 }, nil)
	if !loss.IsInfrastructure(r.Err) || !errors.Is(r.Err, energy.ErrCharging) || !errors.Is(r.Err, loss.ErrEnergy) || r.Run.Status != run.Partial {
		t.Fatalf("status %s, %v", r.Run.Status, r.Err)
	}
	var hinted interface{ Hint() string }
	if !errors.As(r.Err, &hinted) || !strings.Contains(hinted.Hint(), "unplug") {
		t.Errorf("no word on what to do: %v", r.Err)
	}
	wantUndone(t, p)
}

// A charger that was connected too briefly to be queried is in the trace.
func TestBriefChargerLosesTheRepetition(t *testing.T) {
	t.Parallel()
	for _, noProps := range []bool{false, true} {
		_, r := measured(t, 34, config.EnergyAuto, func(w *power) { w.current, w.plugAt, w.noVolts, w.noProps = true, 2, true, noProps }, nil)
		wantTrueJoules(t, r)
		if r.Run.Energy.Source != "battery" || warnedOf(r.Run, "repetition 2 is lost", "a charger") == noProps {
			t.Errorf("a perfetto without system properties: %v; %v", noProps, r.Run.Warnings)
		}
	}
}

// Rails stay true with a charger, but differ from a run without.
func TestChargerWarnsWithRails(t *testing.T) {
	t.Parallel()
	for _, plugAt := range []int{0, 2} {
		_, r := measured(t, 34, config.EnergyAuto, func(w *power) { w.rails, w.noVolts, w.plugAt = true, true, plugAt }, nil)
		wantTrueJoules(t, r)
		if told := warnedOf(r.Run, "a charger was connected"); r.Run.Context["powered"] != "battery" || told != (plugAt > 0) {
			t.Errorf("plugged in at %d: %v, %v", plugAt, r.Run.Context, r.Run.Warnings)
		}
	}
}

func TestLostTraceLosesTheRepetition(t *testing.T) {
	t.Parallel()
	p, r := measured(t, 33, config.EnergyAuto, func(w *power) { w.rails, w.loseTrace = true, 2 }, nil)
	wantTrueJoules(t, r)
	if !warnedOf(r.Run, "repetition 2 is lost", "apkgate.pftrace") || p.opened != 1 {
		t.Errorf("opened %d times: %v", p.opened, r.Run.Warnings)
	}
	wantUndone(t, p)
}

func TestMissingEnergySourceIsAnError(t *testing.T) {
	t.Parallel()
	for _, source := range []string{config.EnergyRails, config.EnergyBattery} {
		p, r := measured(t, 33, source, nil, nil)
		if r.Run.Status != run.Failed || !loss.IsConfiguration(r.Err) || !strings.HasPrefix(r.Err.Error(), "measure energy by "+source+": the ") {
			t.Errorf("%s: status %s, %v", source, r.Run.Status, r.Err)
		}
		wantUndone(t, p)
	}
	_, r := measured(t, 33, config.EnergyAuto, func(w *power) { w.current, w.charger = true, "USB" }, nil)
	wantComplete(t, r, 3)
	if !warnedOf(r.Run, "energy is estimated by the model reference-phone: the device's power rails report nothing; the device was not on battery: a charger is connected (unplug the device, or use wireless adb)") || !strings.HasPrefix(r.Run.Energy.Source, "model") {
		t.Errorf("%v", r.Run.Warnings)
	}
}

func TestRefusedCompilationEndsARunWithEnergy(t *testing.T) {
	t.Parallel()
	_, r := measured(t, 33, config.EnergyModel, func(w *power) { w.refuse = "Failure: package not found" }, nil)
	if !loss.IsInfrastructure(r.Err) || !strings.Contains(r.Err.Error(), "package not found") || r.Run.Status != run.Failed {
		t.Errorf("status %s, %v", r.Run.Status, r.Err)
	}
	p, r := measured(t, 33, config.EnergyModel, nil, func(j *collect.Job) { j.Energy.Compile = config.CompileNone })
	wantComplete(t, r, 3)
	if p.did("cmd package compile -m speed -f "+pkg) != 0 || r.Run.Context["compiled"] != "none" {
		t.Errorf("compiled all the same: %v", r.Run.Context)
	}
}

func TestDeviceSettlesBeforeEnergyIsMeasured(t *testing.T) {
	t.Parallel()
	ninety := 90 * time.Second
	for _, c := range []struct {
		settle *time.Duration
		rails  bool
		want   time.Duration
	}{{nil, true, 2 * time.Minute}, {nil, false, 0}, {&ninety, false, ninety}} {
		p := newPhone(33)
		p.power = newPower()
		p.power.rails = c.rails
		job := p.job("fake")
		settings := config.DefaultEnergy()
		settings.Settle = c.settle
		job.Energy, job.Scenario.Repetitions = &settings, 1
		var rested time.Duration
		var said []string
		began := time.Duration(-1)
		r := collect.Collect(t.Context(), job, collect.Options{Progress: progressFunc(func(e journal.Event) {
			switch {
			case e.Phase == journal.Settle:
				said = append(said, e.Message)
				if began < 0 {
					began = p.Now()
				}
			case e.Phase == journal.Measure && began >= 0:
				rested = p.Now() - began
			}
		})})
		wantComplete(t, r, 1)
		if rested != c.want || len(said) > 0 && said[0] != prose.Duration(c.want)+" left" {
			t.Errorf("rested %v, want %v; said %q", rested, c.want, said)
		}
	}
}

// An interrupt at any time ends the run at once, and everything is undone.
func TestInterruptUndoesEnergySetUp(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"set-up: trying the power sensors", "set-up: compiling the app", "settle: 2m left", "measure: ", "recording"} {
		p := newPhone(33)
		p.power = newPower()
		p.power.rails, p.power.simpleperf, p.power.charger = true, "works", "USB"
		job := p.job("fake")
		settings := config.DefaultEnergy()
		settings.Methods = true
		job.Energy = &settings
		ctx, cancel := context.WithCancel(t.Context())
		job.Clock = cancelling{p, func() bool { return when == "recording" && p.recordsWorkload() }, cancel}
		r := collect.Collect(ctx, job, collect.Options{Progress: progressFunc(func(e journal.Event) {
			if string(e.Phase)+": "+e.Message == when {
				cancel()
			}
		})})
		cancel()
		if r.Run.Status != run.Failed || !errors.Is(r.Err, context.Canceled) {
			t.Errorf("%s: status %s, %v", when, r.Run.Status, r.Err)
		}
		wantUndone(t, p)
	}
}

// cancelling is a clock on which the user interrupts when a condition holds.
type cancelling struct {
	*phone
	when   func() bool
	cancel func()
}

func (c cancelling) Sleep(ctx context.Context, d time.Duration) error {
	if c.when() {
		c.cancel()
	}
	return c.phone.Sleep(ctx, d)
}

// recordsWorkload reports whether a workload runs while Perfetto records.
func (p *phone) recordsWorkload() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run != nil && !p.run.hungUp && len(p.power.recording) > 0
}

func TestDebugBuildIsReported(t *testing.T) {
	t.Parallel()
	_, r := measured(t, 33, config.EnergyModel, func(w *power) { w.debug = true }, nil)
	wantComplete(t, r, 3)
	if r.Run.Context["debuggable"] != "true" {
		t.Errorf("context %v", r.Run.Context)
	}
}

// 100 samples of 100 ms: 30 of List.draw at 4 W are 12 J, 70 of Main.open at 2 W are 14 J.
func TestMethodsGetTheirJoules(t *testing.T) {
	t.Parallel()
	for simpleperf, doubt := range map[string]string{"works": "", "no task-clock": "sampled by cpu-clock"} {
		p, r := measured(t, 33, config.EnergyAuto, func(w *power) { w.rails, w.simpleperf = true, simpleperf }, func(j *collect.Job) { j.Energy.Methods = true })
		wantTrueJoules(t, r)
		m := r.Run.Energy.Methods
		if m == nil || m.Samples != 300 || math.Abs(m.CPUMS-10_000) > 1 || len(r.Traces) != 3 || len(m.List) != 2 {
			t.Fatalf("%s: %d traces, %+v", simpleperf, len(r.Traces), m)
		}
		for i, want := range []struct {
			name   string
			joules float64
		}{{"com.example.Main.open", 14}, {"com.example.List.draw", 12}} {
			if got := m.List[i]; got.Name != want.name || math.Abs(got.Local.EnergyJ-want.joules) > 0.6 {
				t.Errorf("%s: %s took %.2f J, want %s %.2f J", simpleperf, got.Name, got.Local.EnergyJ, want.name, want.joules)
			}
		}
		it := r.Run.Iterations[0]
		if got := it.Metrics["energy.app_j"]; math.Abs(got-26) > 0.6 {
			t.Errorf("%s: the app took %.2f J, want 26", simpleperf, got)
		}
		if got := it.Events[1].Metrics["energy.app_j"]; math.Abs(got-12) > 0.6 {
			t.Errorf("%s: the app took %.2f J after a, want 12", simpleperf, got)
		}
		if doubt != "" && !warnedOf(r.Run, doubt) {
			t.Errorf("%s: %v", simpleperf, r.Run.Warnings)
		}
		wantUndone(t, p)
	}
}

func TestUnprofileableAppEndsTheRun(t *testing.T) {
	t.Parallel()
	p, r := measured(t, 33, config.EnergyModel, func(w *power) { w.simpleperf = "not profileable" }, func(j *collect.Job) { j.Energy.Methods = true })
	var hinted interface{ Hint() string }
	if !loss.IsConfiguration(r.Err) || !strings.Contains(r.Err.Error(), "neither profileable nor a debug build") ||
		!errors.As(r.Err, &hinted) || !strings.Contains(hinted.Hint(), `<profileable android:shell="true"/>`) {
		t.Error(r.Err)
	}
	if p.workloads > 1 {
		t.Errorf("it was tried %d times", p.workloads)
	}
	wantUndone(t, p)
}

// A phone of a lab without simpleperf measures everything but its methods.
func TestPhoneWithoutSimpleperf(t *testing.T) {
	t.Parallel()
	_, r := measured(t, 27, config.EnergyModel, func(w *power) { w.simpleperf = "" }, func(j *collect.Job) { j.Energy.Methods = true })
	wantComplete(t, r, 3)
	if !warnedOf(r.Run, "the device has no simpleperf") || r.Run.Energy.Methods != nil || r.Run.Iterations[0].Metrics["energy.total_j"] <= 0 {
		t.Errorf("%v, %+v", r.Run.Warnings, r.Run.Energy)
	}
}

// Samples without times on the workload's clock are unusable: everything else is measured.
func TestSamplesWithoutTimesAreLeftOut(t *testing.T) {
	t.Parallel()
	_, r := measured(t, 28, config.EnergyModel, func(w *power) { w.simpleperf = "old kernel" }, func(j *collect.Job) { j.Energy.Methods = true })
	wantComplete(t, r, 3)
	if !warnedOf(r.Run, "methods are not sampled", "clockid is not supported by the kernel", "NDK") || r.Run.Energy.Methods != nil || r.Run.Iterations[0].Metrics["energy.total_j"] <= 0 {
		t.Errorf("%v, %+v", r.Run.Warnings, r.Run.Energy)
	}
}

// An unreadable recording or mapping is reported once, not three times.
func TestUnreadableMethodsAreReported(t *testing.T) {
	t.Parallel()
	mapping := filepath.Join(t.TempDir(), "mapping.txt")
	if err := os.WriteFile(mapping, []byte("com.example.Main -> a.a:\n# {\"id\": cut\n    void open() -> a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, r := measured(t, 33, config.EnergyModel, func(w *power) { w.simpleperf = "cut" }, func(j *collect.Job) {
		j.Energy.Methods, j.App.Mapping = true, mapping
	})
	wantComplete(t, r, 3)
	if !warnedOf(r.Run, "the app's mapping", mapping, "line 2", "not JSON") || !warnedOf(r.Run, "the recording of the methods") {
		t.Error(r.Run.Warnings)
	}
	if told := slices.DeleteFunc(slices.Clone(r.Run.Warnings), func(w run.Warning) bool { return !strings.HasPrefix(w.Text, "the recording of") }); len(told) != 1 {
		t.Errorf("told %d times: %v", len(told), told)
	}
}

// A simpleperf that the user pushed is preferred.
func TestPushedSimpleperf(t *testing.T) {
	t.Parallel()
	p, r := measured(t, 28, config.EnergyModel, func(w *power) { w.simpleperf = "pushed" }, func(j *collect.Job) { j.Energy.Methods = true })
	wantComplete(t, r, 3)
	if r.Run.Energy.Methods == nil || !slices.ContainsFunc(p.commands, func(c string) bool { return strings.Contains(c, "nohup /data/local/tmp/simpleperf record") }) {
		t.Errorf("%+v, %v", r.Run.Energy.Methods, r.Run.Warnings)
	}
}

// A battery state faked by a killed run is reset before it is read.
func TestFakedBatteryOfAKilledRunIsReset(t *testing.T) {
	t.Parallel()
	p, r := measured(t, 33, config.EnergyAuto, func(w *power) { w.current, w.charger, w.unplugged = true, "USB", true }, nil)
	wantComplete(t, r, 3)
	if r.Run.Context["powered"] != "usb" || r.Run.Energy.Source == "battery" || !warnedOf(r.Run, "was reset") {
		t.Errorf("%v, %+v, %v", r.Run.Context, r.Run.Energy, r.Run.Warnings)
	}
	wantUndone(t, p)
}

// A killed run leaves its recorders running, and the screen timeout changed.
func TestRecordersOfAKilledRunAreEnded(t *testing.T) {
	t.Parallel()
	p, r := measured(t, 33, config.EnergyModel, func(w *power) {
		w.settings["screen_off_timeout"] = "86399000"
		w.recording["31"] = &recording{line: "perfetto --txt -c - -o /data/misc/perfetto-traces/apkgate.pftrace --background-wait"}
		w.recording["32"] = &recording{line: "simpleperf record --app com.example -o /data/local/tmp/apkgate-perf.data"}
		w.recording["33"] = &recording{line: "perfetto -o /data/misc/perfetto-traces/yours.pftrace"}
	}, nil)
	wantComplete(t, r, 3)
	if len(p.power.recording) != 1 || p.power.recording["33"] == nil {
		t.Errorf("these still record, want the one that is not ours: %v", p.power.recording)
	}
	if !warnedOf(r.Run, "screen was set to stay on", "killed") || p.power.settings["screen_off_timeout"] != "60000" {
		t.Errorf("the screen goes off after %s ms: %v", p.power.settings["screen_off_timeout"], r.Run.Warnings)
	}
}

// A recorder that ignores the signal to end is killed; perfetto can't be, by Android's SELinux
// policy, so it is reported as left.
func TestRecorderThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	p, r := measured(t, 30, config.EnergyModel, func(w *power) { w.simpleperf, w.stuck = "works", true }, func(j *collect.Job) { j.Energy.Methods = true })
	if !loss.IsInfrastructure(r.Err) || !strings.Contains(r.Err.Error(), "end simpleperf: it still runs") {
		t.Errorf("a simpleperf that does not end: %v", r.Err)
	}
	wantUndone(t, p)
	p, r = measured(t, 33, config.EnergyAuto, func(w *power) { w.rails, w.stuck = true, true }, nil)
	if !loss.IsInfrastructure(r.Err) || !strings.Contains(r.Err.Error(), "end perfetto: it still runs") || !warnedOf(r.Run, "end what records", "end perfetto: it still runs") {
		t.Errorf("a perfetto that does not end: %v; %v", r.Err, r.Run.Warnings)
	}
	p.power.recording = nil
	wantUndone(t, p)
}

// An interrupt while the connection is cut reopens it to undo everything.
func TestInterruptWhileTheConnectionIsCut(t *testing.T) {
	t.Parallel()
	for _, away := range []bool{false, true} {
		p := newPhone(33)
		p.power = newPower()
		p.power.rails, p.power.charger, p.serial = true, "USB", "10.0.0.7:5555"
		settings := config.DefaultEnergy()
		settings.Disconnect = 8 * time.Second
		job := p.job("fake")
		job.Energy = &settings
		ctx, cancel := context.WithCancel(t.Context())
		job.Clock = cancelling{p, func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.stayGone = p.hungUp && away
			return p.hungUp
		}, cancel}
		r := collect.Collect(ctx, job, collect.Options{})
		cancel()
		if !errors.Is(r.Err, context.Canceled) {
			t.Errorf("status %s, %v", r.Run.Status, r.Err)
		}
		if away {
			if !warnedOf(r.Run, "the device is gone", "still to do", "dumpsys battery reset", "set the setting screen_off_timeout back to 60000") {
				t.Errorf("%v", r.Run.Warnings)
			}
			continue
		}
		wantUndone(t, p)
	}
}

// A connection that breaks during set-up ends the run; it is reopened to undo everything.
func TestBrokenConnectionInSetUp(t *testing.T) {
	t.Parallel()
	p, r := measured(t, 33, config.EnergyAuto, func(w *power) { w.rails, w.dropped, w.charger = true, true, "USB" }, nil)
	if !loss.IsInfrastructure(r.Err) || !errors.Is(r.Err, device.ErrGone) || p.opened != 2 || warnedOf(r.Run, "still to do") {
		t.Errorf("opened %d times, %v, %v", p.opened, r.Err, r.Run.Warnings)
	}
	wantUndone(t, p)
}

// A lost device comes back restarted: what a restart undoes is done again, and the lost
// repetition's recorders don't interfere.
func TestEnergyOutlivesALostDevice(t *testing.T) {
	t.Parallel()
	p := newPhone(33)
	p.power = newPower()
	p.power.rails, p.power.charger = true, "USB"
	p.fail = func(n int) fault { return fault{gone: n == 2} }
	settings := config.DefaultEnergy()
	job := p.job("fake")
	job.Energy = &settings
	var said rests
	r := collect.Collect(t.Context(), job, collect.Options{Progress: &said})
	wantComplete(t, r, 3)
	if !slices.Equal(said.long, []string{"2m left", "2m left"}) {
		t.Errorf("rested %q, want 2 min to begin with and 2 min after the device came back", said.long)
	}
	if p.opened != 2 || p.did("dumpsys battery unplug") != 2 || p.did("dumpsys battery reset") != 1 {
		t.Errorf("opened %d times, unplugged %d times", p.opened, p.did("dumpsys battery unplug"))
	}
	wantUndone(t, p)
}

// rests records how long each rest is to be.
type rests struct {
	long    []string
	resting bool
}

func (r *rests) Report(e journal.Event) {
	if e.Phase == journal.Settle && !r.resting {
		r.long = append(r.long, e.Message)
	}
	r.resting = e.Phase == journal.Settle
}

// Both builds are measured alike: compiled, and left to settle. The configured rest applies to
// each.
func TestEnergyOfTwoBuildsInTurns(t *testing.T) {
	t.Parallel()
	minute := time.Minute
	for _, c := range []struct {
		settle *time.Duration
		want   []string // base, head head, base: three installations
	}{{nil, []string{"2m left", "30s left", "30s left"}}, {&minute, []string{"1m left", "1m left", "1m left"}}} {
		inTurnsWithEnergy(t, c.settle, c.want)
	}
}

func inTurnsWithEnergy(t *testing.T, settle *time.Duration, want []string) {
	t.Helper()
	p := newPhone(33)
	p.power = newPower()
	p.power.rails = true
	job := p.job("fake")
	settings := config.DefaultEnergy()
	settings.Settle = settle
	job.Energy, job.App.APK, job.Scenario.Repetitions, job.Session = &settings, "base.apk", 2, inOrderABBA
	head := job
	head.App.APK, head.Energy = "head.apk", nil
	var said rests
	base, of := collect.Interleave(t.Context(), collect.Pair{Base: job, Head: head}, collect.Options{Progress: &said})
	if !slices.Equal(said.long, want) {
		t.Errorf("rested %q, want %q", said.long, want)
	}
	for _, r := range []collect.Result{base, of} {
		wantComplete(t, r, 2)
		if r.Run.Energy == nil || r.Run.Context[metric.EnergyFrom] != "rails" || r.Run.Context["compiled"] != "speed" {
			t.Errorf("%+v, %v", r.Run.Energy, r.Run.Context)
		}
		if got := r.Run.Iterations[1].Metrics["energy.total_j"]; math.Abs(got-26) > 0.5 {
			t.Errorf("%.2f J, want 26", got)
		}
	}
	// base, head head, base: three installations.
	if n := p.did("cmd package compile -m speed -f " + pkg); n != 3 {
		t.Errorf("compiled %d times, want 3", n)
	}
	wantUndone(t, p)
}

func TestConnectionIsCutDuringTheWorkload(t *testing.T) {
	t.Parallel()
	change := func(j *collect.Job) { j.Energy.Disconnect = 8 * time.Second }
	p := newPhone(33)
	p.power = newPower()
	p.power.rails, p.power.charger, p.serial = true, "", "10.0.0.7:5555"
	settings := config.DefaultEnergy()
	r := collectOn(t, p, func(j *collect.Job) { j.Energy = &settings; change(j) })
	wantComplete(t, r, 3)
	if p.opened != 4 || p.closed != 4 {
		t.Errorf("opened %d and closed %d times, want once more than there are repetitions", p.opened, p.closed)
	}
	for _, it := range r.Run.Iterations {
		if got := it.Metrics["energy.total_j"]; math.Abs(got-26) > 1 || len(it.Events) != 3 {
			t.Errorf("%.2f J, want 26; %d buckets", got, len(it.Events))
		}
		if it.Metrics["frames.count"] != 500 { // the device records them by itself
			t.Errorf("%v frames, want 500", it.Metrics["frames.count"])
		}
	}
	if !warnedOf(r.Run, "the connection is cut", "CPU time are not measured") {
		t.Errorf("%v", r.Run.Warnings)
	}
	wantUndone(t, p)
	p = newPhone(30)
	p.power = newPower()
	p.power.rails, p.power.charger, p.serial = true, "", "10.0.0.7:5555"
	r = collectOn(t, p, func(j *collect.Job) { j.Energy = &settings; change(j) })
	wantComplete(t, r, 3)
	for _, it := range r.Run.Iterations {
		if _, counted := it.Metrics["frames.count"]; counted {
			t.Error("frames are counted that nobody saw")
		}
	}
	if !warnedOf(r.Run, "the connection is cut", "frames, memory and CPU time are not measured") {
		t.Errorf("%v", r.Run.Warnings)
	}
	if _, r := measured(t, 33, config.EnergyAuto, nil, change); !loss.IsConfiguration(r.Err) || !strings.Contains(r.Err.Error(), "wireless") {
		t.Errorf("on a cable: %v", r.Err)
	}
	p = newPhone(33)
	p.power, p.serial, p.held = newPower(), "10.0.0.7:5555", true
	r = collectOn(t, p, func(j *collect.Job) { j.Energy = &settings; change(j) })
	if !loss.IsConfiguration(r.Err) || !strings.Contains(r.Err.Error(), "adb server's") {
		t.Errorf("over an adb server, which would not let go: %v", r.Err)
	}
}

func TestEnergyByThePlatform(t *testing.T) {
	t.Parallel()
	p, r := measured(t, 33, config.EnergyPlatform, nil, nil)
	if r.Run.Status != run.Failed || !errors.Is(r.Err, energy.ErrNoEstimate) || p.workloads != 1 {
		t.Errorf("a platform without an estimate: status %s after %d workloads, %v", r.Run.Status, p.workloads, r.Err)
	}
	// 100 mAh at 4.0 V, of which the app's UID has 25: 1440 J and 360 J.
	estimate := "9,0,l,pws,3000,100,100,100\n9,10123,l,pwi,uid,25,0,25,0\n9,h,0,Bl=83,Bs=d,Bp=n,Bv=4000\n9,h,10000,Bl=82,Bv=4000\n"
	_, r = measured(t, 33, config.EnergyPlatform, func(w *power) { w.estimate = estimate }, nil)
	wantComplete(t, r, 3)
	for _, it := range r.Run.Iterations {
		if math.Abs(it.Metrics["energy.total_j"]-1440) > 0.01 || math.Abs(it.Metrics["energy.app_j"]-360) > 0.01 {
			t.Errorf("%v", it.Metrics)
		}
		// The platform's estimate has no times: no event gets a share.
		if got, told := it.Events[1].Metrics["energy.total_j"]; told {
			t.Errorf("%.3f J after a, want none", got)
		}
	}
	if r.Run.Energy.Source != "platform" {
		t.Errorf("%+v", r.Run.Energy)
	}
}

// The samples add up to 10 s of CPU time. A warning says that the app had more, by the kernel's
// count or by batterystats, which alone includes the last second; a whole day is implausible.
func TestUnsampledCPUTimeIsReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ticks     int
		statsMS   string
		doubtless bool
	}{
		"as much":                {1000, "1000", true},
		"40 s by /proc":          {4000, "0", false},
		"16 s by batterystats":   {500, "16000", false},
		"a day, by batterystats": {1000, "86400000", true},
	} {
		_, r := measured(t, 33, config.EnergyAuto, func(w *power) {
			w.rails, w.simpleperf, w.ticks, w.estimate = true, "works", c.ticks, "9,10123,l,cpu,"+c.statsMS+",0,0\n"
		}, func(j *collect.Job) { j.Energy.Methods = true })
		wantComplete(t, r, 3)
		if told := warnedOf(r.Run, "the methods' energy", "sample-hz"); told == c.doubtless {
			t.Errorf("%s: told %v: %v", name, told, r.Run.Warnings)
		}
	}
}

// Readings on an unknown clock can't be matched with a workload.
func TestTraceOnAnotherClockIsRejected(t *testing.T) {
	t.Parallel()
	p, r := measured(t, 33, config.EnergyAuto, func(w *power) { w.rails, w.noClocks = true, true }, nil)
	if !loss.IsInfrastructure(r.Err) || !strings.Contains(r.Err.Error(), "CLOCK_MONOTONIC") {
		t.Errorf("status %s, %v", r.Run.Status, r.Err)
	}
	wantUndone(t, p)
}
