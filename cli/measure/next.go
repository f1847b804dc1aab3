package measure

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// printReports prints where the reports of a run are.
func printReports(c terminal.Console, f runFlags) {
	if files := f.OutputFlags.Files(); len(files) > 0 {
		fmt.Fprintf(c.Stderr, "report: %s\n", terminal.Plain(strings.Join(files, ", ")))
	}
}

// nextStep returns what to do about a verdict on a session's runs, nil for nothing.
func nextStep(v gate.Verdict, f runFlags) []document.Fact {
	step := func(label, text, command string) []document.Fact {
		return []document.Fact{{Label: label, Text: text, Command: command}}
	}
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
				return step("Measure again", "once it is fixed:", again)
			}
		}
	case gate.Regression:
		return step("If intended", "make these runs the new level:", f.onSession("rebaseline"))
	case gate.Inconclusive:
		if !f.accept {
			return step("If good", "let later builds be compared with this one:", f.onSession("accept"))
		}
	default:
		if !f.accept {
			return step("Accept", "let later builds be compared with this one:", f.onSession("accept"))
		}
	}
	return nil
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
