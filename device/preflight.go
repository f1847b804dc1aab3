package device

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Finding is the result of one check before a run.
type Finding struct {
	Name string
	// OK is false where the device should not be measured on as it is. It is true where the
	// device does not report the property.
	OK     bool
	Detail string // what was found
	Hint   string // what to do about it, "" where OK
	// Run is what a run does about it automatically, as in "a run turns it on"; "" for
	// nothing.
	Run string
	// Fix is the command line for the device's shell that corrects it, "" for none.
	Fix string
}

// Limits within which a device is fit.
const (
	minBatteryPercent = 20
	maxBatteryCelsius = 40
	minFreeMiB        = 500
	maxThermalStatus  = 1 // LIGHT; from MODERATE (2) on Android slows the device down
)

// notReported is the detail where the device lacks the command or prints something unknown.
const notReported = "the device does not report it"

// Preflight checks whether the device is fit to measure on, with one command. It changes
// nothing. The commands exist from Android 4.1 on; those that are missing are skipped.
//
// The error is the loss of the device or the end of ctx.
func Preflight(ctx context.Context, d Device) ([]Finding, error) {
	out, err := d.Exec(ctx, JoinCommands(queries()...))
	if err != nil && (ctx.Err() != nil || errors.Is(err, ErrGone) || errors.Is(err, ErrUnauthorized)) {
		return nil, fmt.Errorf("check that the device is fit: %w", err)
	}
	var answers []string
	if err == nil {
		answers = SplitAnswers(string(out.Stdout), len(queries()))
	}
	findings := make([]Finding, 0, len(checks))
	for _, check := range checks {
		finding := Finding{OK: true, Detail: notReported}
		if answers != nil {
			finding = check.look(answers[slices.Index(queries(), check.command)])
		}
		finding.Name = check.name
		findings = append(findings, finding)
	}
	return findings, nil
}

// checks are the checks of Preflight, each with the command whose output it reads.
var checks = []struct {
	name, command string
	look          func(output string) Finding
}{
	{"boot", BootQuery, checkBoot},
	{"screen", "dumpsys power", checkScreen},
	{"lock", LockQuery, checkLock},
	{"dialog", FocusQuery, checkDialog},
	{"battery", batteryCommand, checkBattery},
	{"temperature", batteryCommand, checkTemperature},
	{"thermal", thermalCommand, checkThermal},
	{"saver", saverCommand, checkSaver},
	{"storage", "df /data", checkStorage},
	{"animations", AnimationQuery, checkAnimations},
	{"network", networkCommand, checkNetwork},
	{"installs", InstallsQuery, checkInstalls},
}

// queries returns the commands of all checks, each once.
func queries() (out []string) {
	for _, check := range checks {
		if !slices.Contains(out, check.command) {
			out = append(out, check.command)
		}
	}
	return out
}

func fit(detail string) Finding         { return Finding{OK: true, Detail: detail} }
func unfit(detail, hint string) Finding { return Finding{Detail: detail, Hint: hint} }
func judge(ok bool, detail, hint string) Finding {
	if ok {
		return fit(detail)
	}
	return unfit(detail, hint)
}

// first returns the first group of the first match, or "" where there is none.
func first(re *regexp.Regexp, text string) string {
	if m := re.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

func checkBoot(output string) Finding {
	b := ReadBoot(output)
	if b.Pending == "" {
		return fit("the device has started")
	}
	f := unfit("the device is still starting: "+b.Pending, "wait until the device has started")
	f.Run = "waits for that, up to 90 s"
	return f
}

func checkScreen(output string) Finding {
	screen, said := ReadScreen(output)
	f := judge(screen == ScreenOn || screen == ScreenNotReported, said, "turn the screen on and keep it on")
	f.Run = "keeps it on"
	if !f.OK {
		f.Run, f.Fix = "turns it on and keeps it on", "svc power stayon true"
	}
	return f
}

// The lock screen's state, as printed by Android 4 to 7, and by KeyguardServiceDelegate from 8
// on.
var keyguard = regexp.MustCompile(`(?m)(?:mShowingLockscreen|mDreamingLockscreen|isStatusBarKeyguard|mKeyguardShowing|^\s*showing)=(true|false)`)

// insecure matches the KeyguardServiceDelegate (Android 8 and later) of a lock screen that a
// swipe dismisses.
var insecure = regexp.MustCompile(`(?m)^\s*secure=false\s*$`)

func checkLock(output string) Finding {
	switch {
	case Locked(output) && insecure.MatchString(output):
		f := fit("the lock screen shows and asks for nothing")
		f.Run, f.Fix = "dismisses it", "wm dismiss-keyguard"
		return f
	case Locked(output):
		return unfit("the lock screen shows", HintLock)
	case keyguard.MatchString(output):
		return fit("unlocked")
	}
	return fit(notReported)
}

// checkDialog looks for a dialog of Android's own, which takes the focus from every app.
func checkDialog(output string) Finding {
	d, shown := ReadDialog(output)
	switch {
	case !shown && !strings.Contains(output, "mCurrentFocus="):
		return fit(notReported)
	case !shown:
		return fit("none of the system's")
	}
	f := unfit("Android says that "+strconv.Quote(d.Process)+map[bool]string{true: " has crashed", false: " does not respond"}[d.Crashed]+", and lets no app have the focus",
		"press a button of the dialog on the device's screen")
	f.Run = "presses Wait, or Close where it has crashed"
	return f
}

// HintLock is the hint for a device with a lock screen.
const HintLock = "unlock the device and set its screen lock to none"

// LockQuery is the command line whose output Locked parses.
const LockQuery = "dumpsys window policy"

// Locked reports whether the lock screen is shown, from the output of LockQuery. It is false
// where the device does not report it.
func Locked(output string) bool {
	return slices.ContainsFunc(keyguard.FindAllStringSubmatch(output, -1), func(m []string) bool { return m[1] == "true" })
}

// The temperature in tenths of a degree Celsius, in dumpsys battery.
var batteryTemperature = regexp.MustCompile(`(?m)^\s*temperature: (-?\d{1,6})$`)

func checkTemperature(output string) Finding {
	tenths, err := strconv.Atoi(first(batteryTemperature, output))
	if err != nil {
		return fit(notReported)
	}
	celsius := float64(tenths) / 10
	return judge(celsius <= maxBatteryCelsius, fmt.Sprintf("battery at %.1f °C", celsius),
		fmt.Sprintf("let it cool down to %d °C: a hot device slows down", maxBatteryCelsius))
}

var (
	thermalStatus = regexp.MustCompile(`Thermal Status: (\d)`)
	thermalNames  = []string{"none", "light", "moderate", "severe", "critical", "emergency", "shutdown"}
)

func checkThermal(output string) Finding {
	status, err := strconv.Atoi(first(thermalStatus, output))
	if err != nil || status >= len(thermalNames) {
		return fit(notReported) // before Android 10
	}
	f := judge(status <= maxThermalStatus, "throttling: "+thermalNames[status], "let the device cool down: Android is slowing it (a run waits for that up to ten minutes)")
	if !f.OK {
		f.Run = "waits for that"
	}
	return f
}

// What slows a device down: heat (reported since Android 10), and the battery saver (since
// Android 5).
const (
	thermalCommand = "dumpsys thermalservice"
	batteryCommand = "dumpsys battery"
	saverCommand   = "settings get global low_power"
)

func checkSaver(output string) Finding {
	switch strings.TrimSpace(output) {
	case "0", "null":
		return fit("off")
	case "1":
		f := unfit("on", "turn the battery saver off: Android slows the device down")
		f.Fix = "settings put global low_power 0"
		return f
	}
	return fit(notReported)
}

// Slowdown returns what slows the device down at the moment. heat is "" where the device is
// not too hot or does not report its thermal status; before Android 10 the battery's
// temperature is read instead. saver reports whether the battery saver is on. The error is
// that of the command.
func Slowdown(ctx context.Context, d Device) (heat string, saver bool, err error) {
	out, err := d.Exec(ctx, thermalCommand+"; "+batteryCommand+"; "+saverCommand)
	if err != nil {
		return "", false, fmt.Errorf("ask what slows the device down: %w", err)
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(out.Stdout), "\r", ""))
	look := checkThermal
	if !thermalStatus.MatchString(text) {
		look = checkTemperature
	}
	if f := look(text); !f.OK {
		heat = f.Detail
	}
	lines := strings.Split(text, "\n")
	return heat, !checkSaver(lines[len(lines)-1]).OK, nil
}

// checkStorage reads both layouts of df: sizes with a unit (Android 6 and older), and columns
// of 1K blocks (toybox, since then).
func checkStorage(output string) Finding {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if len(lines) < 2 {
		return fit(notReported)
	}
	// df breaks the line after a long name of a file system.
	columns := strings.Fields(strings.Join(lines[1:], " "))
	if len(columns) < 4 {
		return fit(notReported)
	}
	unit := 0.0
	if strings.Contains(lines[0], "1K-blocks") {
		unit = 1 << 10
	}
	free, ok := parseSize(columns[3], unit)
	if !ok {
		return fit(notReported)
	}
	mib := int64(free / (1 << 20))
	return judge(mib >= minFreeMiB, fmt.Sprintf("%d MiB free in /data", mib),
		fmt.Sprintf("free %d MiB in /data", minFreeMiB))
}

// parseSize parses "123456" in the given unit, in bytes, or "12.6G" where unit is 0.
func parseSize(text string, unit float64) (bytes float64, ok bool) {
	if unit == 0 && text != "" {
		unit = map[byte]float64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40}[text[len(text)-1]]
		text = text[:len(text)-1]
	}
	n, err := strconv.ParseFloat(text, 64)
	return n * unit, err == nil && unit != 0 && n >= 0
}

// Airplane mode moved from the system to the global settings in Android 4.2.
const networkCommand = "settings get global airplane_mode_on; " + NetworkQuery

func checkNetwork(output string) Finding {
	const hint = "connect the device to a network, unless the scenario needs none"
	airplane, rest, _ := strings.Cut(output, "\n")
	network := first(defaultNetwork, rest)
	connected := network != "" && network != "none" || network == "" && networkInfo.MatchString(rest)
	if strings.TrimSpace(airplane) == "1" { // Wi-Fi can be on in it
		return judge(connected, "airplane mode is on", hint)
	}
	switch {
	case network != "":
		detail := "connected (the system's network " + network + ")"
		if !connected {
			detail = "not connected to any"
		}
		return judge(connected, detail, hint)
	case connected:
		return fit("connected")
	}
	return fit(notReported)
}
