package layout

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/words"
	"github.com/apkgate/apkgate/run"
)

// How much of the energy a report shows.
const (
	openMethods   = 5  // sentences
	foldedMethods = 25 // rows of a comment's table
	pageMethods   = 100
	pageEnergies  = 8 // runs with pictures
)

// energyStory is where the energy went, in words: the same for every renderer.
// Its text is plain. The zero one is that of runs without energy.
type energyStory struct {
	// Fact is the energy of the run that matters most, in a line, and Cause what
	// explains its change most, "" where nothing does.
	Fact, Cause string
	// Open says that something changed which is worth more than a line.
	Open bool
	// Runs are the runs that have energy, the one that matters most first.
	Runs []energyRun
}

// energyRun is where the energy of one run went.
type energyRun struct {
	hotspots.Change
	Title    string   // the run's device, "" where there is only one run
	Deviates bool     // the verdict holds that joules, watts or CPU time changed
	Awake    bool     // it holds that wakelocks did
	Lines    []string // what changed, and what explains it
	Doubts   []string // what to hold against the numbers
}

// tellEnergy puts changes into words. title names a change's run, and deviating
// are the metrics of it in which the verdict has found something.
func tellEnergy(changes []hotspots.Change, catalogue *metric.Catalogue, title func(hotspots.Change) string, deviating func(hotspots.Change) []string) energyStory {
	var s energyStory
	for _, c := range changes {
		metrics := deviating(c)
		r := energyRun{
			Change:   c,
			Deviates: slices.ContainsFunc(metrics, func(name string) bool { return ofEnergy(catalogue, name) }),
			Awake:    slices.ContainsFunc(metrics, func(name string) bool { return strings.HasPrefix(name, "wakelock.") }),
		}
		if len(changes) > 1 {
			r.Title = title(c)
		}
		s.Runs = append(s.Runs, r)
		s.Open = s.Open || r.matters()
	}
	slices.SortStableFunc(s.Runs, func(a, b energyRun) int { return cmp.Compare(b.weight(), a.weight()) })
	for i := range s.Runs {
		s.Runs[i].Lines, s.Runs[i].Doubts = s.Runs[i].lines(s.Runs), s.Runs[i].doubts()
	}
	if len(s.Runs) > 0 {
		r := s.Runs[0]
		s.Fact, s.Cause = r.fact(), r.cause(s.Runs)
		if n := len(s.Runs) - 1; n > 0 {
			s.Fact = r.Title + ": " + s.Fact + "; " + words.Count(n, "more run has", "more runs have") + " joules too"
		}
	}
	return s
}

// energyOf is the story of checked runs.
func energyOf(in Input) energyStory {
	runs := map[string]*gate.RunVerdict{}
	for i := range in.Verdict.Runs {
		runs[in.Verdict.Runs[i].ID] = &in.Verdict.Runs[i]
	}
	title := func(c hotspots.Change) string {
		if r := runs[c.Run]; r != nil {
			return runTitle(*r, in.Verdict)
		}
		return words.Name(c.Run)
	}
	return tellEnergy(in.Energy, in.catalogue(), title, func(c hotspots.Change) (metrics []string) {
		if r := runs[c.Run]; r != nil {
			for _, d := range r.Deviations {
				if d.Direction != gate.None {
					metrics = append(metrics, d.Metric)
				}
			}
		}
		return metrics
	})
}

// energyOfAB is the story of two builds.
func energyOfAB(in ABInput) energyStory {
	title := func(c hotspots.Change) string {
		where := words.Clip(words.Context(c.Device), 100)
		if where == "" {
			where = "run " + words.Name(c.Run)
		}
		if len(in.Verdict.Scenarios) > 1 {
			return words.Name(c.Scenario) + " on " + where
		}
		return where
	}
	return tellEnergy(in.Energy, in.Catalogue, title, func(c hotspots.Change) (metrics []string) {
		for _, s := range in.Verdict.Scenarios {
			for _, d := range s.Comparisons {
				if s.Scenario == c.Scenario && d.Direction != gate.None {
					metrics = append(metrics, d.Metric)
				}
			}
		}
		return metrics
	})
}

// ofEnergy reports whether a metric's change is one that methods or parts of the
// device may explain.
func ofEnergy(catalogue *metric.Catalogue, name string) bool {
	m, _ := catalogue.Lookup(name)
	return m.Within == run.EnergyFrom || name == "cpu.time_ms"
}

// matters reports whether the run's energy is worth more than a line.
func (r energyRun) matters() bool {
	return r.Deviates || r.Awake || slices.ContainsFunc(r.Wakelocks, func(w hotspots.Wakelock) bool { return w.Worse })
}

// weight orders runs: those that matter first, of these those whose cause is known,
// then by how much changed.
func (r energyRun) weight() float64 {
	w := math.Abs(r.Total.ChangeJ()) / max(r.Total.BaseJ, r.Total.HeadJ, 1e-9)
	if r.Total.BaseJ == 0 || r.Total.HeadJ == 0 {
		w = 0
	}
	if r.Deviates {
		w += 4
	}
	if r.matters() {
		w += 2
	}
	if r.cause(nil) != "" {
		w++
	}
	return w
}

// alsoIn says in how many of the runs a method explains the change.
func alsoIn(m hotspots.Method, runs []energyRun) string {
	if len(runs) < 2 {
		return ""
	}
	n := 0
	for _, r := range runs {
		if slices.ContainsFunc(r.Explaining(), func(o hotspots.Method) bool { return o.Name == m.Name && o.Local.ChangeJ()*m.Local.ChangeJ() > 0 }) {
			n++
		}
	}
	return fmt.Sprintf("; in %d of %d runs", n, len(runs))
}

// blocks are the Markdown of what changed: sentences, and the methods folded.
// Where nothing changed there are none.
func (s energyStory) blocks() []block {
	if !s.Open {
		return nil
	}
	r := s.Runs[0]
	head := "\n#### Where the energy goes\n\n"
	if r.Title != "" {
		head += markdown(r.Title) + ":\n\n"
	}
	b := block{head: head}
	for _, line := range append(slices.Clone(r.Lines), s.doubts()...) {
		b.lines = append(b.lines, "- "+markdown(line)+"\n")
	}
	out := []block{b}
	if t := r.methodsTable(foldedMethods, wideName); len(t.rows) > 0 {
		t.folded = true
		out = append(out, t.block())
	}
	return out
}

// energy writes what changed; where asked, also the tables.
func (t *text) energy(s energyStory) error {
	for i, r := range s.Runs {
		verbose := t.o.Verbose && i < textRuns
		if !verbose && (!s.Open || i > 0) {
			break
		}
		title := "Where the energy goes"
		if r.Title != "" {
			title += ": " + r.Title
		}
		t.heading(title)
		for _, line := range append(slices.Clone(r.Lines), r.Doubts...) {
			t.item(line)
		}
		if !verbose {
			continue
		}
		for _, table := range []sheetTable{r.methodsTable(sheetRows, max(20, t.o.Width-68)), r.partsTable(sheetRows), r.locksTable(sheetRows)} {
			if len(table.rows) == 0 {
				continue
			}
			if err := t.sheetTable(table); err != nil {
				return err
			}
		}
	}
	return nil
}

// doubts are the doubts of all runs, each once.
func (s energyStory) doubts() []string {
	var out []string
	for _, r := range s.Runs {
		for _, d := range r.Doubts {
			if !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}
