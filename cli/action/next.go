package action

import (
	"path/filepath"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// reproduce returns how a verdict is reproduced on a computer with a device, for one that a reader
// may want to see with their own eyes; nil for another.
func reproduce(c terminal.Console, cfg *config.Config, f *runFlags, base interleaved.Base, v gate.Verdict) []document.Fact {
	if v.Verdict != gate.Regression && v.Verdict != gate.Invalid || f.OnFarm {
		return nil
	}
	flags := ""
	for _, r := range v.Runs {
		if r.Verdict == v.Verdict && len(cfg.Scenarios) > 1 {
			flags += " --scenario " + device.Quote(r.Scenario)
			break
		}
	}
	if f.Config != "" && filepath.Base(f.Config) != config.FileName {
		flags += " --config " + device.Quote(shown(c, f.Config))
	}
	if v.Verdict == gate.Regression && base.APK != "" && base.From == "" && cfg.App.APK != "" {
		return []document.Fact{{
			Label: "Reproduce", Text: "with both builds and a device:",
			Command: "apkgate compare --base " + device.Quote(shown(c, base.APK)) + " --head " + device.Quote(shown(c, cfg.App.APK)) + flags,
		}}
	}
	return []document.Fact{{Label: "Reproduce", Text: "with this build and a device:", Command: "apkgate run" + flags}}
}

// shown returns a file's path as in the repository, or its name if it is elsewhere.
func shown(c terminal.Console, path string) string {
	if !filepath.IsAbs(path) {
		return filepath.ToSlash(path)
	}
	at, err := filepath.Rel(c.Workspace("."), path)
	if err != nil || !filepath.IsLocal(at) {
		return filepath.Base(path)
	}
	return filepath.ToSlash(at)
}
