package diagnosis

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/report/causes"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

// Limits of what is shown.
const (
	maxGroups  = 40  // of frames
	maxStack   = 16  // frames of a stack on a terminal
	maxStacked = 128 // on a page
)

// pictures returns the worst frame, and each chain of waits, where no cause has drawn them.
func (in Input) pictures() []document.Section {
	var drawn []diagnose.Picture
	has := func(kind diagnose.PictureKind) bool {
		return slices.ContainsFunc(in.Causes, func(c diagnose.Cause) bool { return c.Picture != nil && c.Picture.Kind == kind })
	}
	if in.Frames != nil && len(in.Frames.Worst) > 0 && !has(diagnose.ThreadsPicture) {
		worst := in.Frames.Worst[0]
		if p := diagnose.PictureOfFrames("The worst frame", worst, in.usual(worst.Event), nil); p != nil {
			drawn = append(drawn, withoutRepetitions(*p))
		}
	}
	if !has(diagnose.WaitsPicture) {
		for _, a := range in.ANRs {
			if p := diagnose.PictureOfWaits("Who waited for whom", a); p != nil {
				drawn = append(drawn, *p)
			}
		}
	}
	if len(drawn) == 0 {
		return nil
	}
	group := document.Group{Fact: "what is drawn", Figures: causes.Figures(drawn, "d")}
	return []document.Section{{
		ID: "drawn", Title: document.Everywhere("What happened"),
		Body: &document.Groups{Open: true, Groups: []document.Group{group}, Noun: document.Noun{One: "picture", Many: "pictures"}},
	}}
}

// usual returns the usual frame of an event, nil where unknown.
func (in Input) usual(event string) *run.LateFrame {
	for i, f := range in.Frames.Usual {
		if f.Event == event {
			return &in.Frames.Usual[i]
		}
	}
	return nil
}

// classes are the names of frames of a class.
var classes = map[string]string{
	run.NormalFrames: "in time", run.SlowFrames: "late", run.FrozenFrames: "frozen", run.BufferedFrames: "late, not seen",
}

// frameTable returns the durations of frames, and what their critical paths were spent on.
func (in Input) frameTable() document.Section {
	t := &document.Table{
		Columns: document.Columns([]string{"Longest"}, "Frames", "How many", "Median", "Longest", "Most of it"), Noun: document.Noun{One: "row", Many: "rows"},
		Keep: 30, Wordy: true, Rooms: document.Rooms{Terminal: document.Room{Open: 12}, Comment: document.Room{Most: maxGroups}, Page: document.Room{Most: maxGroups}},
	}
	if in.Frames == nil {
		return document.Section{Body: t}
	}
	for _, g := range in.Frames.Groups {
		class := classes[g.Class]
		if class == "" {
			class = wording.Brief(g.Class)
		}
		tone := document.Neutral
		if g.Class == run.SlowFrames || g.Class == run.FrozenFrames {
			tone = document.Worse
		}
		median, longest := "–", "–"
		if q := g.Took.QuantilesMS; len(q) > 0 {
			median, longest = milliseconds(q[len(q)/2]), milliseconds(q[len(q)-1])
		}
		t.Add(maxGroups, tone, wording.Event(g.Event)+": "+class, wording.Quantity(float64(g.Frames), "", false), median, longest, wording.Dash(spentOn(g)))
	}
	return document.Section{ID: "frames", Title: document.Everywhere("Where the time of frames went"), Body: t,
		Guide: "What the critical paths of the frames were spent on, by its share of their time."}
}

// mainThreads returns those that were not idle, for a dump that does not show which process did not
// respond.
func (in Input) mainThreads() document.Section {
	const most = 50
	t := &document.Table{
		Columns: document.Columns(nil, "Process", "Main thread in", "Waits for"), Noun: document.Noun{One: "process", Many: "processes"},
		Keep: 30, Wordy: true, Rooms: document.Rooms{Terminal: document.Room{Open: 12}, Comment: document.Room{Most: most}, Page: document.Room{Most: most}},
	}
	for _, a := range in.MainThreads {
		if len(a.Threads) == 0 {
			continue
		}
		at := diagnose.PictureOfWaits("", a).Waits.Threads[0].At
		t.Add(most, document.Neutral, wording.Dash(wording.Name(a.Process)), wording.Dash(wording.Name(at)), wording.Dash(wording.Name(a.Threads[0].WaitsFor)))
	}
	return document.Section{ID: "main", Title: document.Everywhere("Main threads that were not idle"), Body: t,
		Guide: "Any of these may have kept its app from responding, or may have been busy as usual."}
}

func milliseconds(v float64) string { return wording.Quantity(v, "ms", false) }

// spentOn returns what the critical paths of frames were mostly spent on, and its share.
func spentOn(g run.FrameGroup) string {
	if len(g.Path) == 0 {
		return ""
	}
	all := 0.0
	for _, w := range g.Waits {
		all += w.MeanMS * float64(w.Count)
	}
	first := g.Path[0]
	text := strings.TrimSpace(wording.Brief(first.Name) + " " + wording.Brief(first.What))
	if all > 0 {
		return wording.Percent(first.MeanMS*float64(first.Count)/all) + " " + text
	}
	return text
}

// stacks returns those of the threads that blocked others.
func (in Input) stacks() []document.Section {
	var out []document.Section
	for _, a := range in.ANRs {
		for _, t := range a.Threads {
			if !t.Critical || len(t.Stack) == 0 {
				continue
			}
			l := &document.List{
				Noun: document.Noun{One: "frame", Many: "frames"}, Total: len(t.Stack),
				Rooms: document.Rooms{Terminal: document.Room{Open: maxStack}, Comment: document.Room{Open: maxStack, Most: maxStacked}, Page: document.Room{Open: maxStack, Most: maxStacked}},
			}
			for _, frame := range t.Stack {
				l.Items = append(l.Items, document.Item{Text: wording.Sentence(frame)})
			}
			out = append(out, document.Section{Title: document.Everywhere("Stack of " + wording.Name(t.Name)), Body: l})
		}
	}
	return out
}
