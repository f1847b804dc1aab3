package judging

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

const (
	mostLevels = 3 // reported beginnings of levels of a run
	mostTitles = 5 // metrics that are listed for each
)

// warnLevels warns, for each run, which of its numbers are compared only with runs of the present
// level, since when, and who accepted the first of them.
func warnLevels(v *gate.Verdict, catalogue *metric.Catalogue, first func(id string) (runstore.Entry, error)) {
	if first == nil {
		return
	}
	known := map[string]string{}
	for i := range v.Runs {
		r := &v.Runs[i]
		since := map[string][]string{} // titles of metrics, by the run with which the level begins
		var order []string
		for _, c := range r.Comparisons {
			if c.Since == "" || c.Event != "" && wholeSince(r.Comparisons, c) {
				continue
			}
			m, _ := catalogue.Lookup(c.Metric)
			title := cmp.Or(m.Title, wording.Name(c.Metric))
			if c.Event != "" {
				title += " after " + wording.Name(c.Event)
			}
			if since[c.Since] == nil {
				order = append(order, c.Since)
			}
			since[c.Since] = append(since[c.Since], title)
		}
		for _, id := range order[:min(len(order), mostLevels)] {
			if _, found := known[id]; !found {
				known[id] = beginning(id, first)
			}
			r.Warnings = append(r.Warnings, run.Warning{Text: fmt.Sprintf("%s: the level changed with run %s; only runs since then are compared with", prose.Few(since[id], mostTitles), known[id])})
		}
	}
}

// wholeSince reports whether the whole run's number of an event's metric is compared since the same
// run.
func wholeSince(all []gate.Comparison, event gate.Comparison) bool {
	return slices.ContainsFunc(all, func(c gate.Comparison) bool {
		return c.Event == "" && c.Metric == event.Metric && c.Since == event.Since
	})
}

// beginning describes the run with which a level begins: its time and commit, and why it was
// accepted.
func beginning(id string, first func(id string) (runstore.Entry, error)) string {
	text := wording.Name(id)
	e, err := first(id)
	if err != nil {
		return text // the verdict does not depend on it
	}
	var about []string
	if !e.Run.Started.IsZero() {
		about = append(about, e.Run.Started.UTC().Format("2 January 2006"))
	}
	if c := wording.Name(e.Run.Source.Commit); c != "" {
		about = append(about, "commit "+wording.Commit(c))
	}
	if note := wording.Name(prose.Short(e.Mark.Note)); note != "" {
		about = append(about, cmp.Or(string(e.Mark.State), "accepted")+": "+note)
	}
	if len(about) == 0 {
		return text
	}
	return text + " (" + strings.Join(about, ", ") + ")"
}
