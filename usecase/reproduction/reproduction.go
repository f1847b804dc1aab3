// Package reproduction words how a verdict is reproduced on a computer with a device.
//
// It owns the command, and what of it may come from a job that ran a pull request's code: paths of
// two builds in the repository and how many scenarios there are, both checked here, and never the
// command itself. It reads and runs nothing.
package reproduction

import (
	"io/fs"
	"path/filepath"
	"regexp"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
)

// Builds are what a verdict was measured with, as a report folder keeps it.
type Builds struct {
	// Base and Head are the paths of the base build and of the one that was judged, in the
	// repository; "" for one that is not a file there.
	Base string `json:"base,omitempty"`
	Head string `json:"head,omitempty"`
	// Scenarios is how many the configuration has.
	Scenarios int `json:"scenarios"`
}

// Facts returns how a verdict is reproduced, for one that a reader may want to see with their own
// eyes; nil for another. config is what Config returns.
func (b Builds) Facts(v gate.Verdict, config string) []document.Fact {
	if v.Verdict != gate.Regression && v.Verdict != gate.Invalid {
		return nil
	}
	flags := ""
	if scenario := firstOf(v); scenario != "" && b.Scenarios > 1 {
		flags += " --scenario " + device.Quote(scenario)
	}
	if config != "" {
		flags += " --config " + device.Quote(config)
	}
	if v.Verdict == gate.Regression && b.Base != "" && b.Head != "" {
		return []document.Fact{{
			Label: "Reproduce", Text: "with both builds and a device:",
			Command: "apkgate compare --base " + device.Quote(b.Base) + " --head " + device.Quote(b.Head) + flags,
		}}
	}
	return []document.Fact{{Label: "Reproduce", Text: "with this build and a device:", Command: "apkgate run" + flags}}
}

// firstOf returns the scenario of the first run with the verdict's outcome.
func firstOf(v gate.Verdict) string {
	for _, r := range v.Runs {
		if r.Verdict == v.Verdict {
			return r.Scenario
		}
	}
	return ""
}

var (
	apkPath      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}\.apk$`)
	scenarioName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
)

// Stranger returns Facts of what a stranger may have written: of anything else than the path of an
// APK in the repository, or than a name of letters and digits, the command has nothing.
func (b Builds) Stranger(v gate.Verdict, config string) []document.Fact {
	if !isAPK(b.Base) || !isAPK(b.Head) {
		b.Base, b.Head = "", ""
	}
	if !scenarioName.MatchString(firstOf(v)) {
		b.Scenarios = 0
	}
	return b.Facts(v, config)
}

func isAPK(path string) bool { return apkPath.MatchString(path) && fs.ValidPath(path) }

// Config returns the path of a configuration as a command at the root of the repository names it, ""
// for the one that it reads anyway.
func Config(root, path string) string {
	if path == "" {
		return ""
	}
	at := File(root, path)
	if at == config.FileName {
		return ""
	}
	return at
}

// File returns a file's path from the root of the repository, or its name if it is elsewhere.
func File(root, path string) string {
	if !filepath.IsAbs(path) {
		return filepath.ToSlash(filepath.Clean(path))
	}
	at, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(at) {
		return filepath.Base(path)
	}
	return filepath.ToSlash(at)
}
