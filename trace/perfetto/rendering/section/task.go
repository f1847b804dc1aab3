package section

import (
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// TaskPath returns what a task's run consists of for the record, by the path of its thread from a
// time on (CLOCK_MONOTONIC). app reports whether a process is the app's.
func TaskPath(steps []rendering.Step, from time.Duration, thread string, app func(pid int) bool) []run.TaskStep {
	var out []run.TaskStep
	at := func(d time.Duration) float64 { return float64((from + d).Microseconds()) / 1000 }
	for _, s := range steps[:min(len(steps), run.MaxTaskSteps)] {
		one := run.TaskStep{Kind: s.Kind, Does: does(s), What: trace.Label(s.What), FromMS: at(s.From), ToMS: at(max(s.From, s.To))}
		ours := app(int(s.PID))
		if !ours {
			one.Process = trace.Label(s.Process)
		}
		if !ours || !run.SameThread(s.Thread, thread) {
			one.Thread = trace.Label(s.Thread)
		}
		out = append(out, one)
	}
	return out
}
