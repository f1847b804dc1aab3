package conditions

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
)

// Findings report, for each condition that can be held, the device's state, what a run would do
// about it, and which command does the same by hand. They change nothing on the device.
func Findings(ctx context.Context, d device.Device, clock device.Clock, want config.Conditions, energy bool) ([]device.Finding, error) {
	out, err := d.Exec(ctx, "getprop")
	if err != nil {
		return nil, fmt.Errorf("read the device's properties: %w", err)
	}
	facts, err := target.ReadProperties(out.Stdout)
	if err != nil {
		return nil, nil //nolint:nilerr // nolint:nilerr // no finding without an answer
	}
	if out, err = d.Exec(ctx, device.JoinCommands(questions(facts.API)...)); err != nil {
		return nil, fmt.Errorf("read the conditions to be held: %w", err)
	}
	now := read(string(out.Stdout), facts.API)
	idle, err := idleFinding(ctx, d, clock, want)
	return []device.Finding{
		idle, brightnessFinding(now, want), rotationFinding(now, want), dexoptFinding(now, facts.API, want),
		performanceFinding(facts, want, energy),
	}, err
}

func idleFinding(ctx context.Context, d device.Device, clock device.Clock, want config.Conditions) (device.Finding, error) {
	busy, known, err := Busy(ctx, d.Exec, clock)
	f := device.Finding{Name: "idle", OK: true, Detail: "the device doesn't report it"}
	if err != nil || !known {
		return f, err
	}
	f.Detail, f.OK = fmt.Sprintf("its CPUs are %.0f %% busy", 100*busy), busy <= idleShare
	if !f.OK {
		f.Hint, f.Fix = "see what runs on it", "top -n 1"
		if want.IdleWithin > 0 {
			f.Run = fmt.Sprintf("waits until it is idle, up to %s", prose.Duration(want.IdleWithin.Round(time.Second)))
		}
	}
	return f, nil
}

func brightnessFinding(now state, want config.Conditions) device.Finding {
	f := device.Finding{Name: "brightness", OK: true, Detail: "the device doesn't report it"}
	if now.brightness == "" {
		return f
	}
	f.Detail = inPercent(now.brightness)
	if now.brightnessMode == on {
		f.Detail += ", and changes with the light of the room"
		f.Run, f.Fix = "keeps it as it was last set by hand", "settings put system "+brightnessMode+" "+off
	}
	if to := level(float64(want.Brightness)); want.Brightness > 0 && to != now.brightness {
		f.Run = "sets it to " + inPercent(to)
	}
	return f
}

// inPercent formats a level of the brightness setting: "40 % (102 of 255)".
func inPercent(level string) string {
	n, err := strconv.Atoi(level)
	if err != nil {
		return level
	}
	return fmt.Sprintf("%.0f %% (%d of 255)", float64(n)/255*100, n)
}

func rotationFinding(now state, want config.Conditions) device.Finding {
	f := device.Finding{Name: "rotation", OK: true, Detail: "the device doesn't report it"}
	switch now.turns {
	case on:
		f.Detail, f.Run, f.Fix = "the screen turns with the device", "keeps it as it is then", "settings put system "+turns+" "+off
	case off:
		f.Detail = "the screen does not turn with the device"
	}
	if want.Rotation != nil && (now.turns == on || now.rotation != strconv.Itoa(*want.Rotation/90)) {
		f.Run = fmt.Sprintf("turns it by %d°", *want.Rotation)
	}
	return f
}

func dexoptFinding(now state, api int, want config.Conditions) device.Finding {
	f := device.Finding{Name: "dexopt", OK: true, Detail: "on: Android compiles apps in the background"}
	switch {
	case api < dexoptSince:
		f.Detail = "on, but not while the screen is: it can be turned off from Android 14 on"
	case now.dexopt == "":
		f.Detail = "the device doesn't report it"
	case target.DexoptOff([]byte(now.dexopt)):
		f.Detail = "off: Android compiles nothing in the background"
	case want.BackgroundDexopt:
		f.Run = "leaves it on, as conditions.background-dexopt says"
	default:
		f.Run, f.Fix = "turns it off until it ends", "pm bg-dexopt-job --disable"
	}
	return f
}

func performanceFinding(facts target.Facts, want config.Conditions, energy bool) device.Finding {
	f := device.Finding{Name: "performance", OK: true, Detail: "CPU clocks unlocked"}
	why := noPerformance(facts.API, facts.IsEmulator())
	switch {
	case why != "":
		f.Detail = "no fixed performance mode: " + why
		if want.FixedPerformance == config.PerformanceAlways {
			f.OK, f.Hint = false, "set conditions.fixed-performance to auto, which does without"
		}
	case wantsPerformance(want, energy):
		f.Run, f.Fix = "turns the fixed performance mode on, where its maker has built it in", performanceOn
	case energy && want.FixedPerformance == config.PerformanceAuto:
		f.Run = "leaves them, since energy is measured"
	}
	return f
}
