package diagnosis

import (
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/calls"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

// frozenMS is how long the main thread may be busy at a time before the app is called frozen
// (Android's limit of frozen frames).
const frozenMS = 700

// main are the pieces of work of the main thread, the longest first.
func (in Input) main() []run.CallChain {
	var out []run.CallChain
	for _, c := range in.Methods.Chains {
		if diagnose.IsMain(c.Thread, in.Package) && len(c.MS) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// busy says how long the main thread was busy at a time, and with what.
func (in Input) busy() document.Answer {
	main := in.main()
	if len(main) == 0 {
		return document.Answer{Outcome: document.Inconclusive, Word: "Not known", Lead: "the trace has no call of a thread that is called main; the methods of all threads are below"}
	}
	long, at := in.longest(main)
	lead := "the main thread was busy for " + milliseconds(long.MS[0]) + " at a time; " + milliseconds(long.MS[at]) + " of that in " + wording.Name(long.Methods[at])
	if at == 0 {
		lead = "the main thread was busy for " + milliseconds(long.MS[0]) + " at a time, in " + wording.Name(long.Methods[0])
	}
	if in.Methods.Clock == run.CPUClock {
		lead += " (processor time: what it waited for is not in it)"
	}
	if long.MS[0] >= frozenMS {
		return document.Answer{Outcome: document.Regression, Word: "Main thread blocked", Lead: lead}
	}
	return document.Answer{Outcome: document.Pass, Word: "In time", Lead: lead}
}

// longest is the longest piece of work, as far as its calls weigh, and the place of the guilty one.
func (in Input) longest(main []run.CallChain) (run.CallChain, int) {
	long := main[0]
	long.Methods, long.MS, _ = calls.Piece(in.Methods, long, weighs)
	return long, in.guilty(long)
}

// guilty is the place of the call that a chain's time is blamed on: the innermost weighty one of
// the app, or of all where none is the app's.
func (in Input) guilty(c run.CallChain) int {
	calls := weighty(c)
	for i := len(calls) - 1; i >= 0 && in.Package != ""; i-- {
		if strings.HasPrefix(calls[i], in.Package+".") {
			return i
		}
	}
	return len(calls) - 1
}

// weighs is the part of a chain's time above which a call is weighty.
const weighs = 0.25

// weighty is the part of a chain whose calls each took more than a quarter of its time.
func weighty(c run.CallChain) []string {
	n := 1
	for n < len(c.MS) && c.MS[n] > weighs*c.MS[0] {
		n++
	}
	return c.Methods[:n]
}

// traced are how much was traced, and by what clock.
func (in Input) traced() []document.Fact {
	calls, lost, span := 0, 0, 0.0
	for _, w := range in.Methods.Windows {
		calls, lost, span = calls+w.Calls, lost+w.Lost, span+w.ToMS-w.FromMS
	}
	text := prose.Count(calls, "call", "calls") + " in " + milliseconds(span)
	if lost > 0 {
		text += "; " + prose.Count(lost, "more has", "more have") + " no begin or no end in it"
	}
	return []document.Fact{
		{Label: "Traced", Text: text},
		{Label: "Note", Text: "tracing makes calls longer, short ones most: compare them with each other, not with a budget"},
	}
}

// calls are the longest pieces of work, and the methods with the most time of their own.
func (in Input) calls() []document.Section {
	if in.Methods == nil {
		return nil
	}
	return []document.Section{in.chart(), in.pieces(), in.methods()}
}

// chart is the longest piece of work of the main thread over time.
func (in Input) chart() document.Section {
	main := in.main()
	if in.Chart == nil || len(main) == 0 {
		return document.Section{}
	}
	long, at := in.longest(main)
	drawn := make([]figure.ChartedCall, len(in.Chart.Calls))
	for i, c := range in.Chart.Calls {
		drawn[i] = figure.ChartedCall{Name: c.Name, Depth: c.Depth, FromMS: c.FromMS, TookMS: c.TookMS, Blamed: c.Name == long.Methods[at]}
	}
	label := "What the main thread did in the " + milliseconds(in.Chart.TookMS) + " of its longest work"
	chart, ok := figure.NewCallChart(label, in.Chart.TookMS, drawn, in.Chart.LeftOut)
	if !ok {
		return document.Section{}
	}
	return document.Section{ID: "calls", Title: document.Titles{Page: "The longest work, call by call"}, Body: &document.Gallery{
		Figures: []document.Figure{{ID: "chart", Caption: label, Detail: chart.Note(figure.Wide), Picture: chart}},
	}}
}

// pieces are what kept the main thread, or all threads where none is called main.
func (in Input) pieces() document.Section {
	const most = 20
	title, of := "What kept the main thread", in.main()
	if len(of) == 0 {
		title, of = "What kept the threads", in.Methods.Chains
	}
	t := &document.Table{
		Columns: document.Columns([]string{"Took"}, "Work", "At", "Took"), Noun: document.Noun{One: "piece of work", Many: "pieces of work"},
		Keep: 30, Wordy: true, Rooms: document.Rooms{Terminal: document.Room{Open: 8}, Comment: document.Room{Open: 5, Most: most}, Page: document.Room{Open: most, Most: most}},
	}
	for _, c := range of {
		if len(c.MS) == 0 {
			continue
		}
		tone := document.Neutral
		if c.MS[0] >= frozenMS {
			tone = document.Worse
		}
		t.Add(most, tone, chained(c), milliseconds(c.AtMS), milliseconds(c.MS[0]))
	}
	return document.Section{ID: "work", Title: document.Everywhere(title), Body: t,
		Guide: "The longest times in which the thread was busy, each with the calls that took more than a quarter of it."}
}

// chained is a chain in a line: where it began, and the last of its weighty calls.
func chained(c run.CallChain) string {
	const last = 3
	calls := weighty(c)
	var out []string
	for i, name := range calls {
		switch {
		case i == 0 || i >= len(calls)-last:
			out = append(out, wording.Name(name))
		case i == 1:
			out = append(out, "…")
		}
	}
	return strings.Join(out, " → ")
}

// methods are those with the most time of their own: of the main thread, or of all where none is
// called main.
func (in Input) methods() document.Section {
	const most = 60
	title, onlyMain := "Methods of the main thread, by own time", len(in.main()) > 0
	if !onlyMain {
		title = "Methods by the time of their own"
	}
	t := &document.Table{
		Columns: document.Columns([]string{"Own"}, "Method", "Thread", "Calls", "Own", "In all", "Longest"), Noun: document.Noun{One: "method", Many: "methods"},
		Keep: 30, Wordy: true, Rooms: document.Rooms{Terminal: document.Room{Open: 12}, Comment: document.Room{Open: 10, Most: most}, Page: document.Room{Open: 20, Most: most}},
	}
	for _, m := range in.Methods.List {
		if onlyMain && !diagnose.IsMain(m.Thread, in.Package) {
			continue
		}
		t.Add(most, document.Neutral, wording.Name(m.Name), wording.Dash(wording.Name(m.Thread)), wording.Quantity(float64(m.Calls), "", false), milliseconds(m.SelfMS), milliseconds(m.TotalMS), milliseconds(m.LongestMS))
	}
	return document.Section{ID: "methods", Title: document.Everywhere(title), Body: t,
		Guide: "Own is the time in the method's own code, waiting included; in all adds what it calls. Methods that wait for work are left out."}
}
