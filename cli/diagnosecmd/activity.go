package diagnosecmd

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/trace/perfetto/overview"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// activity reports what the app's process did as a whole. none is why the trace has no frames, if it
// has none: it stays the error unless the app's threads ran.
func activity(processes func(wanted func(string, int32) bool) []overview.Process, path string, none error, out *saved.Diagnosis) error {
	meant := func(name string, _ int32) bool { return out.Package == "" || isOf(name, out.Package) }
	all := processes(meant)
	apps := slices.DeleteFunc(all, func(p overview.Process) bool {
		return !meant(p.Name, p.PID) || out.Package == "" && (ofSystem(p.Name) || !strings.Contains(p.Name, "."))
	})
	switch {
	case len(apps) == 0 || out.Package == "" && none == nil:
		return none
	case out.Package == "" && len(apps) > 1:
		return exit.Usage(fmt.Errorf("diagnose %s: --package names no app, and the trace has no frames but several apps", terminal.Plain(path)), "these ran: "+ran(apps))
	}
	if out.Package == "" {
		out.Package = apps[0].Name
	}
	out.Activity = activityOf(apps[0])
	return nil
}

// isOf reports whether a process is the app's: its name, that of another process of its own, or the
// end of the name, of which the kernel keeps 15 bytes.
func isOf(name, pkg string) bool {
	return name == pkg || strings.HasPrefix(name, pkg+":") || len(name) == 15 && strings.HasSuffix(pkg, name)
}

func ran(apps []overview.Process) string {
	var list []string
	for _, p := range apps[:min(len(apps), maxNamed)] {
		list = append(list, fmt.Sprintf("%s (%.0f ms)", prose.Short(p.Name), ms(p.Running())))
	}
	return terminal.Plain(prose.List(list))
}

func activityOf(p overview.Process) *saved.Activity {
	a := &saved.Activity{Process: p.Name, Threads: []saved.ThreadActivity{}}
	for _, t := range p.Threads {
		a.Threads = append(a.Threads, saved.ThreadActivity{Name: t.Name, TID: t.TID, RunningMS: ms(t.Running), RunnableMS: ms(t.Runnable), SleepingMS: ms(t.Sleeping), UninterruptibleMS: ms(t.Uninterruptible)})
	}
	for _, s := range p.Start {
		a.Start = append(a.Start, saved.StartPart{Name: s.Name, AtMS: ms(s.At), TookMS: ms(s.For)})
	}
	return a
}

// ms returns milliseconds, to the microsecond.
func ms(d time.Duration) float64 { return math.Round(float64(d)/1e3) / 1e3 }
