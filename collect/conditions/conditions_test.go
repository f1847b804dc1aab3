package conditions_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/conditions"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/simulator"
)

// failing is a device that is lost after so many commands; never if that is below 0.
type failing struct {
	device.Device
	left *int
	ran  *[]string
}

func (f failing) Exec(ctx context.Context, command string) (device.Output, error) {
	if *f.left == 0 {
		return device.Output{}, fmt.Errorf("exec: %w", device.ErrGone)
	}
	*f.left--
	*f.ran = append(*f.ran, command)
	return f.Device.Exec(ctx, command)
}

// holding is a holder of a simulated phone.
type holding struct {
	*conditions.Holder
	phone *simulator.Simulated
	left  int
	ran   []string
}

func hold(t *testing.T, profile string, o simulator.Options, want config.Conditions) *holding {
	t.Helper()
	s, err := simulator.Start(profile, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	h := &holding{phone: s, left: -1}
	d := target.New(profile, s.Clock(), time.Now(), func(ctx context.Context) (device.Device, error) {
		connected, err := adb.Dial(ctx, s.Address(), adb.Options{ReplyTimeout: time.Minute, SilenceTimeout: 2 * time.Minute})
		return failing{connected, &h.left, &h.ran}, err
	})
	d.Journal = journal.New(profile, nil)
	if err := d.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.HangUp)
	if err := d.ReadFacts(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.Holder, h.ran = &conditions.Holder{Target: d, Want: want}, nil
	return h
}

// state describes the phone's state.
func (h *holding) state() string {
	fixed, dexopt := h.phone.Phone.Held()
	out := ""
	for _, key := range []string{"screen_brightness_mode", "screen_brightness", "accelerometer_rotation", "user_rotation"} {
		out += h.phone.Phone.Setting("system "+key) + " "
	}
	return fmt.Sprintf("%s%v %v", out, fixed, dexopt)
}

// warned reports whether a warning contains all the parts.
func (h *holding) warned(parts ...string) bool {
	for _, w := range h.Target.Journal.Warnings {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(w.Text, part)
		}
		if all {
			return true
		}
	}
	return false
}

// restless makes the phone's brightness and rotation follow the room.
func (h *holding) restless() *holding {
	h.phone.Phone.Set("system screen_brightness_mode", "1")
	h.phone.Phone.Set("system accelerometer_rotation", "1")
	return h
}

// Each condition that the version of Android allows is held, once and again after the device was
// lost, and all of them are released.
func TestHoldAndRelease(t *testing.T) {
	t.Parallel()
	degrees := func(n int) *int { return &n }
	const always, auto = config.PerformanceAlways, config.PerformanceAuto
	for name, c := range map[string]struct {
		profile string
		energy  bool
		want    config.Conditions
		like    string // automatic brightness, brightness, turns, turned, fixed, compiles
	}{
		"14":                     {"pixel-7-android-14", false, config.Conditions{}, "0 102 0 3 false false"},
		"13":                     {"galaxy-s21-android-13", false, config.Conditions{}, "0 102 0 3 false true"},
		"5":                      {"nexus-9-android-5.0.0", false, config.Conditions{}, "0 102 0 3 false true"},
		"compiling":              {"pixel-7-android-14", false, config.Conditions{BackgroundDexopt: true}, "0 102 0 3 false true"},
		"fixed":                  {"pixel-7-android-14", false, config.Conditions{FixedPerformance: auto}, "0 102 0 3 true false"},
		"not fixed for energy":   {"pixel-7-android-14", true, config.Conditions{FixedPerformance: auto}, "0 102 0 3 false false"},
		"fixed for energy":       {"pixel-7-android-14", true, config.Conditions{FixedPerformance: always}, "0 102 0 3 true false"},
		"11 is the first":        {"pixel-5-android-11", false, config.Conditions{FixedPerformance: always}, "0 102 0 3 true true"},
		"10 has none":            {"nord-android-10", false, config.Conditions{FixedPerformance: auto}, "0 102 0 3 false true"},
		"nor has an emulator":    {"sdk-gphone-android-11", false, config.Conditions{FixedPerformance: auto}, "0 102 0 3 false true"},
		"bright, and turned":     {"pixel-7-android-14", false, config.Conditions{Brightness: 1, Rotation: degrees(180)}, "0 255 0 2 false false"},
		"as it is, and not back": {"pixel-7-android-14", false, config.Conditions{Rotation: degrees(270), Brightness: 0.4}, "0 102 0 3 false false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hold(t, c.profile, simulator.Options{FixedPerformance: 1.2, Lies: 3}, c.want).restless()
			h.Energy = c.energy
			before := h.state()
			for range 2 {
				if err := h.Hold(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := h.state(); got != c.like || h.Fixed != strings.Contains(c.like, " true f") && h.Fixed != strings.HasSuffix(c.like, "true true") {
					t.Errorf("held: %s, fixed %v, want %s", got, h.Fixed, c.like)
				}
			}
			h.Target.TearDown(t.Context(), "com.example")
			if after := h.state(); after != before || len(h.Target.Journal.Warnings) > 0 {
				t.Errorf("let go: %s, want %s: %v", after, before, h.Target.Journal.Warnings)
			}
		})
	}
}

// A phone whose conditions are right already is queried twice and changed in nothing.
func TestHoldChangesNothingOnAnIdlePhone(t *testing.T) {
	t.Parallel()
	h := hold(t, "pixel-3-android-9", simulator.Options{}, config.Conditions{})
	if err := h.Hold(t.Context()); err != nil || len(h.ran) != 2 {
		t.Errorf("%d commands, %v: %q", len(h.ran), err, h.ran)
	}
	for _, command := range h.ran {
		if strings.Contains(command, "settings put") || strings.Contains(command, "bg-dexopt-job") {
			t.Errorf("changed by %s", command)
		}
	}
}

// What somebody else has turned off stays off when the run ends.
func TestHoldLeavesDexoptOff(t *testing.T) {
	t.Parallel()
	h := hold(t, "pixel-7-android-14", simulator.Options{}, config.Conditions{})
	if _, err := h.Target.Exec(t.Context(), "pm", "bg-dexopt-job", "--disable"); err != nil {
		t.Fatal(err)
	}
	if err := h.Hold(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.Target.TearDown(t.Context(), "com.example")
	if _, dexopt := h.phone.Phone.Held(); dexopt {
		t.Error("background compilation was turned on, which somebody had turned off")
	}
}

// A condition that can't be held is a warning, or an error if the policy is refuse.
func TestHoldWarnsOrRefuses(t *testing.T) {
	t.Parallel()
	const always = config.PerformanceAlways
	for name, c := range map[string]struct {
		profile string
		options simulator.Options
		want    config.Conditions
		told    string // "": nothing
	}{
		"nothing":                {"pixel-7-android-14", simulator.Options{}, config.Conditions{}, ""},
		"ignored brightness":     {"pixel-7-android-14", simulator.Options{Ignored: []string{"system screen_brightness_mode"}}, config.Conditions{}, "brightness: the device ignores what is set over adb: screen_brightness_mode was set to 0 and is 1"},
		"ignored level":          {"pixel-7-android-14", simulator.Options{Ignored: []string{"system screen_brightness"}}, config.Conditions{Brightness: 1}, "brightness: the device ignores what is set over adb: screen_brightness was set to 255 and is 102"},
		"ignored turn":           {"pixel-7-android-14", simulator.Options{Ignored: []string{"system accelerometer_rotation"}}, config.Conditions{}, "rotation: the device ignores what is set over adb: accelerometer_rotation was set to 0 and is 1"},
		"no mode":                {"pixel-5-android-11", simulator.Options{}, config.Conditions{FixedPerformance: always}, "performance: the fixed performance mode can't be turned on: "},
		"no mode in the version": {"nord-android-10", simulator.Options{}, config.Conditions{FixedPerformance: always}, "none before Android 11"},
		"no clocks":              {"sdk-gphone-android-11", simulator.Options{}, config.Conditions{FixedPerformance: always}, "no clocks of its own"},
		"no mode is needed":      {"pixel-5-android-11", simulator.Options{}, config.Conditions{FixedPerformance: config.PerformanceAuto}, ""},
	} {
		for _, policy := range []string{config.PolicyWarn, config.PolicyRefuse} {
			c.want.Policy = policy
			h := hold(t, c.profile, c.options, c.want).restless()
			err := h.Hold(t.Context())
			if h.warned("not fit: ", c.told) != (c.told != "") {
				t.Errorf("%s: want %q: %v", name, c.told, h.Target.Journal.Warnings)
			}
			refused := c.told != "" && policy == config.PolicyRefuse
			if errors.Is(err, conditions.ErrUnfit) != refused || refused && (!strings.Contains(err.Error(), c.told) || loss.As(err).Hint() == "") || !refused && err != nil {
				t.Errorf("%s: %s: %v", name, policy, err)
			}
			if c.told == "" && h.warned("(") { // without a hint there are no brackets either
				t.Errorf("%s: %v", name, h.Target.Journal.Warnings)
			}
		}
	}
}

// A device that is lost while conditions are held is reported as lost, at whichever command.
func TestHoldOnALostDevice(t *testing.T) {
	t.Parallel()
	want := config.Conditions{FixedPerformance: config.PerformanceAlways, Brightness: 1, IdleWithin: time.Minute}
	whole := 0
	for n := 0; n <= whole || whole == 0; n++ {
		h := hold(t, "pixel-7-android-14", simulator.Options{FixedPerformance: 1.2, Lies: 1}, want).restless()
		h.phone.Phone.ShowDialog("com.android.systemui", false)
		if err := h.phone.Clock().Sleep(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		h.left = n
		err := h.Hold(t.Context())
		if err == nil {
			err = h.Idle(t.Context())
		}
		if err == nil {
			whole = n
			break
		}
		if !errors.Is(err, device.ErrGone) || !strings.Contains(err.Error(), ": ") {
			t.Errorf("lost at the command %d: %v", n+1, err)
		}
	}
	if whole < 12 {
		t.Errorf("all was done in %d commands", whole)
	}
}

// Dialogs are closed one after the other, each by its own button; more than a few are reported.
func TestDismiss(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"pixel-7-android-14", "nexus-5x-android-6.0.0"} {
		for _, n := range []int{1, 5, 7} {
			h := hold(t, profile, simulator.Options{}, config.Conditions{Policy: config.PolicyRefuse})
			for i := range n {
				h.phone.Phone.ShowDialog(fmt.Sprintf("com.example.app%d", i), i%2 == 1)
			}
			err := h.Dismiss(t.Context())
			left := h.phone.Phone.Dialog()
			if err != nil || (left != "") != (n > 5) || h.warned("does not go") != (n > 5) {
				t.Errorf("%s: of %d dialogs stands %q, %v: %v", profile, n, left, err, h.Target.Journal.Warnings)
			}
			if first := n > 5; h.warned("com.example.app0 does not respond", "it was told to wait") == first || n > 1 && !h.warned("com.example.app3 has crashed", "it was closed") {
				t.Errorf("%s: of %d dialogs: %v", profile, n, h.Target.Journal.Warnings)
			}
			if err := h.Refused(); (err != nil) != (n > 5) {
				t.Errorf("%s: of %d dialogs: %v", profile, n, err)
			}
		}
	}
}

// Nothing is pressed in a dialog whose buttons can't be found.
func TestDismissOfAnUnreadableDialog(t *testing.T) {
	t.Parallel()
	h := hold(t, "pixel-7-android-14", simulator.Options{ClosedTmp: true}, config.Conditions{})
	h.phone.Phone.ShowDialog("com.android.systemui", false)
	if err := h.Dismiss(t.Context()); err != nil || !h.warned("not fit: dialog: Android says that com.android.systemui does not respond", "(press a button") {
		t.Errorf("%v: %v", err, h.Target.Journal.Warnings)
	}
	for _, command := range h.ran {
		if strings.Contains(command, "input") {
			t.Errorf("it was sent %s", command)
		}
	}
}

// A device is idle soon, later, or not in time.
func TestIdle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		busy, within time.Duration
		takes        time.Duration // at least
		told         bool
	}{
		{0, time.Minute, 0, false},
		{30 * time.Second, time.Minute, 20 * time.Second, false},
		{time.Hour, 40 * time.Second, 40 * time.Second, true},
		{time.Hour, 0, 0, false},
	} {
		h := hold(t, "pixel-7-android-14", simulator.Options{Boot: simulator.Boot{Busy: c.busy}}, config.Conditions{IdleWithin: c.within})
		begun := h.phone.Clock().Now()
		err := h.Idle(t.Context())
		took := h.phone.Clock().Now() - begun
		if err != nil || took < c.takes || took > c.takes+15*time.Second || h.warned("not fit: idle: its CPUs were 9", "after 40s of waiting") != c.told || len(h.Target.Journal.Warnings) > 1 {
			t.Errorf("busy for %v: took %v, %v: %v", c.busy, took, err, h.Target.Journal.Warnings)
		}
		if c.within == 0 && len(h.ran) > 0 {
			t.Errorf("it was looked at: %q", h.ran)
		}
	}
}

// What doctor shows changes nothing, and depends on the configuration.
func TestFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile    string
		energy     bool
		want       config.Conditions
		finding    string
		says, does string
		ok         bool
	}{
		{"pixel-7-android-14", false, config.Conditions{}, "performance", "CPU clocks unlocked", "", true},
		{"pixel-7-android-14", false, config.Conditions{FixedPerformance: config.PerformanceAuto}, "performance", "CPU clocks unlocked", "turns the fixed", true},
		{"pixel-7-android-14", true, config.Conditions{FixedPerformance: config.PerformanceAuto}, "performance", "CPU clocks unlocked", "leaves them, since energy", true},
		{"pixel-7-android-14", true, config.Conditions{FixedPerformance: config.PerformanceNever}, "performance", "CPU clocks unlocked", "", true},
		{"pixel-3-android-9", false, config.Conditions{FixedPerformance: config.PerformanceAuto}, "performance", "none before Android 11", "", true},
		{"pixel-3-android-9", false, config.Conditions{FixedPerformance: config.PerformanceAlways}, "performance", "none before Android 11", "", false},
		{"pixel-7-android-14", false, config.Conditions{}, "dexopt", "on: ", "turns it off", true},
		{"pixel-7-android-14", false, config.Conditions{BackgroundDexopt: true}, "dexopt", "on: ", "leaves it on", true},
		{"galaxy-s21-android-13", false, config.Conditions{}, "dexopt", "from Android 14 on", "", true},
		{"pixel-7-android-14", false, config.Conditions{}, "brightness", "40 % (102 of 255), and changes", "keeps it", true},
		{"pixel-7-android-14", false, config.Conditions{Brightness: 1}, "brightness", "40 % (102 of 255)", "sets it to 100 % (255 of 255)", true},
		{"pixel-7-android-14", false, config.Conditions{}, "rotation", "turns with the device", "keeps it", true},
		{"pixel-7-android-14", false, config.Conditions{}, "idle", "% busy", "", true},
	} {
		h := hold(t, c.profile, simulator.Options{FixedPerformance: 1.2}, c.want).restless()
		before := h.state()
		found, err := conditions.Findings(t.Context(), h.Target.Device(), h.phone.Clock(), c.want, c.energy)
		if err != nil || h.state() != before {
			t.Fatalf("%v; %s before, %s after", err, before, h.state())
		}
		for _, f := range found {
			if f.Name == c.finding && (!strings.Contains(f.Detail, c.says) || !strings.HasPrefix(f.Run, c.does) || (f.Run == "") != (c.does == "") || f.OK != c.ok || f.OK == (f.Hint != "")) {
				t.Errorf("%s, %+v: %+v", c.profile, c.want, f)
			}
		}
		if len(found) != 5 {
			t.Errorf("%d findings", len(found))
		}
	}
}

// A lost device has no findings, and a busy one has a finding that says how busy.
func TestFindingsOfABusyOrLostDevice(t *testing.T) {
	t.Parallel()
	for within, does := range map[time.Duration]string{0: "", time.Minute: "waits until it is idle, up to 1m"} {
		want := config.Conditions{IdleWithin: within}
		h := hold(t, "pixel-7-android-14", simulator.Options{Boot: simulator.Boot{Busy: time.Hour}}, want)
		found, err := conditions.Findings(t.Context(), h.Target.Device(), h.phone.Clock(), want, false)
		if err != nil || found[0].Name != "idle" || found[0].OK || found[0].Run != does || found[0].Fix == "" {
			t.Errorf("%v: %v, %+v", within, err, found)
		}
	}
	for n := range 4 { // properties, state, and twice the CPU times
		h := hold(t, "pixel-7-android-14", simulator.Options{}, config.Conditions{})
		h.left = n
		if found, err := conditions.Findings(t.Context(), h.Target.Device(), h.phone.Clock(), config.Conditions{}, false); !errors.Is(err, device.ErrGone) {
			t.Errorf("lost after %d commands: %v, %+v", n, err, found)
		}
	}
}

// A device whose CPU times stand still or go back counts as not reporting them.
func TestBusyWithoutProgress(t *testing.T) {
	t.Parallel()
	const first = "cpu  100 0 0 900 0 0 0 0 0 0\n"
	for second, want := range map[string]struct {
		share float64
		told  bool
	}{
		"cpu  150 0 0 950 0 0 0 0 0 0\n":  {0.5, true},
		"cpu  100 0 0 1000 0 0 0 0 0 0\n": {0, true},
		first:                             {},
		"cpu  90 0 0 990 0 0 0 0 0 0\n":   {},
		"cat: /proc/stat: No such file\n": {},
	} {
		answers := []string{first, second}
		share, known, err := conditions.Busy(t.Context(), func(context.Context, string) (device.Output, error) {
			out := device.Output{Stdout: []byte(answers[0])}
			answers = answers[1:]
			return out, nil
		}, stopped{})
		if share != want.share || known != want.told || err != nil {
			t.Errorf("%q: %g, %v, %v", second, share, known, err)
		}
	}
}

// stopped is a clock on which no time passes.
type stopped struct{}

func (stopped) Now() time.Duration                         { return 0 }
func (stopped) Sleep(context.Context, time.Duration) error { return nil }

// A phone without the settings command is left as it is, and no waiting is reported for an idle
// one.
func TestHoldWithoutTheSettingsCommand(t *testing.T) {
	t.Parallel()
	turned := 90
	h := hold(t, "optimus-l3-android-4.1.1", simulator.Options{}, config.Conditions{Brightness: 1, Rotation: &turned, IdleWithin: time.Minute})
	var said []string
	h.Target.Journal = journal.New("optimus", progress(func(e journal.Event) { said = append(said, e.Message) }))
	if err := errors.Join(h.Hold(t.Context()), h.Idle(t.Context())); err != nil || len(h.Target.Journal.Warnings) > 0 || len(said) > 0 {
		t.Errorf("%v: %v, said %q", err, h.Target.Journal.Warnings, said)
	}
	for _, command := range h.ran {
		if strings.Contains(command, "settings put") {
			t.Errorf("it was sent %s", command)
		}
	}
	h = hold(t, "pixel-7-android-14", simulator.Options{Boot: simulator.Boot{Busy: 10 * time.Second}}, config.Conditions{IdleWithin: time.Minute})
	h.Target.Journal = journal.New("pixel", progress(func(e journal.Event) { said = append(said, e.Message) }))
	if err := h.Idle(t.Context()); err != nil || len(said) == 0 || !strings.Contains(said[0], "waiting for the device to be idle (CPUs 9") {
		t.Errorf("%v: said %q", err, said)
	}
}

type progress func(journal.Event)

func (p progress) Report(e journal.Event) { p(e) }
