// Package diagnosis lays out what one recording tells of why an app was slow: a trace, or
// a dump of threads.
//
// It owns the first line of that answer and what stands below it. It takes a stand: no
// verdict is made of a single recording, so that its answer says what was late and what
// that waited for, and never that something got worse. The causes come from packages
// diagnose, and are laid out by report/causes as those of a verdict are.
package diagnosis

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/report/causes"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

// Input is what a report on a recording is made of.
type Input struct {
	saved.Diagnosis
	// Open is the command that opens a part of the recording in Perfetto's user
	// interface; nil where nothing does.
	Open    func(fromMS, toMS float64) string
	Version string // "apkgate 0.3.1"
}

const maxWarnings = 100

// Document lays out what a recording tells.
func Document(in Input) document.Document {
	story := in.story()
	d := document.Document{
		Title: in.title(), Answer: in.answer(), Facts: append(in.facts(), story.Facts()...), Footer: wording.Name(in.Version),
		Warnings: document.List{Rooms: document.Rooms{Terminal: document.Room{Open: 5}, Comment: document.Room{Most: maxWarnings}, Page: document.Room{Most: maxWarnings}}},
		Data:     saved.OfDiagnosis(in.Diagnosis), Kind: "diagnosis", Version: wording.Name(in.Version),
		Unlisted: "a diagnosis of one recording finds nothing that got worse, which is what SARIF lists",
	}
	d.Sections = slices.Concat(story.Groups(), in.pictures(), []document.Section{in.frameTable()}, in.stacks())
	for _, w := range in.Warnings {
		d.Warnings.Items = append(d.Warnings.Items, document.Item{Text: wording.Sentence(w.String())})
	}
	return d
}

// story is what explains what was late.
func (in Input) story() causes.Story {
	s := causes.Story{
		Sections: diagnose.Sections(diagnose.Explain(alone(in.Causes))),
		Title:    func(e diagnose.Explanation) string { return wording.Name(e.Run) },
		Where:    func(c diagnose.Cause) string { return wording.Event(c.Event) },
	}
	if in.Open != nil {
		s.Open = func(l diagnose.Link) string { return in.Open(l.FromMS, l.ToMS) }
	}
	return s
}

// alone are causes whose pictures say nothing of repetitions: a recording is one.
func alone(all []diagnose.Cause) []diagnose.Cause {
	out := slices.Clone(all)
	for i, c := range out {
		if c.Picture != nil {
			out[i].Picture = new(withoutRepetitions(*c.Picture))
		}
	}
	return out
}

func withoutRepetitions(p diagnose.Picture) diagnose.Picture {
	if p.Threads == nil {
		return p
	}
	frames := slices.Clone(p.Threads.Frames)
	for i := range frames {
		frames[i].Repetition = 0
	}
	p.Threads = &diagnose.Threads{Frames: frames}
	return p
}

func (in Input) title() string {
	if in.Package == "" {
		return wording.Name(in.File)
	}
	return wording.Name(in.Package) + " in " + wording.Name(in.File)
}

// counted is how many frames there are of each class.
func (in Input) counted() (all int, of map[string]int) {
	of = map[string]int{}
	if in.Frames != nil {
		for _, g := range in.Frames.Groups {
			all += g.Frames
			of[g.Class] += g.Frames
		}
	}
	return all, of
}

// answer is the first line.
func (in Input) answer() document.Answer {
	all, of := in.counted()
	late := of[run.SlowFrames] + of[run.FrozenFrames]
	switch {
	case len(in.ANRs) > 0:
		return document.Answer{Outcome: document.Regression, Word: "Not responding", Lead: stoodStill(in.ANRs)}
	case late > 0:
		lead := words.Thousands(late) + " of " + words.Count(all, "frame", "frames") + " late"
		if n := of[run.FrozenFrames]; n > 0 {
			lead += ", " + words.Thousands(n) + " of them frozen"
		}
		return document.Answer{Outcome: document.Regression, Word: "Late frames", Lead: lead}
	}
	return document.Answer{Outcome: document.Pass, Word: "In time", Lead: "none of " + words.Count(all, "frame", "frames") + " was seen late"}
}

// stoodStill says who did not respond, what Android said, and for whom everybody waits.
func stoodStill(all []run.ANR) string {
	first := all[0]
	out := wording.Name(first.Process)
	if out == "" {
		out = "a process"
	}
	if reason := strings.TrimRight(wording.Sentence(first.Reason), "."); reason != "" {
		out += ": " + reason
	}
	out += critical(first)
	if n := len(all) - 1; n > 0 {
		out += "; and " + words.Count(n, "more", "more")
	}
	return out
}

// critical says where the thread stands for which all others wait, or which threads wait
// for each other.
func critical(a run.ANR) string {
	var names []string
	for _, t := range a.Threads {
		if t.Critical {
			names = append(names, wording.Name(t.Name))
		}
	}
	if a.Cycle && len(names) > 1 {
		return "; the threads " + words.List(names) + " wait for each other"
	}
	for i, t := range a.Threads {
		if !t.Critical {
			continue
		}
		out := "; all wait for the thread " + wording.Name(t.Name)
		stands := ""
		if i == 0 {
			out, stands = "; its thread "+wording.Name(t.Name), " stands"
		}
		if process := wording.Name(t.Process); process != "" {
			out += " of " + process
		}
		out += stands
		if at := diagnose.PictureOfWaits("", a).Waits.Threads[i].At; at != "" {
			out += " at " + wording.Name(at)
		}
		return out
	}
	return ""
}

// facts are how many frames there were, and by what they were told.
func (in Input) facts() []document.Fact {
	all, of := in.counted()
	if all == 0 {
		return nil
	}
	text := words.Thousands(of[run.NormalFrames]) + " in time, " + words.Thousands(of[run.SlowFrames]) + " late, " + words.Thousands(of[run.FrozenFrames]) + " frozen"
	if n := of[run.BufferedFrames]; n > 0 {
		text += "; " + words.Thousands(n) + " late that nobody saw, since a buffer drawn before was ready"
	}
	return []document.Fact{{Label: "Frames", Text: text + " (by " + wording.Brief(in.Frames.Source) + ")"}}
}
