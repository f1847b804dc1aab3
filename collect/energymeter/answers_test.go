package energymeter

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/model"
)

func TestSnapshotOf(t *testing.T) {
	t.Parallel()
	m := &Meter{policies: []policy{{cpus: []int{0, 1}}, {cpus: []int{4}}}}
	const answer = "cpu  1 1 1 1\r\n" +
		"cpu0 100 10 50 7000 99 3 2 88 0 0\r\n" + // 100+10+50+3+2 = 165 ticks of 10 ms
		"cpu1 1 0 0 0 0 0 0\r\ncpu4 0 0 5 0\r\nintr 9 9\n" +
		"apkgate-policy\n300000 20\n1800000 5\n" +
		"apkgate-policy\ncat: /sys/x: Permission denied\n" +
		"apkgate-screen\n  mWakefulness=Dozing\nDisplay Power: state=OFF\n"
	got, ok := m.snapshotOf(time.Minute, []byte(answer), time.Second, 0.4)
	want := model.Snapshot{Time: time.Minute, AppCPU: time.Second, Brightness: 0.4, Clusters: []model.ClusterState{
		{Cores: 2, Busy: 1660 * time.Millisecond, AtSpeed: map[int]time.Duration{300_000: 200 * time.Millisecond, 1_800_000: 50 * time.Millisecond}},
		{Cores: 1, Busy: 50 * time.Millisecond},
	}}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, ok = (&Meter{}).snapshotOf(0, []byte("cpu0 1 0 0 0\ncpu1 2 0 0 0\n"), 0, 0)
	if want := []model.ClusterState{{Cores: 2, Busy: 30 * time.Millisecond}}; !ok || cmp.Diff(want, got.Clusters) != "" || !got.ScreenOn {
		t.Errorf("without frequencies: %+v", got)
	}
	if _, ok := m.snapshotOf(0, []byte("cat: /proc/stat: Permission denied\n"), 0, 0); ok {
		t.Error("nothing is taken for the state of the CPUs")
	}
}

func TestAmbientDisplayIsOff(t *testing.T) {
	t.Parallel()
	for state, want := range map[string][2]bool{"ON": {true, false}, "DOZE": {false, true}, "DOZE_SUSPEND": {false, true}, "OFF": {false, false}, "UNKNOWN": {true, false}} {
		s, _ := (&Meter{}).snapshotOf(0, []byte("cpu0 1 0 0 0\napkgate-screen\nDisplay Power: state="+state+"\n"), 0, 0)
		if got := [2]bool{s.ScreenOn, s.Doze}; got != want {
			t.Errorf("%s: lit and dozing %v, want %v", state, got, want)
		}
	}
}

// answering is a device that knows some commands and prints nothing for others.
type answering struct {
	device.Device
	answers map[string]string
}

func (a answering) Exec(_ context.Context, command string) (device.Output, error) {
	return device.Output{Stdout: []byte(a.answers[command])}, nil
}

// connected is a target that is connected to the device.
func connected(t *testing.T, dev device.Device) *target.Target {
	t.Helper()
	out := target.New("pixel", nil, time.Now(), func(context.Context) (device.Device, error) { return dev, nil })
	out.Journal = journal.New("pixel", nil)
	if err := out.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBrightnessOnEachScale(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set, fraction, power string
		want                 float64
		warned               bool
	}{
		"Android's scale":                  {"51\n", "null\n", "", 0.2, false},
		"a maker's scale that is told":     {"1024\r\n", "null\r\n", "  mScreenBrightnessSettingMaximum=4096\r\n", 0.25, false},
		"dim on a maker's scale":           {"41\n", "null\n", "  mScreenBrightnessSettingMaximum=4100\n", 0.01, false},
		"a maker's scale beside a share":   {"2000\n", "0.75\n", "", 0.75, false},
		"a maker's scale that nobody told": {"2000\n", "null\n", "", 0.5, true},
		"no number":                        {"NaN\n", "NaN\n", "", 0.5, true},
		"below the scale":                  {"-1\n", "-Inf\n", "", 0.5, true},
		"a device that tells nothing":      {"null\n", "", "", 0.5, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dev := answering{answers: map[string]string{
				"settings get system screen_brightness": c.set, "settings get system screen_brightness_float": c.fraction, "dumpsys power": c.power}}
			m := &Meter{t: connected(t, dev)}
			got, err := m.readBrightness(t.Context())
			if err != nil || got != c.want || (len(m.t.Journal.Warnings) > 0) != c.warned {
				t.Errorf("%v, %v, warnings %v; want %v, a warning: %v", got, err, m.t.Journal.Warnings, c.want, c.warned)
			}
		})
	}
}

func TestBatteryReading(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]energy.BatteryReading{
		"  AC powered: false\r\n  USB powered: true\r\n  voltage: 4123\r\n  Charge counter: 2900000\r\n": {
			Voltage: new(4123.0), Charge: new(2900000.0), Power: energy.External},
		"  AC powered: false\n  voltage:4123\n  voltage: 3900\n  current now: -312\n  Max charging voltage: 0\n": {
			Voltage: new(3900.0), Current: new(-312.0), Power: energy.OnBattery},
		"  AC powered: false\n  voltage: 3900\napkgate-current_now\n-250000\napkgate-voltage_now\n3901234\napkgate-charge_counter\ncat: no such file\n": {
			Voltage: new(3901234.0), Current: new(-250000.0), Power: energy.OnBattery},
		"Can't find service: battery\n": {},
	} {
		if diff := cmp.Diff(want, batteryReading(0, []byte(text))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// Arbitrary answers of a device give no impossible states, and no crash.
func FuzzAnswersOfPower(f *testing.F) {
	f.Add("cpu0 1 2 3 4 5 6 7\napkgate-policy\n300000 4\napkgate-screen\nDisplay Power: state=ON\n")
	f.Add("AC powered: true\nvoltage: 4000\napkgate-current_now\n-3\n")
	f.Add("Uptime: 123 Realtime: 4\napkgate-exit 12\nflags=[ DEBUGGABLE ]\n")
	m := &Meter{policies: []policy{{cpus: []int{0, 1, 2, 3}}, {cpus: []int{4, 5}}}}
	f.Fuzz(func(t *testing.T, text string) {
		s, _ := m.snapshotOf(0, []byte(text), 0, 0)
		for _, c := range s.Clusters {
			negative := c.Busy < 0
			for at := range maps.Keys(c.AtSpeed) {
				negative = negative || c.AtSpeed[at] < 0 || at <= 0
			}
			if negative {
				t.Errorf("a time below 0: %+v", c)
			}
		}
		r := batteryReading(0, []byte(text))
		if r.Power == energy.OnBattery && poweredBy.FindString(text) == "" {
			t.Error("on battery, as nobody said")
		}
		if at, err := target.Uptime([]byte(text)); err == nil && at < 0 {
			t.Errorf("the clock is at %v", at)
		}
	})
}

// Tick counts never add up to a negative time.
func TestTicksDoNotOverflow(t *testing.T) {
	t.Parallel()
	for _, ticks := range []string{"549755813887", "17179869183", "8589934591"} { // 2^39-1, 2^34-1, 2^33-1
		for _, busy := range busyOf([]byte("cpu0 " + strings.Repeat(ticks+" ", 7) + "\n")) {
			if busy < 0 {
				t.Errorf("%s ticks: busy for %v", ticks, busy)
			}
		}
	}
}
