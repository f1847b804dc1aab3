package section

import (
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/tasks"
)

// Stretches returns the times in which some of a list's tasks ran, by their places in it.
func Stretches(list tasks.List, of []int) (out []rendering.Stretch) {
	for _, i := range of {
		t := list.Tasks[i]
		out = append(out, rendering.Stretch{Thread: t.Thread, From: t.Started, To: t.Done})
	}
	return out
}

// TaskPaths returns what the runs of those tasks consist of for the record, by their place in the
// list, from a trace of the app that was read with their Stretches.
func TaskPaths(list tasks.List, of []int, read rendering.Trace, app rendering.App) map[int][]run.TaskStep {
	out := map[int][]run.TaskStep{}
	for n, i := range of {
		if n < len(read.Stretches) && len(read.Stretches[n]) > 0 {
			out[i] = taskPath(read.Stretches[n], list.Tasks[i], app)
		}
	}
	return out
}

func taskPath(steps []rendering.Step, of tasks.Task, app rendering.App) []run.TaskStep {
	var out []run.TaskStep
	at := func(d time.Duration) float64 { return float64((of.Started + d).Microseconds()) / 1000 }
	for _, s := range steps[:min(len(steps), run.MaxTaskSteps)] {
		one := run.TaskStep{Kind: s.Kind, Does: does(s), What: trace.Label(s.What), FromMS: at(s.From), ToMS: at(max(s.From, s.To))}
		ours := app.Owns(s)
		if !ours {
			one.Process = trace.Label(s.Process)
		}
		if !ours || !run.SameThread(s.Thread, of.Thread) {
			one.Thread = trace.Label(s.Thread)
		}
		out = append(out, one)
	}
	return out
}
