package workload

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// command returns the workload's command line for the device's shell, "" for one that runs on this
// computer.
func (p Plan) command() string {
	w := p.Scenario.Workload
	switch {
	case w.Instrumentation != nil:
		return instrument(p.arguments())
	case w.Startup != nil:
		return p.amStart(w.Startup.Mode) + "; " + settle
	case w.Monkey != nil:
		words := []string{"monkey", "-p", p.App, "-s", strconv.FormatInt(w.Monkey.Seed, 10)}
		if w.Monkey.Throttle > 0 {
			words = append(words, "--throttle", strconv.FormatInt(w.Monkey.Throttle.Milliseconds(), 10))
		}
		// Without such keys, monkey would not begin. The user's own arguments come last: of two,
		// monkey takes the last.
		words = append(append(words, "--pct-syskeys", "0"), w.Monkey.Args...)
		return device.Quote(append(words, strconv.Itoa(w.Monkey.Events))...)
	case w.Shell != nil:
		return device.Quote("sh", scriptPath)
	}
	return ""
}

// byShell runs what follows as the shell user, for an instrumentation that may run commands: the
// Orchestrator (androidx.test.services.shellexecutor).
const byShell = "CLASSPATH=$(pm path " + ServicesPackage + ") app_process / androidx.test.services.shellexecutor.ShellMain "

func instrument(w config.Instrumentation) string {
	words := []string{"am", "instrument", "-w", "-r"}
	component := w.TestPackage + "/" + runnerOf(w)
	if w.Orchestrator {
		words = append(words, "-e", "targetInstrumentation", component)
		component = OrchestratorPackage + "/.AndroidTestOrchestrator"
	}
	if w.Class != "" {
		words = append(words, "-e", "class", w.Class)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Args)) {
		words = append(words, "-e", name, w.Args[name])
	}
	line := device.Quote(append(words, component)...)
	if w.Orchestrator {
		line = byShell + line
	}
	return line
}

func runnerOf(w config.Instrumentation) string {
	return cmp.Or(w.Runner, config.DefaultRunner)
}
