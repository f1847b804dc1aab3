package phone

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
)

// hungry is still with work apart from its frames.
var hungry = still + `method com.example.still.Feed.bind 30%
method com.example.still.Json.parse 20% power x2 from com.example.still.Feed.bind
method _ZN4feed6decodeEv 15% kind native
load 1500ms after tap in com.example.still.Json.parse
wakelock sync from tap for 2s
sensor magnetometer from tap for 3s
traffic 600 after swipe sent 40
`

const traceConfig = `buffers { size_kb: 4096 }
data_sources { config { name: "android.power" android_power_config {
  battery_poll_ms: 250
  collect_power_rails: true
  battery_counters: BATTERY_COUNTER_CHARGE
  battery_counters: [BATTERY_COUNTER_CAPACITY_PERCENT, BATTERY_COUNTER_CURRENT]
%s} } }
`

const traceFile = "/data/misc/perfetto-traces/a.pftrace"

// record starts perfetto and returns its process id.
func record(t *testing.T, p *Phone) string {
	t.Helper()
	voltage := ""
	if p.Profile().API >= 35 {
		voltage = "battery_counters: BATTERY_COUNTER_VOLTAGE\n"
	}
	put(t, p, "/data/local/tmp/a.cfg", fmt.Sprintf(traceConfig, voltage))
	return strings.TrimSpace(output(t, p, "cat /data/local/tmp/a.cfg | perfetto --txt -c - -o "+traceFile+" --background"))
}

// end stops a recorder and waits until it has exited.
func end(t *testing.T, p *Phone, signal, pid string) {
	t.Helper()
	output(t, p, "kill "+signal+" "+pid)
	gone(t, p, pid)
}

// gone waits until a process has ended.
func gone(t *testing.T, p *Phone, pid string) {
	t.Helper()
	for range 20 {
		if _, _, code := run(t, p, "test -d /proc/"+pid); code != 0 {
			return
		}
		pass(t, p, 100*time.Millisecond)
	}
	t.Fatalf("process %s does not end", pid)
}

func readTrace(t *testing.T, p *Phone) *powerdata.Trace {
	t.Helper()
	tr, err := powerdata.Read(bytes.NewReader([]byte(output(t, p, "cat "+traceFile))))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range tr.Warnings {
		t.Errorf("the reader doubts the trace: %s", w.Text)
	}
	if tr.Clock != "monotonic" {
		t.Errorf("the trace's times are on clock %q", tr.Clock)
	}
	return tr
}

// play runs the app's scenario and returns when it began and ended.
func play(t *testing.T, p *Phone) (from, to time.Duration) {
	t.Helper()
	from = p.Clock().Now()
	if code := finish(t, p, start(p, instrument)); code != 0 {
		t.Fatalf("the instrumentation ends with %d", code)
	}
	return from, p.Clock().Now()
}

func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*math.Abs(want)) {
		t.Errorf("%s is %.4g, the truth is %.4g (%.1f %% off)", what, got, want, 100*(got/want-1))
	}
}

func TestRailsAddUpToTheTruth(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", hungry)
	pid := record(t, p)
	pass(t, p, time.Second)
	from, to := play(t, p)
	pass(t, p, time.Second)
	end(t, p, "-TERM", pid)

	power, err := energy.OfRails(energy.RailsOf(readTrace(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	truth := p.Truth(from, to)
	joules, covered := power.Total.Energy(from, to)
	if covered != to-from {
		t.Errorf("the rails cover %v of %v", covered, to-from)
	}
	// The counters are updated four times a second: at both ends, up to 0.25 s is
	// interpolated.
	within(t, "the energy by rails", joules, truth.Joules, 0.02)
	for _, c := range power.Components(from, to) {
		if c.Name == "display" {
			within(t, "the display's rail", c.EnergyJ, truth.Parts["screen"], 0.01)
		}
		if c.Name == "system" { // a wakelock costs nothing while the screen is on
			within(t, "the rail of the sensors", c.EnergyJ, truth.Parts["sensors"], 0.01)
		}
	}
}

// The gauges of these phones report in other units, or with the opposite sign; none has the
// voltage in the trace, as before Android 15.
func TestGaugesWithOtherUnitsAndSigns(t *testing.T) {
	for _, c := range []struct {
		phone   string
		unit    float64 // A
		flipped bool
	}{
		{"pixel-5-android-11", 1e-6, false},
		{"galaxy-s21-android-13", 1e-3, false},
		{"nord-android-10", 1e-3, true},
		{"c1-go-android-11", 1e-6, true},
	} {
		t.Run(c.phone, func(t *testing.T) {
			p := newPhone(t, c.phone, hungry)
			pid := record(t, p)
			pass(t, p, 12*time.Second)
			from, to := play(t, p)
			pass(t, p, 12*time.Second)
			end(t, p, "-INT", pid)
			readings := energy.BatteryOf(readTrace(t, p), energy.OnBattery)
			addVoltage(t, p, readings)
			got, err := energy.Correct(readings, energy.BatteryFacts{CapacityMAh: 4000, LevelPercent: 96, ScreenOn: true})
			if err != nil {
				t.Fatal(err)
			}
			if got.AmperesPerUnit != c.unit || got.Flipped != c.flipped {
				t.Errorf("the current is taken as × %g A, flipped %t", got.AmperesPerUnit, got.Flipped)
			}
			joules, _ := got.Curve.Energy(from-10*time.Second, to+10*time.Second)
			within(t, "the energy by the battery", joules, p.Truth(from-10*time.Second, to+10*time.Second).Joules, 0.06)
		})
	}
}

var voltageLine = regexp.MustCompile(`(?m)^  voltage: (\d+)$`)

// addVoltage sets the battery service's voltage in all readings.
func addVoltage(t *testing.T, p *Phone, readings []energy.BatteryReading) {
	t.Helper()
	m := voltageLine.FindStringSubmatch(output(t, p, "dumpsys battery"))
	if m == nil {
		t.Fatal("dumpsys battery tells no voltage")
	}
	mv, _ := strconv.ParseFloat(m[1], 64)
	for i := range readings {
		uv := 1000 * mv
		readings[i].Voltage = &uv
	}
}

func TestChargingCurrentIsPositive(t *testing.T) {
	p := newPhone(t, "pixel-5-android-11", still)
	pid := record(t, p)
	pass(t, p, 5*time.Second)
	p.SetPowered("usb")
	plugged := p.Clock().Now()
	pass(t, p, 5*time.Second)
	end(t, p, "-TERM", pid)
	has(t, output(t, p, "dumpsys battery"), "  USB powered: true\n", "  status: 2\n")
	for _, b := range readTrace(t, p).Battery {
		// The gauge shows the mean since its last update, 0.2 s ago.
		if late := b.Time > plugged+400*time.Millisecond; (b.Time < plugged || late) && (*b.CurrentUA > 0) != late {
			t.Errorf("%v after plugging in, the current is %d µA", b.Time-plugged, *b.CurrentUA)
		}
	}
}

func TestSensorsCanBeChosen(t *testing.T) {
	pr, err := profile.Find("pixel-7-android-14")
	if err != nil {
		t.Fatal(err)
	}
	p := New(pr, 1, Options{Powered: "ac", Tracing: "on", Sensors: &profile.Sensors{CurrentUnit: 1}})
	defer p.Close()
	has(t, output(t, p, "dumpsys battery"), "  AC powered: true\n")
	pid := record(t, p)
	pass(t, p, 2*time.Second)
	end(t, p, "-TERM", pid)
	tr := readTrace(t, p)
	if len(tr.Rails) > 0 || len(tr.Battery) == 0 || tr.Battery[0].CurrentUA != nil || tr.Battery[0].ChargeUAH != nil || tr.Battery[0].Percent == nil {
		t.Errorf("a phone without monitors, gauge and counter tells %d rails and %+v", len(tr.Rails), tr.Battery[:min(1, len(tr.Battery))])
	}
}

func TestEmulatorsReportConstants(t *testing.T) {
	p := newPhone(t, "sdk-gphone-android-11", still)
	has(t, output(t, p, "getprop"), "[ro.kernel.qemu]: [1]", "[ro.hardware]: [ranchu]")
	before := output(t, p, "dumpsys battery")
	has(t, before, "  AC powered: true\n", "  voltage: 5000\n")
	pass(t, p, time.Hour)
	if after := output(t, p, "dumpsys battery"); after != before {
		t.Errorf("an emulator's battery changes:\n%s%s", before, after)
	}
}

func TestBatteryDischarges(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", "")
	from := p.Clock().Now()
	charge := func() float64 {
		m := regexp.MustCompile(`Charge counter: (\d+)`).FindStringSubmatch(output(t, p, "dumpsys battery"))
		if m == nil {
			t.Fatal("there is no charge counter")
		}
		v, _ := strconv.ParseFloat(m[1], 64)
		return v / 1e6
	}
	before := charge()
	pass(t, p, time.Hour)
	// Near full, this battery has 4.2 V.
	within(t, "the energy by the charge counter", (before-charge())*3600*4.2, p.Truth(from, p.Clock().Now()).Joules, 0.02)
}

// The app's power is specified in lines of its own, which do not affect the random numbers for
// frames.
func TestPowerDoesNotChangeFrames(t *testing.T) {
	noisy := strings.Replace(still, "noise session 0% repetition 0% frame 0% tail 0%", "noise session 5% repetition 5% frame 10% tail 2%x3", 1)
	var dumps []string
	for _, app := range []string{noisy, noisy + strings.TrimPrefix(hungry, still)} {
		p := newPhone(t, "pixel-5-android-11", app)
		s := start(p, instrument)
		pass(t, p, 5*time.Second)
		dumps = append(dumps, output(t, p, "dumpsys gfxinfo com.example.still framestats"))
		finish(t, p, s)
	}
	if dumps[0] != dumps[1] || !strings.Contains(dumps[0], "---PROFILEDATA---") {
		t.Error("the frames of an app change with what it burns")
	}
}

func TestSameSeedUsesTheSameEnergy(t *testing.T) {
	burn := func() Truth {
		p := newPhone(t, "pixel-7-android-14", hungry)
		return p.Truth(play(t, p))
	}
	if a, b := burn(), burn(); a.Joules != b.Joules || a.Joules < 5 || fmt.Sprint(a.Methods) != fmt.Sprint(b.Methods) {
		t.Errorf("two phones alike burn %v and %v J", a.Joules, b.Joules)
	}
}

func TestTruthAddsUp(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", hungry)
	from, to := play(t, p)
	all := p.Truth(from, to)
	middle := (from + to) / 2
	within(t, "the sum of two halves", p.Truth(from, middle).Joules+p.Truth(middle, to).Joules, all.Joules, 1e-9)
	parts := 0.0
	for _, j := range all.Parts {
		parts += j
	}
	within(t, "the sum of the parts", parts, all.Joules, 1e-9)
	// 600 KiB and 40 KiB at 2 MB/s, and 0.4 s until the radio sleeps, at 0.65 W.
	within(t, "Wi-Fi", all.Parts["wifi"], 0.65*(640*1024/2e6+0.4), 1e-6)
	parse, bind := all.Methods["com.example.still.Json.parse"], all.Methods["com.example.still.Feed.bind"]
	if bind.TotalCPU != bind.LocalCPU+parse.TotalCPU || parse.LocalCPU < 1000*time.Millisecond || parse.LocalCPU > 2*time.Second {
		t.Errorf("parse runs %v and bind, which calls it, %v, of which %v itself", parse.TotalCPU, bind.TotalCPU, bind.LocalCPU)
	}
	if all.Apps["com.example.still"] >= all.Joules || all.Apps["com.example.still"] < parse.OwnJ {
		t.Errorf("of %v J the app burnt %v, one of its methods %v", all.Joules, all.Apps["com.example.still"], parse.OwnJ)
	}
}

func TestPerfettoErrors(t *testing.T) {
	p := newPhone(t, "pixel-5-android-11", "")
	put(t, p, "/data/local/tmp/ok.cfg", fmt.Sprintf(traceConfig, ""))
	put(t, p, "/data/local/tmp/new.cfg", fmt.Sprintf(traceConfig, "battery_counters: BATTERY_COUNTER_VOLTAGE\n"))
	put(t, p, "/data/local/tmp/open.cfg", "buffers { size_kb: 4096\n")
	for _, line := range []string{
		"perfetto --txt -c /data/local/tmp/ok.cfg -o " + traceFile,                              // SELinux forbids reading the folder
		"cat /data/local/tmp/ok.cfg | perfetto --txt -c - -o /data/local/tmp/a.pftrace",         // and writing to it
		"cat /data/local/tmp/new.cfg | perfetto --txt -c - -o " + traceFile,                     // introduced in Android 15
		"cat /data/local/tmp/open.cfg | perfetto --txt -c - -o " + traceFile,                    // a missing brace
		"cat /data/local/tmp/ok.cfg | perfetto --txt -c - --background-wait -o " + traceFile,    // since Android 13
		"echo 'data_sources { config { } }' | perfetto --txt -c - --background -o " + traceFile, // no buffer
	} {
		if out, errs, code := run(t, p, line); code == 0 || errs == "" || out != "" {
			t.Errorf("%s: exit code %d, %q, %q", line, code, out, errs)
		}
	}
}

// The shell may end perfetto. SELinux does not let it kill perfetto, nor check by signal 0
// whether it is running.
func TestPerfettoRunsInAnSELinuxDomain(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", "")
	pid := record(t, p)
	for _, signal := range []string{"-0", "-9", "-KILL"} {
		if _, errs, code := run(t, p, "kill "+signal+" "+pid); code != 1 || !strings.Contains(errs, "Permission denied") {
			t.Errorf("kill %s: exit code %d, %q", signal, code, errs)
		}
	}
	output(t, p, "test -d /proc/"+pid)
	end(t, p, "-TERM", pid)
}

func TestTraceEndsAfterItsDuration(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", "")
	put(t, p, "/data/local/tmp/a.cfg", "duration_ms: 3000\n"+fmt.Sprintf(traceConfig, ""))
	begun := p.Clock().Now()
	s := start(p, "cat /data/local/tmp/a.cfg | perfetto --txt -c - -o "+traceFile)
	if code := finish(t, p, s); code != 0 {
		t.Fatalf("perfetto ends with %d: %s", code, s.err.String())
	}
	tr := readTrace(t, p)
	last := tr.Battery[len(tr.Battery)-1].Time - begun
	if last < 2700*time.Millisecond || last > 3100*time.Millisecond {
		t.Errorf("the last reading of a trace of 3 s is at %v", last)
	}
}
