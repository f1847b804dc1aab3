package diagnosis

import (
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// maxActive limits the threads of a process that are shown.
const maxActive = 40

// startTable are the parts of the app's start.
func (in Input) startTable() document.Section {
	if in.Activity == nil || len(in.Activity.Start) == 0 {
		return document.Section{}
	}
	t := &document.Table{
		Columns: document.Columns([]string{"Took"}, "Part of the start", "From", "Took"), Noun: document.Noun{One: "part", Many: "parts"},
		Keep: 30, Wordy: true, Rooms: document.Rooms{Terminal: document.Room{Open: 10}, Comment: document.Room{Open: 10, Most: maxActive}, Page: document.Room{Open: 20, Most: maxActive}},
	}
	for _, p := range in.Activity.Start {
		t.Add(maxActive, document.Neutral, wording.Brief(p.Name), milliseconds(p.AtMS), milliseconds(p.TookMS))
	}
	return document.Section{ID: "start", Title: document.Everywhere("What the start took"), Body: t,
		Guide: "Parts overlap where one is within another: displayed and reportFullyDrawn count from the beginning."}
}

// threadTable is what the app's threads did as a whole.
func (in Input) threadTable() document.Section {
	if in.Activity == nil {
		return document.Section{}
	}
	t := &document.Table{
		Columns: document.Columns([]string{"Ran"}, "Thread", "Ran", "Waited for a processor", "Slept", "Blocked in the kernel"), Noun: document.Noun{One: "thread", Many: "threads"},
		Keep: 20, Wordy: true, Rooms: document.Rooms{Terminal: document.Room{Open: 6}, Comment: document.Room{Open: 6, Most: maxActive}, Page: document.Room{Open: 12, Most: maxActive}},
	}
	for _, a := range in.Activity.Threads {
		t.Add(maxActive, document.Neutral, wording.Dash(wording.Name(a.Name)), milliseconds(a.RunningMS), milliseconds(a.RunnableMS), milliseconds(a.SleepingMS), milliseconds(a.UninterruptibleMS))
	}
	return document.Section{ID: "threads", Title: document.Everywhere("What its threads did"), Body: t,
		Guide: "Over the whole trace. A thread that often waits for a processor shares too few with others; one that is blocked in the kernel waits for storage or memory, as a rule."}
}

// active returns the app, with the time of its threads.
func (in Input) active() []document.Fact {
	if in.Activity == nil && in.Frames != nil && in.Package != "" {
		return []document.Fact{{Label: "App", Text: wording.Name(in.Package)}}
	}
	if in.Activity == nil {
		return nil
	}
	ran := 0.0
	for _, a := range in.Activity.Threads {
		ran += a.RunningMS
	}
	return []document.Fact{{Label: "App", Text: wording.Name(in.Activity.Process) + ": " + prose.Count(len(in.Activity.Threads), "thread", "threads") + " ran for " + milliseconds(ran)}}
}
