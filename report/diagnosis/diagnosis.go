// Package diagnosis lays out why an app was slow according to one recording: a trace, or a thread
// dump.
//
// It owns the first line of that answer and the parts below it. There is no verdict on a single
// recording, so that its answer says what was late and what that waited for, and never that
// something got worse. The causes come from packages diagnose, and are laid out by report/causes
// like those of a verdict.
package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/causes"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

// Input is the input of a report on a recording.
type Input struct {
	saved.Diagnosis
	// Open returns the command that opens a part of the recording in Perfetto's user interface; nil
	// where there is none.
	Open    func(fromMS, toMS float64) string
	Version string // "apkgate 0.3.1"
}

const maxWarnings = 100

// Document lays out what a recording shows.
func Document(in Input) document.Document {
	story := in.story()
	d := document.Document{
		Title: in.title(), Answer: in.answer(), Facts: slices.Concat(in.facts(), in.active(), in.scheduled(), story.Facts()), Footer: wording.Name(in.Version),
		Warnings: document.List{Rooms: document.Rooms{Terminal: document.Room{Open: 5}, Comment: document.Room{Most: maxWarnings}, Page: document.Room{Most: maxWarnings}}},
		Data:     saved.OfDiagnosis(in.Diagnosis), Kind: "diagnosis", Version: wording.Name(in.Version),
		Unlisted: "a diagnosis of one recording finds nothing that got worse, which is what SARIF lists",
	}
	d.Sections = slices.Concat(story.Groups(), in.pictures(), []document.Section{in.frameTable(), in.mainThreads()}, in.stacks(), []document.Section{in.startTable(), in.threadTable(), in.taskTable()}, in.calls())
	for _, w := range in.Warnings {
		d.Warnings.Items = append(d.Warnings.Items, document.Item{Text: wording.Sentence(w.String())})
	}
	return d
}

// story returns the causes of what was late.
func (in Input) story() causes.Story {
	s := causes.Story{
		Sections: diagnose.Sections(diagnose.Explain(alone(in.Causes))),
		Title:    func(e diagnose.Explanation) string { return wording.Name(e.Run) },
		Where: func(c diagnose.Cause) string {
			if in.Frames == nil && c.Event == "" {
				return "" // a dump has no event, and no run
			}
			return wording.Event(c.Event)
		},
	}
	if in.Open != nil {
		s.Open = func(l diagnose.Link) string { return in.Open(l.FromMS, l.ToMS) }
	}
	return s
}

// alone returns causes whose figures do not mention repetitions: a recording is a single one.
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

// counted returns how many frames there are of each class.
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

// answer returns the first line: tasks that were late, where nothing else was.
func (in Input) answer() document.Answer {
	out := in.ofThreads()
	if tasks, late := in.waited(); late && out.Outcome != document.Regression {
		return tasks
	}
	return out
}

// ofThreads returns what frames, threads and methods show.
func (in Input) ofThreads() document.Answer {
	all, of := in.counted()
	late := of[run.SlowFrames] + of[run.FrozenFrames]
	switch {
	case in.ProcessUnknown:
		return in.unknownProcess()
	case in.Methods != nil:
		return in.busy()
	case len(in.ANRs) > 0:
		lead := notResponding(in.ANRs)
		if in.ByPlace {
			lead += " (assumed to be this process by its place in the file)"
		}
		if in.Cut {
			lead += "; the file is cut off"
		}
		a := document.Answer{Outcome: document.Regression, Word: "Not responding", Ours: true}
		a.Lead, a.Sure, _ = strings.Cut(lead, "; ")
		return a
	case late > 0:
		lead := prose.Thousands(late) + " of " + prose.Count(all, "frame", "frames") + " late"
		if n := of[run.FrozenFrames]; n > 0 {
			lead += ", " + prose.Thousands(n) + " of them frozen"
		}
		return document.Answer{Outcome: document.Regression, Word: "Late frames", Lead: lead}
	}
	if in.Tasks != nil && all == 0 {
		return document.Answer{Outcome: document.Pass, Word: "In time", Lead: "no task was late"}
	}
	return document.Answer{Outcome: document.Pass, Word: "In time", Lead: "none of " + prose.Count(all, "frame", "frames") + " was seen late"}
}

// unknownProcess reports what a dump shows where it is unknown which process did not respond.
func (in Input) unknownProcess() document.Answer {
	const which = "the file does not say which process did not respond, and --package names the one to explain"
	if len(in.ANRs) == 0 {
		return document.Answer{Outcome: document.Inconclusive, Word: "Not known", Lead: which}
	}
	lead := waiting(in.ANRs[0]) + " wait for each other"
	if n := len(in.ANRs) - 1; n > 0 {
		lead += "; and " + prose.Count(n, "more deadlock", "more deadlocks")
	}
	return document.Answer{Outcome: document.Regression, Word: "Deadlock", Lead: lead + "; " + which}
}

// notResponding reports who did not respond, which thread blocks the others, and Android's reason.
// It does not begin with a name, which must not be capitalized.
func notResponding(all []run.ANR) string {
	first := all[0]
	out := critical(first)
	if reason := strings.TrimRight(wording.Sentence(first.Reason), "."); reason != "" {
		out += "; " + reason
	}
	if n := len(all) - 1; n > 0 {
		out += "; and " + prose.Count(n, "more", "more")
	}
	return out
}

// critical describes the thread for which all others wait, or the threads that wait for each other.
func critical(a run.ANR) string {
	if len(a.Threads) == 0 {
		if name := wording.Name(a.Process); name != "" {
			return "the process " + name
		}
		return "a process"
	}
	if a.Cycle {
		return waiting(a) + " wait for each other"
	}
	at := ""
	i := slices.IndexFunc(a.Threads, func(t run.ANRThread) bool { return t.Critical })
	if i >= 0 {
		at = wording.Name(diagnose.PictureOfWaits("", a).Waits.Threads[i].At)
	}
	switch {
	case i >= 0 && a.Threads[i].Kind == run.WaitIdle && i == 0:
		return threadOf(a, 0) + " was idle when its stack was written"
	case i > 0:
		out := threadOf(a, 0) + " waits for " + threadOf(a, i)
		if at != "" {
			out += ", in " + at
		}
		return out
	case at != "":
		return threadOf(a, 0) + " in " + at
	}
	return threadOf(a, 0)
}

// threadOf names a thread of an ANR, and its process where known.
func threadOf(a run.ANR, i int) string {
	out := "thread " + wording.Name(a.Threads[i].Name)
	if diagnose.IsMain(a.Threads[i].Name, cmp.Or(a.Threads[i].Process, a.Process)) {
		out = "the main thread"
	}
	process := wording.Name(a.Threads[i].Process)
	if process == "" && i == 0 {
		process = wording.Name(a.Process)
	}
	if process != "" {
		out += " of " + process
	}
	return out
}

// waiting names the threads that wait for each other.
func waiting(a run.ANR) string {
	var names, processes []string
	for _, t := range a.Threads {
		if !t.Critical {
			continue
		}
		names = append(names, wording.Name(t.Name))
		process := wording.Name(cmp.Or(t.Process, a.Process))
		if process != "" && !slices.Contains(processes, process) {
			processes = append(processes, process)
		}
	}
	out := "the threads " + prose.List(names)
	if len(processes) > 0 {
		out += " of " + prose.List(processes)
	}
	return out
}

// forms are the sources of a thread dump, in words; Android's own needs none.
var forms = map[string]string{
	"bugreport": "a bug report", "debuggerd": "native stacks of debuggerd", "tombstone": "a tombstone of debuggerd", "xcrash": "a log of xCrash",
	"play": "an export of Google Play", "crashlytics": "an export of Firebase Crashlytics",
}

// facts returns how many frames there were, and their source.
func (in Input) facts() []document.Fact {
	all, of := in.counted()
	if in.Methods != nil {
		return in.traced()
	}
	if name := forms[in.Form]; name != "" {
		return []document.Fact{{Label: "Dump", Text: "read as " + name}}
	}
	if all == 0 {
		return nil
	}
	text := prose.Thousands(of[run.NormalFrames]) + " in time, " + prose.Thousands(of[run.SlowFrames]) + " late, " + prose.Thousands(of[run.FrozenFrames]) + " frozen"
	if n := of[run.BufferedFrames]; n > 0 {
		text += "; " + prose.Thousands(n) + " late unnoticed, since a buffer drawn before was ready"
	}
	return []document.Fact{{Label: "Frames", Text: text + " (by " + wording.Brief(in.Frames.Source) + ")"}}
}
