package trends

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/trend"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

const (
	sparkWidth = 16  // characters of a course on a terminal
	mostRows   = 400 // of a table
	openRows   = 18  // of the numbers on a terminal
)

var rowNoun = document.Noun{One: "number", Many: "numbers"}

// numbersTable has a row for each number: its course, its level, what changed last.
func numbersTable(all []number, several bool) *document.Table {
	t := &document.Table{
		Columns: document.Columns([]string{"Drift", "Since", "Level"}, "What", "Course", "Level", "Last change", "Since", "Drift", "Status"),
		Noun:    rowNoun, Keep: 30, Wordy: true,
		Rooms: document.Rooms{Terminal: document.Room{Open: openRows}, Comment: document.Room{Open: 10, Most: 40}, Page: document.Room{Open: 30}},
	}
	t.Columns[1].Sketch = true
	for i := range t.Columns {
		t.Columns[i].Gaps = true
	}
	for _, n := range all {
		t.Add(mostRows, n.tone(), n.what(several), rowOf(n.shown()).Spark(sparkWidth), n.level(), n.lastChange(), n.since(), n.drift(), n.status())
	}
	for i := range t.Rows {
		t.Rows[i].Of = all[i].name()
	}
	return t
}

// name identifies the number among all.
func (n number) name() string {
	return strings.Join([]string{n.scenario.Package, n.scenario.Scenario, n.Event, n.Name}, "\x00")
}

// tone is that of the news.
func (n number) tone() document.Tone {
	switch n.state {
	case worse, drifts:
		return document.Worse
	case better:
		return document.Better
	case accepted, steady:
	}
	return document.Neutral
}

// status says in a word or two what the newest nights show.
func (n number) status() string {
	text := map[state]string{worse: "worse", drifts: "drifts", better: "better", accepted: "accepted", steady: "steady"}[n.state]
	if n.device >= 0 && n.state != steady && n.state != drifts {
		text += " on one device"
	}
	return text
}

func (n number) level() string {
	levels := n.shown().Levels
	if len(levels) == 0 {
		return "–"
	}
	return wording.Value(n.Metric, levels[len(levels)-1].End)
}

func (n number) lastChange() string {
	if n.change == nil {
		return "–"
	}
	return wording.Shift(n.Metric, n.change.Shift, n.change.Change)
}

func (n number) since() string {
	if n.change == nil {
		return "–"
	}
	return dateOf(n.scenario.Nights[n.change.First].Started)
}

// drift is the trend within the quarter where there is one, or else how far the present level has
// moved.
func (n number) drift() string {
	if d := n.Drift; d != nil && d.Direction != gate.None && d.Creep != nil {
		return wording.Shift(n.Metric, d.Creep.Shift, d.Creep.Change)
	}
	if l, moves := n.moving(); moves {
		return wording.Shift(n.Metric, l.End-l.Start, shareOf(n.Metric, l))
	}
	return "–"
}

// step is a change of a number.
type step struct {
	number
	trend.Change
	device int
}

// stepsOf returns the changes of level of the fleet, and those of single devices that it doesn't show.
func stepsOf(all []number) (steps []step) {
	for _, n := range all {
		for _, c := range n.Fleet.Changes {
			steps = append(steps, step{n, c, -1})
		}
		for _, d := range n.Devices {
			for _, c := range d.Changes {
				if !slices.ContainsFunc(n.Fleet.Changes, func(f trend.Change) bool { return max(f.First-c.First, c.First-f.First) <= 3 }) {
					steps = append(steps, step{n, c, d.Device})
				}
			}
		}
	}
	return steps
}

// changesSection lists the changes, newest first.
func (in Input) changesSection(all []number, several bool) document.Section {
	steps := stepsOf(all)
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(b.started(), a.started()) })
	t := &document.Table{
		Columns: document.Columns([]string{"From", "Commits", "Since"}, "What", "Change", "From", "Since", "Commits", "Status"),
		Noun:    document.Noun{One: "change", Many: "changes"}, Wordy: true, Keep: 30,
		Rooms: document.Rooms{Terminal: document.Room{Open: 6}, Comment: document.Room{Open: 5, Most: 20}, Page: document.Room{Open: 20}},
	}
	for i := range t.Columns {
		t.Columns[i].Gaps = true
	}
	for _, s := range steps {
		t.Add(mostRows, s.tone(), s.cells(several)...)
		if len(t.Rows) == t.Total {
			t.Rows[t.Total-1].Link = in.pageOf(s.scenario.Nights[s.First].Runs)
		}
	}
	return document.Section{ID: "changes", Title: document.Everywhere("Changes of level"), Body: t}
}

func (s step) started() int64 { return s.scenario.Nights[s.First].Started.Unix() }

func (s step) tone() document.Tone {
	switch {
	case s.Decision != nil:
		return document.Neutral
	case s.Direction == gate.ToRegression:
		return document.Worse
	}
	return document.Better
}

func (s step) cells(several bool) []string {
	what := s.what(several)
	if s.device >= 0 {
		what += " on " + prose.Clip(wording.Context(s.scenario.Devices[s.device].Context), 40)
	}
	status := "better"
	if s.Direction == gate.ToRegression {
		status = "worse"
	}
	if s.Decision != nil {
		status += ", accepted"
	}
	return []string{what, wording.Shift(s.Metric, s.Shift, s.Change.Change), wording.Value(s.Metric, s.Before), dateOf(s.scenario.Nights[s.First].Started), cmp.Or(s.commits(s.Change), "–"), status}
}

// decided says what was decided, and why.
func decided(d trend.Decision) string {
	text := "accepted"
	if d.NewLevel {
		text = "accepted as the new level"
	}
	if d.Note != "" {
		text += ", " + wording.Sentence(d.Note)
	}
	return text
}

// devicesSection has the level of each number on each device.
func devicesSection(all []number, several bool) document.Section {
	t := &document.Table{
		Columns: document.Columns([]string{"Nights", "Since"}, "What", "Level", "Last change", "Since", "Nights", "Status"),
		Noun:    document.Noun{One: "row", Many: "rows"}, Wordy: true,
		Rooms: document.Rooms{Comment: document.Room{Most: 20}},
	}
	for i := range t.Columns {
		t.Columns[i].Gaps = true
	}
	for _, n := range all {
		for _, d := range n.Devices {
			one := n
			one.Fleet, one.change, one.state, one.Drift = d, nil, steady, nil
			if k := len(d.Changes); k > 0 {
				one.change = &d.Changes[k-1]
				if one.recent(*one.change) {
					one.state = better
					if one.change.Direction == gate.ToRegression {
						one.state = worse
					}
				}
			}
			one.device = -1
			t.Add(mostRows, one.tone(), n.what(several)+" on "+prose.Clip(wording.Context(n.scenario.Devices[d.Device].Context), 40),
				one.level(), one.lastChange(), one.since(), prose.Thousands(len(d.Points)), one.status())
		}
	}
	return document.Section{ID: "devices", Title: document.Everywhere("By device"), Folded: true, Detail: true, Body: t}
}
