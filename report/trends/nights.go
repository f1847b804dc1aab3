package trends

import (
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/trend"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// nightsSection lists the nights, newest first, each leading to its page.
func (in Input) nightsSection(several bool) document.Section {
	t := &document.Table{
		Columns: document.Columns([]string{"Devices", "Runs"}, "Night", "Commit", "Runs", "Changes of level", "Status"),
		Noun:    document.Noun{One: "night", Many: "nights"}, Wordy: true,
		Rooms: document.Rooms{Page: document.Room{Open: recentNights}},
	}
	for i := range t.Columns {
		t.Columns[i].Gaps = true
	}
	for _, s := range in.Scenarios {
		changed := map[int]int{}
		for _, x := range stepsOf(ranked([]trend.Scenario{s})) {
			changed[x.First]++
		}
		for i, n := range slices.Backward(s.Nights) {
			name := dateOf(n.Started)
			if several {
				name = titleOf(s) + ", " + name
			}
			status, commit := "–", "–"
			if len(n.Decisions) > 0 {
				status = "accepted on purpose"
			}
			if n.Commit != "" {
				commit = short(n.Commit)
			}
			t.Add(mostRows, document.Neutral, name, commit, prose.Thousands(len(n.Runs)), prose.Thousands(changed[i]), status)
			if len(t.Rows) == t.Total {
				t.Rows[t.Total-1].Link = in.pageOf(n.Runs)
			}
		}
	}
	return document.Section{ID: "nights", Title: document.Everywhere("Nights"), Folded: true, Detail: true, Body: t}
}

// judgedSection lists the builds that were judged and not accepted, newest first.
func (in Input) judgedSection(all []number, several bool) document.Section {
	t := &document.Table{
		Columns: document.Columns([]string{"Runs", "Measured"}, "Build", "Measured", "Runs", "Furthest from the level", "Status"),
		Noun:    document.Noun{One: "build", Many: "builds"}, Wordy: true, Keep: 30,
		Rooms: document.Rooms{Terminal: document.Room{Open: 5}, Comment: document.Room{Open: 3, Most: 10}, Page: document.Room{Open: 10}},
	}
	for i := range t.Columns {
		t.Columns[i].Gaps = true
	}
	for _, s := range newsFirst(all, in.Scenarios) {
		for i, j := range slices.Backward(s.Judged) {
			name := buildOf(j)
			if several {
				name = titleOf(s) + ": " + name
			}
			t.Add(mostRows, toneOf(j.Outcome), name, dateOf(j.Started), prose.Thousands(len(j.Runs)), furthest(of(all, s), j, i), wording.Brief(string(j.Outcome)))
			if len(t.Rows) == t.Total {
				t.Rows[t.Total-1].Link = in.pageOf(j.Runs)
			}
		}
	}
	return document.Section{ID: "judged", Title: document.Everywhere("Judged, not accepted"), Guide: "Builds such as those of pull requests. They are no part of a level.", Body: t}
}

// furthest names the number of a build that is worst compared with its level, "–" for none.
func furthest(all []number, j trend.Judged, i int) string {
	at, most, text := measured{night: j.Night, judged: i}, math.Inf(-1), "–"
	for _, n := range all {
		value, level, ok := at.value(n.Fleet)
		if !ok {
			continue
		}
		share := 0.0
		if level > 0 && !n.Metric.Signed {
			share = (value - level) / level
		}
		if by := gate.Worsening(n.Metric, level, value-level, share); by > most {
			most, text = by, difference(n, value, level)+" "+wording.LowerFirst(n.what(false))
		}
	}
	return text
}

// buildOf names a build by what it was built from.
func buildOf(j trend.Judged) string {
	name, commit := "a build", ""
	if number, ok := strings.CutPrefix(j.Ref, "refs/pull/"); ok {
		number, _, _ = strings.Cut(number, "/")
		name = "pull request " + wording.Brief(number)
	} else if branch, ok := strings.CutPrefix(j.Ref, "refs/heads/"); ok {
		name = "branch " + wording.Brief(branch)
	}
	if j.Commit != "" {
		commit = ", commit " + short(j.Commit)
	}
	return name + commit
}

// toneOf is that of an outcome.
func toneOf(o gate.Outcome) document.Tone {
	switch o {
	case gate.Regression, gate.Invalid:
		return document.Worse
	case gate.Improvement:
		return document.Better
	case gate.Inconclusive:
		return document.Suspect
	case gate.Pass:
	}
	return document.Neutral
}
