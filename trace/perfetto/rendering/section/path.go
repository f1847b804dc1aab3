package section

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// single returns the record of one frame.
func single(r Repetition, f rendering.Frame, event string) run.LateFrame {
	out := run.LateFrame{
		Repetition: r.Number, Event: event, AtMS: ms(f.At), DurationMS: ms(f.Took), DeadlineMS: ms(f.Deadline), Token: f.Token, Jank: trace.Label(f.Jank),
		Evidence: r.Evidence, Path: path(f),
	}
	stages, waits := map[part]float64{}, map[part]float64{}
	for _, s := range f.Stages {
		stages[part{kind: s.Name, thread: trace.Label(s.Thread)}] += ms(s.To - s.From)
	}
	critical := map[string]float64{}
	for _, s := range f.Path {
		critical[s.Stage] += ms(s.To - s.From)
		waits[part{kind: s.Kind}] += ms(s.To - s.From)
	}
	out.Stages = times(stages, func(p part, ms float64) float64 { return min(critical[p.kind], ms) })
	out.Waits = times(waits, func(_ part, ms float64) float64 { return ms })
	var c cores
	c.add(f.Cores)
	out.CPU = c.mean()
	return out
}

// times returns the longest first.
func times(of map[part]float64, critical func(part, float64) float64) []run.FrameTime {
	var out []run.FrameTime
	for p, took := range of {
		out = append(out, run.FrameTime{Name: p.kind, Thread: p.thread, MS: rounded(took), CriticalMS: rounded(critical(p, took))})
	}
	slices.SortFunc(out, func(a, b run.FrameTime) int {
		return cmp.Or(cmp.Compare(b.MS, a.MS), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Thread, b.Thread))
	})
	return out[:min(len(out), maxStages)]
}

// path returns the critical path in few steps: consecutive steps that are alike are joined, and if
// there are too many the shortest are merged into the one before.
func path(f rendering.Frame) []run.PathStep {
	var steps []run.PathStep
	for _, s := range f.Path {
		steps = follow(steps, run.PathStep{
			Thread: trace.Label(s.Thread), Process: others(s, f.PID), Stage: s.Stage, Kind: s.Kind, Does: does(s), What: trace.Label(s.What), Slice: trace.Label(s.Slice),
			FromMS: at(s.From), ToMS: at(max(s.From, s.To)),
		})
	}
	if len(steps) <= maxSteps {
		return steps
	}
	lengths := make([]float64, len(steps))
	for i, s := range steps {
		lengths[i] = s.ToMS - s.FromMS
	}
	slices.Sort(lengths)
	least := lengths[len(lengths)-maxSteps]
	var few []run.PathStep
	for i, s := range steps {
		switch {
		case s.ToMS-s.FromMS >= least && len(few) < maxSteps:
			if len(few) == 0 {
				s.FromMS = steps[0].FromMS
			}
			few = follow(few, s)
		case len(few) > 0:
			few[len(few)-1].ToMS = max(few[len(few)-1].ToMS, steps[i].ToMS)
		}
	}
	return few
}

// follow appends a step, or extends the last one if it is alike.
func follow(steps []run.PathStep, s run.PathStep) []run.PathStep {
	if last := len(steps) - 1; last >= 0 {
		longer := steps[last]
		longer.FromMS, longer.ToMS = s.FromMS, s.ToMS
		if longer == s && steps[last].ToMS >= s.FromMS {
			steps[last].ToMS = max(steps[last].ToMS, s.ToMS)
			return steps
		}
	}
	return append(steps, s)
}

// does returns the activity of a step's thread, "" if the step's kind implies it.
func does(s rendering.Step) string {
	if s.Does == s.Kind {
		return ""
	}
	return s.Does
}

// others returns the name of a step's process if it is not the app's.
func others(s rendering.Step, app int32) string {
	if s.PID == app {
		return ""
	}
	return trace.Label(s.Process)
}

// partsOf names each step of a frame so that it is the same in other frames and runs: by the
// activity or wait of the frame's own threads. The threads that worked for them are shown in the
// paths of single frames.
func partsOf(f rendering.Frame) []part {
	out := make([]part, len(f.Path))
	own := ""
	for i, s := range f.Path {
		thread := trace.Folded(s.Thread)
		process := others(s, f.PID)
		switch {
		case s.Stage == run.StageComposition:
			thread = cmp.Or(process, thread)
		case process == "" && s.Kind == cmp.Or(s.Does, s.Kind):
			own = thread
		default:
			thread = cmp.Or(own, process, thread)
		}
		out[i] = part{kind: s.Kind, stage: s.Stage, thread: thread, what: whatOf(s)}
	}
	return out
}

// whatOf returns what a step was about, without counters.
func whatOf(s rendering.Step) string {
	switch s.Kind {
	case run.WaitRunnable, run.WaitLock:
		return trace.Folded(s.What)
	case run.WaitSleep, run.WaitBlocked: // if the waker is unknown, the slice identifies the wait
		return trace.Uncounted(cmp.Or(s.What, s.Slice))
	case run.WaitRunning:
		return trace.Uncounted(s.What)
	}
	return trace.Label(s.What)
}

// at returns a time relative to the frame's own, which may be negative.
func at(d time.Duration) float64 { return rounded(float64(d) / float64(time.Millisecond)) }
