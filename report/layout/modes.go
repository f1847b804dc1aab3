package layout

import (
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

// maxModeRows limits the rows on compilation modes.
const maxModeRows = 60

// modeMetrics are the metrics by which compilation modes are compared, where present.
var modeMetrics = []string{"startup.ttid_ms", "startup.ttfd_ms", "frames.duration_ms.p90", "frames.overrun_ms.p90"}

// modesSection compares the benchmarks that differ in their compilation mode only: the gain from
// ahead-of-time compilation, and from a baseline profile.
func modesSection(in Input) document.Section {
	t := rowsTable([]string{"Change"}, "What", "Mode", "Median", "Change")
	t.Noun = document.Noun{One: "mode", Many: "modes"}
	for _, v := range in.Verdict.Runs {
		at := slices.IndexFunc(in.Runs, func(r run.Run) bool { return r.ID == v.ID })
		if at < 0 {
			continue
		}
		r := in.Runs[at]
		all := modesOf(r)
		if len(all) == 0 {
			continue
		}
		cells := run.Summarize(r, run.Median, in.catalogue()).Cells
		for _, g := range all {
			in.addModes(t, v, cells, g)
		}
	}
	return document.Section{
		ID: "modes", Title: document.Everywhere("Compilation modes"), Body: t,
		Guide: "The same benchmark in each compilation mode, measured in one run one after another: the change is of the medians, from the first mode, and is no verdict.",
	}
}

// addModes adds the rows of one benchmark: one for each metric that several modes have.
func (in Input) addModes(t *document.Table, v gate.RunVerdict, medians run.Cells, g modes) {
	for _, name := range modeMetrics {
		m, _ := in.catalogue().Lookup(name)
		what := wording.Name(g.benchmark) + ": " + wording.Brief(m.Title)
		if len(in.Verdict.Runs) > 1 {
			what = runTitle(v, in.Verdict) + ", " + what
		}
		first, rows := 0.0, [][]string{}
		for _, mode := range g.of {
			middle, ok := medians.Get(run.Cell{Event: mode.event, Metric: name})
			switch {
			case !ok:
			case len(rows) == 0:
				first = middle
				rows = append(rows, []string{what, wording.Name(mode.name), wording.Value(m, middle), "–"})
			case first > 0:
				rows = append(rows, []string{what, wording.Name(mode.name), wording.Value(m, middle), wording.Signed(middle/first - 1)})
			default:
				rows = append(rows, []string{what, wording.Name(mode.name), wording.Value(m, middle), "–"})
			}
		}
		for _, row := range rows {
			if len(rows) > 1 {
				t.Add(maxModeRows, document.Neutral, row...)
			}
		}
	}
}

// modes are the events of a run that are one benchmark in several compilation modes, without
// compilation first.
type modes struct {
	benchmark string
	of        []mode
}

type mode struct{ name, event string }

// modesOf finds them among the events of a run's first iteration.
func modesOf(r run.Run) (out []modes) {
	if len(r.Iterations) == 0 {
		return nil
	}
	for _, e := range r.Iterations[0].Events {
		benchmark, name, ok := modeIn(e.Name)
		if !ok {
			continue
		}
		at := slices.IndexFunc(out, func(g modes) bool { return g.benchmark == benchmark })
		if at < 0 {
			at, out = len(out), append(out, modes{benchmark: benchmark})
		}
		out[at].of = append(out[at].of, mode{name, e.Name})
	}
	for _, g := range out {
		slices.SortStableFunc(g.of, func(a, b mode) int { return uncompiled(b.name) - uncompiled(a.name) })
	}
	return slices.DeleteFunc(out, func(g modes) bool { return len(g.of) < 2 })
}

func uncompiled(mode string) int {
	if mode == "None" || mode == "None()" {
		return 1
	}
	return 0
}

// compilationKey matches the name of a parameter that is a compilation mode. The name is chosen by
// the test: androidx's samples have "startup={0},compilation={1}".
var compilationKey = regexp.MustCompile(`^(?i:compilation|compile)[A-Za-z_]*=`)

// modeIn separates the compilation mode from the name of a parameterised benchmark:
// "startup[startup=COLD,compilation=None]" is startup[startup=COLD] in the mode None.
func modeIn(event string) (benchmark, mode string, ok bool) {
	name, in, ok := strings.Cut(event, "[")
	if !ok || !strings.HasSuffix(in, "]") {
		return "", "", false
	}
	var rest []string
	for _, p := range parameters(strings.TrimSuffix(in, "]")) {
		if key := compilationKey.FindString(p); key != "" && mode == "" {
			mode = strings.TrimPrefix(p, key)
			continue
		}
		rest = append(rest, p)
	}
	if len(rest) > 0 {
		name += "[" + strings.Join(rest, ",") + "]"
	}
	return name, mode, mode != ""
}

// parameters splits at commas outside of brackets: Partial(baselineProfile=Require,iterations=0) is
// part of one parameter.
func parameters(text string) (out []string) {
	depth, from := 0, 0
	for i, r := range text {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				out, from = append(out, strings.TrimSpace(text[from:i])), i+1
			}
		}
	}
	return append(out, strings.TrimSpace(text[from:]))
}
