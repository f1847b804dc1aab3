package measure

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// printNext prints where the reports of a run are, and the one command that comes next.
func printNext(c terminal.Console, v gate.Verdict, f runFlags) {
	files := f.OutputFlags.Files()
	if len(files) > 0 {
		fmt.Fprintf(c.Stderr, "report: %s\n", terminal.Plain(strings.Join(files, ", ")))
	}
	if text := nextStep(v, f); text != "" {
		fmt.Fprintf(c.Stderr, "next: %s\n", terminal.Plain(text))
	}
}

// nextStep returns what to do about a verdict on a session's runs, "" for nothing.
func nextStep(v gate.Verdict, f runFlags) string {
	switch v.Verdict {
	case gate.Invalid:
		for _, r := range v.Runs {
			if r.Verdict == gate.Invalid {
				again := "apkgate run --scenario " + device.Quote(r.Scenario) + repeated(f.ConfigFlags)
				if f.OnFarm {
					again += " --farm"
				}
				if f.APK != "" {
					again += " --apk " + device.Quote(f.APK)
				}
				return "fix what ended run " + r.ID + ", see above, and measure again: " + again
			}
		}
	case gate.Regression:
		return "if the change is intended, make these runs the new level: " + f.onSession("rebaseline")
	case gate.Inconclusive:
		if !f.accept {
			return "if this build is good, let later ones be compared with it: " + f.onSession("accept")
		}
	default:
		if !f.accept {
			return "if this is what later builds are to be compared with: " + f.onSession("accept")
		}
	}
	return ""
}

// onSession returns a command about all runs that were measured together.
func (f runFlags) onSession(verb string) string {
	return "apkgate baseline " + verb + " --session " + device.Quote(f.Session) + repeated(f.ConfigFlags)
}

// repeated returns the flags as they were given, for a command that is to find the same history.
func repeated(f settings.ConfigFlags) string {
	text := ""
	if f.Config != "" {
		text += " --config " + device.Quote(f.Config)
	}
	if f.Store != "" {
		text += " --store " + device.Quote(openstore.Shown(f.Store))
	}
	return text
}
