package conditions

import (
	"context"
	"fmt"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// performanceSince is the first version with a fixed performance mode, in which the Power HAL
// holds CPU and GPU at a rate that the device can keep up (Android 11, Mode.aidl,
// FIXED_PERFORMANCE). It is the maker's to build in.
const performanceSince = 30

const performanceOn = "cmd power set-fixed-performance-mode-enabled true"

// noPerformance says why a device has no fixed performance mode worth asking for, "" where it
// may have one. The images of emulators have the example of a Power HAL, which takes every mode
// and does nothing, and their clocks are the computer's.
func noPerformance(api int, emulator bool) string {
	switch {
	case api < performanceSince:
		return "there is none before Android 11"
	case emulator:
		return "an emulator has no clocks of its own to hold"
	}
	return ""
}

// wantsPerformance reports whether the clocks are to be held. Joules are those of the clocks,
// and with these held they are no user's, so that energy is measured without unless somebody
// asks for both.
func wantsPerformance(want config.Conditions, energy bool) bool {
	return want.FixedPerformance == config.PerformanceAlways || want.FixedPerformance == config.PerformanceAuto && !energy
}

// holdPerformance turns the fixed performance mode on. Android tells of no mode whether it is on;
// a device without this one says so, on its standard error and with status 255
// (PowerManagerShellCommand.runSetFixedPerformanceModeEnabled).
func (h *Holder) holdPerformance(ctx context.Context, _ state) error {
	h.Fixed = false
	if !wantsPerformance(h.Want, h.Energy) {
		return nil
	}
	why := noPerformance(h.Target.Facts.API, h.Target.Facts.IsEmulator())
	if why == "" {
		out, err := h.Target.Attempt(ctx, performanceOn, target.Change{Kind: target.Performance, Put: "true"})
		if err != nil {
			return fmt.Errorf("turn the fixed performance mode on: %w", err)
		}
		if h.Fixed = out.ExitCode == 0; h.Fixed {
			return nil
		}
		why = target.FirstLine(out.Stderr, out.Stdout)
	}
	if h.Want.FixedPerformance == config.PerformanceAlways {
		h.Tell(device.Finding{
			Name: "performance", Detail: "the fixed performance mode can't be turned on: " + why,
			Hint: "conditions.fixed-performance: auto does without it where there is none",
		})
	}
	return nil
}
