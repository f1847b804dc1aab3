package show

import (
	"cmp"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/drift"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/research/evaluation"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/settings"
)

// Noise is the output of the command noise (docs/format/noise.md).
type Noise struct {
	Format   string        `json:"format"`
	Apps     []AppNoise    `json:"apps"`
	Warnings []run.Warning `json:"warnings,omitempty"`
}

// AppNoise is how often the gate would have been wrong on an app's accepted sessions, each checked
// against all the others.
type AppNoise struct {
	Package string `json:"package"`
	Runs    int    `json:"runs"`
	// Checks counts the sessions: a run without a session is one of its own.
	Checks int `json:"checks"`
	// ByHistory are the outcomes by the history alone, and WithRounds those after what it leaves
	// undecided is measured alternately, which is simulated.
	ByHistory  Outcomes `json:"by_history"`
	WithRounds Outcomes `json:"with_rounds"`
	// Repetitions is the mean of a check's repetitions, including those of its rounds.
	Repetitions float64      `json:"repetitions"`
	Alarms      []FalseAlarm `json:"alarms"`
	Metrics     []Loudness   `json:"metrics"`
	// Drift are the metrics that creep for the worse.
	Drift []drift.Line `json:"drift"`

	catalogue *metric.Catalogue
}

// Outcomes count the checks by their outcome.
type Outcomes struct {
	Regressions  int `json:"regressions"`
	Inconclusive int `json:"inconclusive"`
	Improvements int `json:"improvements"`
	Passes       int `json:"passes"`
	// Low and High bound the share of regressions at 95 % confidence.
	Low  float64 `json:"regressions_low"`
	High float64 `json:"regressions_high"`
}

// FalseAlarm is one accepted run that the gate would have failed.
type FalseAlarm struct {
	Session string `json:"session,omitempty"`
	ID      string `json:"id"`
	Reason  string `json:"reason"`
	// Simulated reports that the history left it undecided, and simulated rounds failed it.
	Simulated bool `json:"simulated,omitempty"`
}

func (o *Outcomes) add(v gate.Outcome) {
	switch v {
	case gate.Regression:
		o.Regressions++
	case gate.Improvement:
		o.Improvements++
	case gate.Pass:
		o.Passes++
	default:
		o.Inconclusive++
	}
}

// session is the runs of an app that were measured at one time.
type session struct {
	app, name string
	runs      []run.Run
	checker   *history.Checker
	// first is the verdict by the history alone, then the one after simulated rounds.
	first, then gate.Verdict
}

// settleAll computes the verdicts of the sessions, several at a time.
func settleAll(all []*session, set settings.Settings) {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, s := range all {
		g.Go(func() error {
			s.first = s.checker.Verdict()
			s.checker = nil
			s.then = inTurns(s.first, s.runs, set)
			return nil
		})
	}
	_ = g.Wait() // none fails
}

// leaveOut checks each session against the others.
func leaveOut(runs []run.Run, before judging.Past, set settings.Settings) (Noise, error) {
	out := Noise{Format: "apkgate.noise/2", Apps: []AppNoise{}}
	runs = slices.DeleteFunc(slices.Clone(runs), func(r run.Run) bool { return r.Status != run.Complete }) // a file may contain incomplete ones
	all, place := sessionsOf(runs)
	for _, s := range all {
		s.checker = history.NewChecker(set.Policy, set.Catalogue, len(s.runs))
	}
	err := before.Each(runs, set, func(i int, refs []run.Summary) error {
		at := place[i]
		all[at.session].checker.Add(at.run, history.Subject{Run: runs[i], References: refs})
		return nil
	})
	if err != nil {
		return out, err
	}
	byApp := map[string]*AppNoise{}
	metrics := map[string]*loudness{}
	settleAll(all, set)
	for _, s := range all {
		a := byApp[s.app]
		if a == nil {
			a = &AppNoise{Package: s.app, Alarms: []FalseAlarm{}, Metrics: []Loudness{}}
			byApp[s.app], metrics[s.app] = a, newLoudness(set)
		}
		first, then := s.first, s.then
		a.Runs, a.Checks = a.Runs+len(s.runs), a.Checks+1
		a.ByHistory.add(first.Verdict)
		a.WithRounds.add(then.Verdict)
		a.Repetitions += float64(repetitionsOf(then))
		a.Alarms = append(a.Alarms, alarmsOf(s.name, first, then)...)
		metrics[s.app].add(first, then)
	}
	for app, a := range byApp {
		a.Repetitions /= float64(a.Checks)
		for _, o := range []*Outcomes{&a.ByHistory, &a.WithRounds} {
			o.Low, o.High = evaluation.Interval(o.Regressions, a.Checks)
		}
		a.Metrics = metrics[app].sorted()
		out.Apps = append(out.Apps, *a)
	}
	slices.SortFunc(out.Apps, func(a, b AppNoise) int { return cmp.Compare(a.Package, b.Package) })
	return out, nil
}

// at is the place of a run: its session, and its index there.
type at struct{ session, run int }

// sessionsOf groups the runs by session, and returns the place of each.
func sessionsOf(runs []run.Run) (all []*session, place []at) {
	known := map[[2]string]int{}
	for _, r := range runs {
		key := [2]string{r.App.Package, cmp.Or(r.Session, "\x00"+r.ID)}
		i, has := known[key]
		if !has {
			i = len(all)
			known[key] = i
			all = append(all, &session{app: r.App.Package, name: r.Session})
		}
		place = append(place, at{i, len(all[i].runs)})
		all[i].runs = append(all[i].runs, r)
	}
	return all, place
}

// repetitionsOf returns those of a check: of its own runs, and of both builds in its rounds.
func repetitionsOf(v gate.Verdict) int {
	n := 0
	for _, r := range v.Runs {
		n += r.Repetitions
		if r.Rounds != nil {
			n += r.Rounds.Repetitions
		}
	}
	return n
}

// alarmsOf returns the runs that are called worse, after the rounds for those that the history left
// undecided.
func alarmsOf(name string, first, then gate.Verdict) []FalseAlarm {
	var out []FalseAlarm
	for i, r := range then.Runs {
		if r.Verdict == gate.Regression {
			out = append(out, FalseAlarm{Session: name, ID: r.ID, Reason: r.Reason, Simulated: first.Runs[i].Verdict != gate.Regression})
		}
	}
	return out
}
