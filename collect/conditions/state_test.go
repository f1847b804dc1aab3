package conditions

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// answers are a device's answers to all questions, each ended as a device ends it.
func answers(each ...string) string { return strings.Join(each, "apkgate-next\n") }

// What each version of Android prints is parsed, and anything else is ignored.
func TestRead(t *testing.T) {
	t.Parallel()
	const animations = "1.0\n1.0\n1.0\n"
	for name, c := range map[string]struct {
		api    int
		output string
		want   state
	}{
		"Android 14": {34, answers("1\n", "102\n", "1\n", "0\n", animations, "    mCurrentRotation=ROTATION_270\n", "waiting\n"),
			state{"1", "102", "1", "0", "3", animations, "waiting"}},
		"Android 9, in quarters": {28, answers("0\r\n", "255\r\n", "1\r\n", "null\r\n", "1.0\r\n1.0\r\n1.0\r\n", "  mRotation=1 mAltOrientation=false\r\n"),
			state{"0", "255", "1", "null", "1", animations, ""}},
		"a foldable, of which the first display counts": {29, answers("0\n", "1\n", "1\n", "0\n", animations, "  mCurrentRotation=ROTATION_90\n  mCurrentRotation=ROTATION_0\n"),
			state{"0", "1", "1", "0", "1", animations, ""}},
		"no settings command":   {16, answers("", "", "", "", "", ""), state{}},
		"words instead":         {28, answers("sh: settings: not found\n", "Error\n", "12 34\n", "\n", "", "mCurrentRotation=ROTATION_45\nmRotation=9\n"), state{}},
		"an answer too many":    {34, answers("1\n", "102\n", "1\n", "0\n", animations, "", "waiting\n", ""), state{}},
		"nothing":               {34, "", state{}},
		"a title with the mark": {28, answers("0\n", "1\n", "1\n", "0\n", animations, "apkgate-next\n"), state{}},
	} {
		want := c.want
		if name == "no settings command" || name == "words instead" {
			want.animations = ""
		}
		if got := read(c.output, c.api); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// A share of the brightness becomes a valid level of the setting, and never a dark screen.
func TestLevel(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{1: "255", 0.4: "102", 0.5: "128", 0.001: "1"} {
		if got := level(share); got != want {
			t.Errorf("%g: %s, want %s", share, got, want)
		}
	}
}

// CPU times follow proc(5), whatever columns come after them.
func TestReadCPU(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]cpu{
		"cpu  100 20 30 800 50 6 7 8 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n": {171, 1021},
		"cpu  1 0 0 9 0 0 0 0\n":                 {1, 10},
		"cpu0 1 1 1 1 1 1 1 1 0 0\n":             {},
		"cpu  1 0 0 9\n":                         {},
		"cat: /proc/stat: Permission denied\n":   {},
		"cpu  9999999999999999 0 0 0 0 0 0 0\n ": {},
	} {
		got, known := readCPU(text)
		if got != want || known != (want != cpu{}) {
			t.Errorf("%q: %+v, told %v, want %+v", text, got, known, want)
		}
	}
}

// Each condition is reported with its state, what a run does and the command that does the same by
// hand.
func TestFindingOfEachCondition(t *testing.T) {
	t.Parallel()
	f := rotationFinding(state{turns: on, rotation: "0"}, conditions(90))
	if f.Run != "turns it by 90°" || f.Fix != "settings put system accelerometer_rotation 0" || !f.OK {
		t.Errorf("%+v", f)
	}
	if f := rotationFinding(state{turns: off, rotation: "1"}, conditions(90)); f.Run != "" || f.Fix != "" {
		t.Errorf("of a screen that is turned so: %+v", f)
	}
	if f := rotationFinding(state{turns: off, rotation: "0"}, conditions(90)); f.Run != "turns it by 90°" || f.Fix != "" {
		t.Errorf("of a screen that is turned otherwise: %+v", f)
	}
	f = dexoptFinding(state{dexopt: "unknown(1000/jid27873780)"}, 34, conditions(0))
	if want := (device.Finding{Name: "dexopt", OK: true, Detail: "off: Android compiles nothing in the background"}); f != want {
		t.Errorf("%+v", f)
	}
}

// conditions configures a rotation alone.
func conditions(degrees int) config.Conditions { return config.Conditions{Rotation: &degrees} }
