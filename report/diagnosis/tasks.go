package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

// longestMS is the longest time of a distribution.
func longestMS(s run.Spread) float64 {
	if len(s.QuantilesMS) == 0 {
		return 0
	}
	return s.QuantilesMS[len(s.QuantilesMS)-1]
}

// queues are the groups of tasks, the one that waited longest first, then the one that ran longest.
func (in Input) queues() []run.TaskGroup {
	if in.Tasks == nil {
		return nil
	}
	all := slices.Clone(in.Tasks.Groups)
	slices.SortStableFunc(all, func(a, b run.TaskGroup) int {
		return cmp.Or(cmp.Compare(longestMS(b.Queued), longestMS(a.Queued)), cmp.Compare(longestMS(b.Ran), longestMS(a.Ran)))
	})
	return all
}

// waited says for how long tasks waited; false where none was late.
func (in Input) waited() (document.Answer, bool) {
	for _, g := range in.queues() {
		if g.Late != nil && g.Late.Tasks > 0 {
			lead := "a task waited for " + milliseconds(longestMS(g.Queued)) + " in the queue of " + wording.Name(in.unitOf(g)) + ": " + wording.Name(cmp.Or(g.Name, "one without a name"))
			return document.Answer{Outcome: document.Regression, Word: "Late tasks", Lead: lead}, true
		}
	}
	return document.Answer{}, false
}

func (in Input) unitOf(g run.TaskGroup) string {
	if g.Unit < 0 || g.Unit >= len(in.Tasks.Units) {
		return "?"
	}
	return in.Tasks.Units[g.Unit].Name
}

// platform are the beginnings of frames that every app has.
var platform = []string{"android.", "androidx.", "com.android.", "java.", "kotlin.", "kotlinx."}

// scheduler is the app's innermost frame of a group's context, or else the innermost one that is not
// the platform's; "" without a context.
func (in Input) scheduler(g run.TaskGroup) string {
	for _, own := range []func(frame string) bool{
		func(f string) bool { return in.Package != "" && strings.HasPrefix(f, in.Package+".") },
		func(f string) bool {
			return !slices.ContainsFunc(platform, func(p string) bool { return strings.HasPrefix(f, p) })
		},
		func(string) bool { return true },
	} {
		if i := slices.IndexFunc(g.Context, own); i >= 0 {
			return g.Context[i]
		}
	}
	return ""
}

// short is a frame without its package: Main.onClick(Main.java:12).
func short(frame string) string {
	name, file, _ := strings.Cut(frame, "(")
	parts := strings.Split(name, ".")
	name = strings.Join(parts[max(0, len(parts)-2):], ".")
	if file != "" {
		name += "(" + file
	}
	return name
}

// scheduled says where tasks were recorded, and how many there are.
func (in Input) scheduled() []document.Fact {
	if in.Tasks == nil {
		return nil
	}
	n := 0
	for _, g := range in.Tasks.Groups {
		n += max(g.Scheduled, g.Started)
	}
	return []document.Fact{{Label: "Tasks", Text: prose.Count(n, "task", "tasks") + " of " + prose.Count(len(in.Tasks.Units), "unit", "units") + " (by " + wording.Brief(in.Tasks.Source) + ")"}}
}

// taskTable are the groups of tasks.
func (in Input) taskTable() document.Section {
	const most = 60
	if in.Tasks == nil {
		return document.Section{}
	}
	t := &document.Table{
		Columns: document.Columns([]string{"Tasks", "Ran"}, "Task", "Unit", "Tasks", "Waited", "Ran", "Scheduled at"), Noun: document.Noun{One: "group of tasks", Many: "groups of tasks"},
		Keep: 30, Wordy: true, Rooms: document.Rooms{Terminal: document.Room{Open: 8}, Comment: document.Room{Open: 8, Most: most}, Page: document.Room{Open: 20, Most: most}},
	}
	for _, g := range in.queues() {
		tone := document.Neutral
		if g.Late != nil && g.Late.Tasks > 0 {
			tone = document.Worse
		}
		t.Add(most, tone, wording.Dash(wording.Name(g.Name)), wording.Name(in.unitOf(g)), wording.Quantity(float64(max(g.Scheduled, g.Started)), "", false),
			milliseconds(longestMS(g.Queued)), milliseconds(longestMS(g.Ran)), wording.Dash(wording.Name(short(in.scheduler(g)))))
	}
	return document.Section{ID: "tasks", Title: document.Everywhere("Asynchronous tasks, by the longest wait"), Body: t,
		Guide: "Waited is the longest time from when a task was scheduled, or due, until it started; ran is its longest execution. docs/tasks.md says what each source can't show."}
}
