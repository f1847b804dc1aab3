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

// Finding is one thing that the check before a run looked at.
type Finding struct {
	Name string
	// OK is false where the device should not be measured on as it is. A device
	// that doesn't tell is not blamed for it.
	OK     bool
	Detail string // what was found
	Hint   string // what to do about it, "" where OK
}

// What a device needs to be fit.
const (
	minBatteryPercent = 20
	maxBatteryCelsius = 40
	minFreeMiB        = 500
	maxThermalStatus  = 1 // LIGHT; from MODERATE (2) on Android slows the device down
)

// notTold is the detail where the device has no such command, or has other words.
const notTold = "the device doesn't tell"

// Preflight looks at whether the device is fit to measure on. It changes
// nothing. The commands exist from Android 4.1 on, or are done without.
//
// The error is the loss of the device or the end of ctx; what was found up to
// there is returned with it.
func Preflight(ctx context.Context, d Device) ([]Finding, error) {
	var findings []Finding
	for _, check := range []struct {
		name, command string
		look          func(output string) Finding
	}{
		{"boot", "getprop sys.boot_completed", lookBoot},
		{"screen", "dumpsys power", lookScreen},
		{"lock", LockQuestion, lookLock},
		{"battery", batteryCommand, lookBattery},
		{"temperature", batteryCommand, lookTemperature},
		{"thermal", thermalCommand, lookThermal},
		{"saver", saverCommand, lookSaver},
		{"storage", "df /data", lookStorage},
		{"animations", animationCommand, lookAnimations},
		{"network", networkCommand, lookNetwork},
		{"installs", InstallsQuestion, lookInstalls},
	} {
		out, err := d.Exec(ctx, check.command)
		if err != nil && (ctx.Err() != nil || errors.Is(err, ErrGone) || errors.Is(err, ErrUnauthorized)) {
			return findings, fmt.Errorf("checking %s: %w", check.name, err)
		}
		finding := Finding{OK: true, Detail: notTold}
		if err == nil {
			finding = check.look(strings.ReplaceAll(string(out.Stdout), "\r", ""))
		}
		finding.Name = check.name
		findings = append(findings, finding)
	}
	return findings, nil
}

func fit(detail string) Finding         { return Finding{OK: true, Detail: detail} }
func unfit(detail, hint string) Finding { return Finding{Detail: detail, Hint: hint} }
func judge(ok bool, detail, hint string) Finding {
	if ok {
		return fit(detail)
	}
	return unfit(detail, hint)
}

// first is the first group of the first match, "" where there is none.
func first(re *regexp.Regexp, text string) string {
	if m := re.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

func lookBoot(output string) Finding {
	return judge(strings.TrimSpace(output) == "1", "boot completed: "+orNo(strings.TrimSpace(output)), "wait until the device has started")
}

func orNo(value string) string {
	switch value {
	case "1":
		return "yes"
	case "", "0":
		return "no"
	}
	return strconv.Quote(value)
}

func lookScreen(output string) Finding {
	screen, said := ReadScreen(output)
	return judge(screen == ScreenOn || screen == ScreenNotTold, said, "turn the screen on and keep it on: svc power stayon true")
}

// The lock screen's state: names of Android 4 to 7, and of KeyguardServiceDelegate
// from 8 on.
var keyguard = regexp.MustCompile(`(?m)(?:mShowingLockscreen|mDreamingLockscreen|isStatusBarKeyguard|mKeyguardShowing|^\s*showing)=(true|false)`)

// asksForNothing is of KeyguardServiceDelegate from Android 8 on: the lock screen goes
// at a swipe.
var asksForNothing = regexp.MustCompile(`(?m)^\s*secure=false\s*$`)

func lookLock(output string) Finding {
	switch {
	case Locked(output) && asksForNothing.MatchString(output):
		return fit("the lock screen shows and asks for nothing: a run dismisses it")
	case Locked(output):
		return unfit("the lock screen shows", HintLock)
	case keyguard.MatchString(output):
		return fit("unlocked")
	}
	return fit(notTold)
}

// HintLock says what to do about a lock screen.
const HintLock = "unlock the device and set its screen lock to none"

// LockQuestion is the command whose output tells of the lock screen.
const LockQuestion = "dumpsys window policy"

// Locked reports whether the lock screen shows, by the output of LockQuestion. A
// device that doesn't tell is not locked.
func Locked(output string) bool {
	return slices.ContainsFunc(keyguard.FindAllStringSubmatch(output, -1), func(m []string) bool { return m[1] == "true" })
}

// Of dumpsys battery; the temperature is in tenths of a degree.
var (
	batteryLevel       = regexp.MustCompile(`(?m)^\s*level: (\d{1,6})$`)
	batteryScale       = regexp.MustCompile(`(?m)^\s*scale: (\d{1,6})$`)
	batteryTemperature = regexp.MustCompile(`(?m)^\s*temperature: (-?\d{1,6})$`)
)

func lookBattery(output string) Finding {
	level, err := strconv.Atoi(first(batteryLevel, output))
	if err != nil {
		return fit(notTold)
	}
	scale, err := strconv.Atoi(first(batteryScale, output))
	if err != nil || scale == 0 {
		scale = 100
	}
	percent := 100 * level / scale
	return judge(percent >= minBatteryPercent, fmt.Sprintf("%d %%", percent),
		fmt.Sprintf("charge it to %d %% at least: a low battery slows the device down", minBatteryPercent))
}

func lookTemperature(output string) Finding {
	tenths, err := strconv.Atoi(first(batteryTemperature, output))
	if err != nil {
		return fit(notTold)
	}
	celsius := float64(tenths) / 10
	return judge(celsius <= maxBatteryCelsius, fmt.Sprintf("battery at %.1f °C", celsius),
		fmt.Sprintf("let it cool down to %d °C: a hot device slows down", maxBatteryCelsius))
}

var (
	thermalStatus = regexp.MustCompile(`Thermal Status: (\d)`)
	thermalNames  = []string{"none", "light", "moderate", "severe", "critical", "emergency", "shutdown"}
)

func lookThermal(output string) Finding {
	status, err := strconv.Atoi(first(thermalStatus, output))
	if err != nil || status >= len(thermalNames) {
		return fit(notTold) // before Android 10
	}
	return judge(status <= maxThermalStatus, "throttling: "+thermalNames[status], "let the device cool down: Android is slowing it (a run waits for that up to ten minutes)")
}

// What slows a device down: heat, told since Android 10, and the battery saver,
// since Android 5.
const (
	thermalCommand = "dumpsys thermalservice"
	batteryCommand = "dumpsys battery"
	saverCommand   = "settings get global low_power"
)

func lookSaver(output string) Finding {
	switch strings.TrimSpace(output) {
	case "0", "null":
		return fit("off")
	case "1":
		return unfit("on", "turn the battery saver off: Android slows the device down")
	}
	return fit(notTold)
}

// Slowed says what slows the device down now: heat, "" where it doesn't or the
// device does not tell, and the battery saver. Before Android 10 the battery's
// temperature stands in for the heat. The error is that it could not be asked.
func Slowed(ctx context.Context, d Device) (heat string, saver bool, err error) {
	out, err := d.Exec(ctx, thermalCommand+"; "+batteryCommand+"; "+saverCommand)
	if err != nil {
		return "", false, fmt.Errorf("ask what slows the device down: %w", err)
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(out.Stdout), "\r", ""))
	look := lookThermal
	if !thermalStatus.MatchString(text) {
		look = lookTemperature
	}
	if f := look(text); !f.OK {
		heat = f.Detail
	}
	lines := strings.Split(text, "\n")
	return heat, !lookSaver(lines[len(lines)-1]).OK, nil
}

// lookStorage reads the two layouts of df: sizes with a unit (Android 6 and
// older), and columns of 1K blocks (toybox, since then).
func lookStorage(output string) Finding {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if len(lines) < 2 {
		return fit(notTold)
	}
	// A long name of the file system breaks the line behind it.
	columns := strings.Fields(strings.Join(lines[1:], " "))
	if len(columns) < 4 {
		return fit(notTold)
	}
	unit := 0.0
	if strings.Contains(lines[0], "1K-blocks") {
		unit = 1 << 10
	}
	free, ok := parseSize(columns[3], unit)
	if !ok {
		return fit(notTold)
	}
	mib := int64(free / (1 << 20))
	return judge(mib >= minFreeMiB, fmt.Sprintf("%d MiB free in /data", mib),
		fmt.Sprintf("free %d MiB in /data", minFreeMiB))
}

// parseSize reads "123456" of the unit in bytes, or "12.6G" where that is 0.
func parseSize(text string, unit float64) (bytes float64, ok bool) {
	if unit == 0 && text != "" {
		unit = map[byte]float64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40}[text[len(text)-1]]
		text = text[:len(text)-1]
	}
	n, err := strconv.ParseFloat(text, 64)
	return n * unit, err == nil && unit != 0 && n >= 0
}

// The settings command is there from Android 4.2 on. A setting never changed is "null".
const animationCommand = "settings get global window_animation_scale; settings get global transition_animation_scale; settings get global animator_duration_scale"

func lookAnimations(output string) Finding {
	scales := strings.Fields(output)
	if len(scales) != 3 {
		return fit(notTold)
	}
	values := make([]float64, len(scales))
	for i, text := range scales {
		value, err := strconv.ParseFloat(text, 64)
		switch {
		case text == "null":
			value = 1
		case err != nil:
			return fit(notTold)
		}
		values[i] = value
	}
	if values[0] != values[1] || values[1] != values[2] {
		return unfit(fmt.Sprintf("scales of windows, transitions, animators: %g, %g, %g", values[0], values[1], values[2]),
			"set the three animation scales alike, and the same on every device")
	}
	if values[0] == 0 {
		return fit("off: frames of animations are not measured")
	}
	return fit(fmt.Sprintf("scale %g", values[0]))
}

// Airplane mode moved from the system to the global settings in Android 4.2.
const networkCommand = "settings get global airplane_mode_on; " + NetworkQuestion

func lookNetwork(output string) Finding {
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
	return fit(notTold)
}
