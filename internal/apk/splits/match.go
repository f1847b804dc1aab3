package splits

import "slices"

// abiNames are Android's, at their numbers in bundletool's targeting.proto.
var abiNames = []string{"", "armeabi", "armeabi-v7a", "arm64-v8a", "x86", "x86_64", "mips", "mips64", "riscv64"}

// densities are the names of densities, in dpi.
var densities = map[string]int{
	"ldpi": 120, "mdpi": 160, "tvdpi": 213, "hdpi": 240, "xhdpi": 320, "xxhdpi": 480, "xxxhdpi": 640,
	"nodpi": noDPI,
}

// densityAliases are the densities at their numbers in targeting.proto.
var densityAliases = []int{0, noDPI, 120, 160, 213, 240, 320, 480, 640}

// noDPI fits every density.
const noDPI = 0xFFFE

// targeting is what one APK is for in one dimension, and what its siblings are for: an APK without
// values is for what no sibling is for. The rules are those of bundletool's AbiMatcher,
// ScreenDensityMatcher, LanguageMatcher and SdkVersionMatcher. A nil one is for all.
type targeting struct {
	values, alternatives []string // ABIs, or languages
	dpi, otherDPI        []int
	min                  int // API level, 0 for all
	otherMin             []int
}

func (t *targeting) suitsABI(d Device) bool {
	if t == nil {
		return true
	}
	for _, abi := range d.ABIs {
		switch {
		case slices.Contains(t.values, abi):
			return true
		case slices.Contains(t.alternatives, abi):
			return false
		}
	}
	return len(t.values) == 0
}

func (t *targeting) suitsLanguage(d Device) bool {
	has := func(list []string) func(string) bool {
		return func(language string) bool { return slices.Contains(list, language) }
	}
	switch {
	case t == nil, len(d.Languages) == 0, len(t.values) == 0 && len(t.alternatives) == 0:
		return true
	case len(t.values) > 0:
		return slices.ContainsFunc(d.Languages, has(t.values))
	}
	return !allOf(d.Languages, has(t.alternatives))
}

func allOf(list []string, is func(string) bool) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !is(s) })
}

func (t *targeting) suitsAPI(d Device) bool {
	if t == nil {
		return true
	}
	if t.min > d.API {
		return false
	}
	return !slices.ContainsFunc(t.otherMin, func(other int) bool { return other <= d.API && other > t.min })
}

func (t *targeting) suitsDensity(d Device) bool {
	if t == nil {
		return true
	}
	all := append(slices.Clone(t.dpi), t.otherDPI...)
	if len(all) == 0 || d.Density == 0 {
		return true
	}
	best := all[0]
	for _, dpi := range all[1:] {
		if betterDensity(dpi, best, d.Density) {
			best = dpi
		}
	}
	return slices.Contains(t.dpi, best)
}

// betterDensity reports whether resources of the density a suit a screen better than those of b:
// "scaling down is 2x better than up" (ResourceTypes.cpp).
func betterDensity(a, b, screen int) bool {
	switch {
	case a == b || b == noDPI:
		return false
	case a == noDPI:
		return true
	}
	low, high := min(a, b), max(a, b)
	lower := false // whether the lower is better
	switch {
	case screen >= high:
	case screen <= low:
		lower = true
	default:
		lower = (2*low-screen)*high > screen*screen
	}
	return lower == (a == low)
}
