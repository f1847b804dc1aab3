package layout

import (
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/words"
)

// pageRun is one checked run with all that it was compared with.
type pageRun struct {
	ID, Device, Class, Symbol, Word, Reason, Hint, Reference, Labels, MoreRows string
	Open                                                                       bool
	Context                                                                    []fact
	Warnings                                                                   []string
	Rows                                                                       []pageRow
}

func (p *pageData) addRuns(in Input) {
	runs := gravestFirst(in.Verdict.Runs)
	room := allRunRows
	for _, v := range runs[:min(len(runs), pageRuns)] {
		r := newPageRun(v, in.catalogue(), min(room, runRows))
		r.Device, r.Open = runTitle(v, in.Verdict), len(runs) == 1
		room -= len(r.Rows)
		p.Runs = append(p.Runs, r)
	}
	p.MoreRuns = more(len(runs), len(p.Runs), "more run", "more runs")
}

// newPageRun shows at most rows of the run's comparisons.
func newPageRun(v gate.RunVerdict, catalogue *metric.Catalogue, rows int) pageRun {
	r := pageRun{
		ID: words.Name(v.ID), Class: outcomeClass(v.Verdict), Symbol: outcomeMark(v.Verdict), Word: outcomeWord(v.Verdict),
		Reason: reasonOf(v), Hint: words.Sentence(v.Hint), Reference: words.UpperFirst(referenceOf(v)) + ".",
	}
	for _, key := range slices.Sorted(maps.Keys(v.Context)) {
		if len(r.Context) < 40 {
			r.Context = append(r.Context, fact{words.Name(key), words.Name(v.Context[key])})
		}
	}
	for _, l := range v.Labels[:min(len(v.Labels), 10)] {
		r.Labels = strings.TrimPrefix(r.Labels+", "+words.Name(l), ", ")
	}
	for _, w := range v.Warnings[:min(len(v.Warnings), 20)] {
		r.Warnings = append(r.Warnings, words.Sentence(w.String()))
	}
	comparisons := deviationsFirst(v)
	for _, c := range comparisons[:min(len(comparisons), rows)] {
		m, _ := catalogue.Lookup(c.Metric)
		r.Rows = append(r.Rows, newRow(words.Brief(words.Event(c.Event))+": "+words.Brief(m.Title), c, m))
	}
	r.MoreRows = more(max(v.ComparisonsTotal, len(comparisons)), len(r.Rows), "more comparison", "more comparisons")
	return r
}

// deviationsFirst are all comparisons of a run, the flagged ones first.
func deviationsFirst(v gate.RunVerdict) []gate.Comparison {
	out := slices.Clone(v.Deviations)
	for _, c := range v.Comparisons {
		if c.Direction == gate.None {
			out = append(out, c)
		}
	}
	return out
}
