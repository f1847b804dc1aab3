package conditions

import (
	"context"
	"fmt"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// performanceSince is the first version with a fixed performance mode, in which the Power HAL holds
// CPU and GPU at a sustainable rate (Android 11, Mode.aidl, FIXED_PERFORMANCE). Makers may leave it
// out.
const performanceSince = 30

const performanceOn = "cmd power set-fixed-performance-mode-enabled true"

// noPerformance returns why a device has no usable fixed performance mode, "" if it may have one.
// Emulator images contain the example of a Power HAL, which accepts every mode and does nothing,
// and their clocks are the host's.
func noPerformance(api int, emulator bool) string {
	switch {
	case api < performanceSince:
		return "there is none before Android 11"
	case emulator:
		return "an emulator has no clocks of its own to hold"
	}
	return ""
}

// wantsPerformance reports whether the clocks are to be held. Energy depends on the clocks, and no
// user's phone has them held, so energy is measured without unless the configuration asks for both.
func wantsPerformance(want config.Conditions, energy bool) bool {
	return want.FixedPerformance == config.PerformanceAlways || want.FixedPerformance == config.PerformanceAuto && !energy
}

// holdPerformance turns the fixed performance mode on. Android does not report whether a mode is
// on; a device without this one says so on its standard error, with status 255
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
		h.Report(device.Finding{
			Name: "performance", Detail: "the fixed performance mode can't be turned on: " + why,
			Hint: "conditions.fixed-performance: auto does without it where there is none",
		})
	}
	return nil
}
