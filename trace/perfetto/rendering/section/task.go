package section

import (
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// TaskPath returns what a task's run consists of for the record, by the path of its thread from a
// time on (CLOCK_MONOTONIC).
func TaskPath(steps []rendering.Step, from time.Duration, thread string) []run.TaskStep {
	var out []run.TaskStep
	at := func(d time.Duration) float64 { return float64((from + d).Microseconds()) / 1000 }
	for _, s := range steps[:min(len(steps), run.MaxTaskSteps)] {
		one := run.TaskStep{Kind: s.Kind, Does: does(s), What: trace.Label(s.What), FromMS: at(s.From), ToMS: at(max(s.From, s.To))}
		if own := run.SameThread(s.Thread, thread); !own {
			one.Thread, one.Process = trace.Label(s.Thread), trace.Label(s.Process)
		}
		out = append(out, one)
	}
	return out
}
