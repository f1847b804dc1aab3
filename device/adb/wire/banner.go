package wire

import (
	"slices"
	"strings"
)

// Banner is the system identity in a CNXN message:
// "device::ro.product.model=Nexus;features=shell_v2,cmd".
type Banner struct {
	Type     string // "device", "host", "recovery", "bootloader", …
	Features []string
}

// Features that change how the client talks to a device.
const (
	FeatureShell2 = "shell_v2" // exit codes and a standard error of its own
	FeatureCmd    = "cmd"      // has the command cmd, so APKs can be streamed to it
	FeatureStat2  = "stat_v2"  // stat with 64-bit sizes and error numbers

	FeatureList2     = "ls_v2"       // the same for lists
	FeatureSendRecv2 = "sendrecv_v2" // files with flags
	FeatureAbb       = "abb"         // a service's command without a process of its own
	FeatureAbbExec   = "abb_exec"    // the same without the shell's protocol
)

// ParseBanner reads a system identity. What does not fit the form is left out.
func ParseBanner(text string) Banner {
	kind, rest, _ := strings.Cut(strings.TrimRight(text, "\x00"), ":")
	_, props, _ := strings.Cut(rest, ":") // behind a serial, which is mostly empty
	b := Banner{Type: kind}
	for prop := range strings.SplitSeq(props, ";") {
		if key, value, _ := strings.Cut(prop, "="); key == "features" {
			b.Features = ParseFeatures(value)
		}
	}
	return b
}

// ParseFeatures reads a comma-separated list of features.
func ParseFeatures(list string) []string {
	var features []string
	for f := range strings.SplitSeq(list, ",") {
		if f = strings.TrimSpace(f); f != "" {
			features = append(features, f)
		}
	}
	return features
}

// Has says whether the feature is among those of the banner.
func (b Banner) Has(feature string) bool { return slices.Contains(b.Features, feature) }
