package device

import (
	"regexp"
	"slices"
	"strconv"
)

// Refresh rates in the output of `dumpsys display`.
var (
	renderRate = regexp.MustCompile(`renderFrameRate (\d+\.\d+)`)      // Android 12 and later
	activeMode = regexp.MustCompile(`[, ]modeId (\d+)`)                // Android 6 to 11
	modeRate   = regexp.MustCompile(`\{id=(\d+),[^}]*?fps=(\d+\.\d+)`) // its modes
	plainRate  = regexp.MustCompile(`, (\d+\.\d+) fps`)                // Android 4.2 to 5
)

// RefreshRate returns the active refresh rate in the output of `dumpsys display`, in Hz, or ""
// where there is none.
func RefreshRate(text string) string {
	if m := renderRate.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if active := activeMode.FindStringSubmatch(text); active != nil {
		for _, mode := range modeRate.FindAllStringSubmatch(text, -1) {
			if mode[1] == active[1] {
				return mode[2]
			}
		}
	}
	if m := plainRate.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// RefreshRates returns the refresh rates of the display's modes in the output of `dumpsys
// display`, in Hz. It is empty where the device does not report them.
func RefreshRates(text string) (out []int) {
	const most = 64 // modes
	for _, mode := range modeRate.FindAllStringSubmatch(text, most) {
		if hz, err := strconv.ParseFloat(mode[2], 64); err == nil && hz >= 1 && hz < 10_000 {
			out = append(out, int(hz+0.5))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
