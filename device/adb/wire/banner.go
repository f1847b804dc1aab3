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
	FeatureShell2 = "shell_v2" // exit codes and a separate standard error
	FeatureCmd    = "cmd"      // has the command cmd, which installs APKs from a stream
	FeatureStat2  = "stat_v2"  // stat with 64-bit sizes and error numbers

	FeatureList2     = "ls_v2"       // the same for lists
	FeatureSendRecv2 = "sendrecv_v2" // files with flags
	FeatureAbb       = "abb"         // runs a service's command without a process
	FeatureAbbExec   = "abb_exec"    // the same without the shell protocol
)

// ParseBanner parses a system identity. Parts that do not have the expected form are ignored.
func ParseBanner(text string) Banner {
	kind, rest, _ := strings.Cut(strings.TrimRight(text, "\x00"), ":")
	_, props, _ := strings.Cut(rest, ":") // after a serial, which is mostly empty
	b := Banner{Type: kind}
	for prop := range strings.SplitSeq(props, ";") {
		if key, value, _ := strings.Cut(prop, "="); key == "features" {
			b.Features = ParseFeatures(value)
		}
	}
	return b
}

// ParseFeatures parses a comma-separated list of features.
func ParseFeatures(list string) []string {
	var features []string
	for f := range strings.SplitSeq(list, ",") {
		if f = strings.TrimSpace(f); f != "" {
			features = append(features, f)
		}
	}
	return features
}

// Has reports whether the banner lists the feature.
func (b Banner) Has(feature string) bool { return slices.Contains(b.Features, feature) }
