package section

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// maxName is how many bytes of a name are kept: a slice may carry a whole query.
const maxName = 200

// single is what a record holds of one frame.
func single(r Repetition, f rendering.Frame, event string) run.LateFrame {
	out := run.LateFrame{
		Repetition: r.Number, Event: event, AtMS: ms(f.At), DurationMS: ms(f.Took), DeadlineMS: ms(f.Deadline), Token: f.Token, Jank: name(f.Jank),
		Evidence: r.Evidence, Path: path(f),
	}
	stages, waits := map[part]float64{}, map[part]float64{}
	for _, s := range f.Stages {
		stages[part{kind: s.Name, thread: name(s.Thread)}] += ms(s.To - s.From)
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

// times are the longest first.
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

// path is the critical path in few steps: like ones that follow each other are one, and
// of too many the shortest are part of the one before.
func path(f rendering.Frame) []run.PathStep {
	var steps []run.PathStep
	for _, s := range f.Path {
		steps = follow(steps, run.PathStep{
			Thread: name(s.Thread), Process: others(s, f.PID), Stage: s.Stage, Kind: s.Kind, Does: does(s), What: name(s.What), Slice: name(s.Slice),
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

// follow puts a step behind others, or makes the last longer where it is like it.
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

// does is what a step's thread did, "" where the step's kind says it.
func does(s rendering.Step) string {
	if s.Does == s.Kind {
		return ""
	}
	return s.Does
}

// others is the name of a step's process where that is not the app's.
func others(s rendering.Step, app int32) string {
	if s.PID == app {
		return ""
	}
	return name(s.Process)
}

// partsOf names each step of a frame so that it is the same in other frames and runs:
// by what the frame's own threads did or waited for, and which of them. Whoever worked
// for them meanwhile stands in the paths of single frames.
func partsOf(f rendering.Frame) []part {
	out := make([]part, len(f.Path))
	own := ""
	for i, s := range f.Path {
		thread := folded(s.Thread)
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

// whatOf is what a step was about. Numbers that only count are no part of it.
func whatOf(s rendering.Step) string {
	switch s.Kind {
	case run.WaitRunnable, run.WaitLock:
		return folded(s.What)
	case run.WaitSleep, run.WaitBlocked: // in which slice tells where nobody is known
		return uncounted(cmp.Or(s.What, s.Slice))
	case run.WaitRunning:
		return uncounted(s.What)
	}
	return name(s.What)
}

// folded is a name with "#" for the numbers in it that count: threads of a pool are one.
// A number behind a letter is part of a word, as in "dex2oat64".
func folded(s string) string {
	return digits(name(s), func(before, _ string) bool {
		last, _ := utf8.DecodeLastRuneInString(before)
		return !unicode.IsLetter(last)
	})
}

// uncounted is the name of a slice without the numbers that count frames and buffers:
// long ones, and those that stand by themselves. "type=3" stays.
func uncounted(s string) string {
	return digits(name(s), func(before, number string) bool {
		return len(number) > 3 || strings.HasSuffix(before, " ") || strings.HasSuffix(before, "#")
	})
}

// digits puts "#" for numbers, of which it is said whether they go.
func digits(s string, goes func(before, number string) bool) string {
	var out strings.Builder
	for s != "" {
		from := strings.IndexAny(s, "0123456789")
		if from < 0 {
			from = len(s)
		}
		out.WriteString(s[:from])
		to := from
		for to < len(s) && s[to] >= '0' && s[to] <= '9' {
			to++
		}
		if to > from && goes(out.String(), s[from:to]) {
			out.WriteString("#")
		} else {
			out.WriteString(s[from:to])
		}
		s = s[to:]
	}
	return out.String()
}

// name is a name from a trace within what is kept of one, as valid text.
func name(s string) string { return prose.Fit(s, maxName) }

// at is a moment after the frame's own, which may lie before it.
func at(d time.Duration) float64 { return rounded(float64(d) / float64(time.Millisecond)) }
