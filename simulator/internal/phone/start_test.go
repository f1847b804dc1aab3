package phone

import (
	"strings"
	"testing"
	"time"
)

const launcherStart = "am start -W -a android.intent.action.MAIN -c android.intent.category.LAUNCHER -n com.example.still/.MainActivity"

// launchState returns LaunchState in the output of am start -W, and TotalTime if it is
// printed.
func launchState(t *testing.T, p *Phone, command string) (state, total string) {
	t.Helper()
	out := output(t, p, command)
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "LaunchState":
			state = value
		case "TotalTime":
			total = value
		}
	}
	return state, total
}

// The kind of start in am start -W depends on what exists of the app (ActivityStarter,
// ActivityMetricsLogger).
func TestKindsOfStarts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		phone, app, before, command, want string
	}{
		"cold":                        {"pixel-7-android-14", "", "am force-stop com.example.still", launcherStart, "COLD"},
		"after home":                  {"pixel-7-android-14", "", "input keyevent 3", launcherStart, "HOT"},
		"in front":                    {"pixel-7-android-14", "", "true", launcherStart, "UNKNOWN (0)"},
		"in front, Android 11":        {"pixel-5-android-11", "", "true", launcherStart, "HOT"},
		"after back":                  {"pixel-7-android-14", "", "input keyevent 4", launcherStart, "HOT"},
		"after back, Android 11":      {"pixel-5-android-11", "", "input keyevent 4", launcherStart, "WARM"},
		"the task cleared":            {"pixel-7-android-14", "", "input keyevent 3", launcherStart + " -f 0x10008000", "WARM"},
		"another intent":              {"pixel-7-android-14", "", "input keyevent 3", "am start -W com.example.still/.MainActivity", "WARM"},
		"a process that comes back":   {"pixel-7-android-14", "launch revived 300ms\n", "am force-stop com.example.still; sleep 1", launcherStart, "WARM"},
		"a process that is forgotten": {"pixel-7-android-14", "launch forgotten 1s\n", "input keyevent 3; sleep 2", launcherStart, "COLD"},
		"made anew":                   {"pixel-7-android-14", "launch relaunched 100%\n", "input keyevent 3", launcherStart, "RELAUNCH"},
		"the screen is off":           {"pixel-7-android-14", "", "am force-stop com.example.still; input keyevent 223", launcherStart, "UNKNOWN (-1)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPhone(t, c.phone, still+c.app)
			if state, _ := launchState(t, p, launcherStart); state != "COLD" {
				t.Fatalf("the first start is %s", state)
			}
			finish(t, p, start(p, c.before+"; sleep 0.1"))
			if state, total := launchState(t, p, c.command); state != c.want || (total == "") != (c.want == "UNKNOWN (-1)") || (total == "0") != strings.HasPrefix(name, "in front") {
				t.Errorf("%s in %q ms, want %s", state, total, c.want)
			}
		})
	}
}

// The log contains activities that are created, but not those that return
// (ActivityMetricsLogger, isInterestedToEventLog).
func TestLogOfCreatedActivities(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "pixel-7-android-14", still+"drawn 300ms\nlaunch through .Splash logged 50ms\n")
	command := strings.ReplaceAll(launcherStart, ".MainActivity", ".Splash")
	displayed := func() (displayed, drawn int) {
		pass(t, p, time.Second)
		log := output(t, p, "logcat -d")
		return strings.Count(log, "Displayed com.example.still/.MainActivity"), strings.Count(log, "Fully drawn com.example.still/.MainActivity")
	}
	out := output(t, p, command)
	has(t, out, "cmp=com.example.still/.Splash }", "Activity: com.example.still/.MainActivity\n")
	if n, full := displayed(); n != 1 || full != 1 {
		t.Errorf("after a cold start: displayed %d times, drawn %d times", n, full)
	}
	output(t, p, "input keyevent 3; "+command)
	if n, full := displayed(); n != 1 || full != 1 {
		t.Errorf("after a hot start: displayed %d times, drawn %d times", n, full)
	}
	output(t, p, "input keyevent 3; "+command+" -f 0x10008000")
	if n, full := displayed(); n != 2 || full != 2 {
		t.Errorf("after a warm start: displayed %d times, drawn %d times", n, full)
	}
}

func TestStartableActivities(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "pixel-7-android-14", still)
	has(t, output(t, p, "cmd package resolve-activity --brief com.example.still"), "\ncom.example.still/.MainActivity\n")
	has(t, output(t, p, "cmd package resolve-activity --brief com.example.gone"), "No activity found\n")
	if _, errs, code := run(t, p, "am start -W com.example.still/.Gone"); code != 1 || !strings.Contains(errs, "Activity class {com.example.still/.Gone} does not exist") {
		t.Errorf("an activity that is not there: exit code %d, %q", code, errs)
	}
	p = newPhone(t, "pixel-7-android-14", still+"launch second .LeakLauncherActivity\n")
	has(t, output(t, p, "cmd package resolve-activity --brief com.example.still"), "\nandroid/com.android.internal.app.ResolverActivity\n")
}

// Since Android 12 any process can make the kernel drop its file caches.
func TestDropCaches(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "pixel-7-android-14", still)
	output(t, p, "setprop perf.drop_caches 3")
	if got := output(t, p, "getprop perf.drop_caches"); got != "3\n" {
		t.Errorf("it says %q while it drops them", got)
	}
	pass(t, p, time.Second)
	if got := output(t, p, "getprop perf.drop_caches"); got != "0\n" {
		t.Errorf("it says %q afterwards", got)
	}
	if _, _, code := run(t, newPhone(t, "pixel-5-android-11", still), "setprop perf.drop_caches 3"); code == 0 {
		t.Error("Android 11 lets adb drop them")
	}
}
