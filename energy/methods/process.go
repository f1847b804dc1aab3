package methods

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// appMeta is the meta info that names the app in a recording made with --app, which has no other
// process.
const appMeta = "app_package_name"

// ownThreads reports for each of Profile.Threads whether its samples are taken.
func ownThreads(p *simpleperf.Profile, pick Pick, doubts *trace.Warnings) []bool {
	var own func(simpleperf.Thread) bool
	switch {
	case len(pick.PIDs) > 0:
		own = func(t simpleperf.Thread) bool { return slices.Contains(pick.PIDs, t.PID) }
	case pick.App == "" || p.Meta[appMeta] == pick.App:
		own = func(t simpleperf.Thread) bool { return t.PID != 0 || t.TID != 0 }
	default:
		pids := processesOf(p, pick.App)
		own = func(t simpleperf.Thread) bool { return pids[t.PID] }
	}
	out := make([]bool, len(p.Threads))
	for i, t := range p.Threads {
		out[i] = own(t)
	}
	if len(p.Samples) > 0 && !slices.Contains(out, true) {
		doubts.Addf(0, "no sample is of %s: the recording holds %s", wanted(pick), held(p))
	}
	return out
}

// processesOf returns the processes whose main thread has the app's name, even one without samples.
func processesOf(p *simpleperf.Profile, app string) map[int]bool {
	pids := map[int]bool{}
	for _, t := range p.Threads {
		if t.PID == t.TID && ofApp(t.Name, app) || ofApp(t.Process, app) {
			pids[t.PID] = true
		}
	}
	return pids
}

// ofApp reports whether a main thread's name is that of a process of the app: the package, or the
// package with ":" and the process's own name. The kernel keeps 15 bytes of a name, and Android
// keeps the last ones of a longer name.
func ofApp(thread, app string) bool {
	const kept = 15
	if thread == app || strings.HasPrefix(thread, app+":") {
		return true
	}
	if len(thread) != kept {
		return false
	}
	head, _, sub := strings.Cut(thread, ":")
	return sub && head != "" && strings.HasSuffix(app, head) || !sub && strings.HasSuffix(app, thread)
}

func wanted(pick Pick) string {
	if len(pick.PIDs) > 0 {
		return fmt.Sprintf("the processes %v", pick.PIDs)
	}
	if pick.App == "" {
		return "any process"
	}
	return pick.App
}

// held names some of the processes of a recording.
func held(p *simpleperf.Profile) string {
	const few = 5
	var names []string
	for _, t := range p.Threads {
		name := fmt.Sprintf("%s (process %d)", trace.Quote(cmp.Or(t.Process, t.Name)), t.PID)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if len(names) > few {
			return strings.Join(names[:few], ", ") + " and others"
		}
	}
	return strings.Join(names, ", ")
}
