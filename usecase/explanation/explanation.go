// Package explanation explains a regression after the verdict: it records a few more rounds of both
// builds, and finds out what the frames waited for and which methods took the energy.
//
// It owns what is recorded, for how long, what is reported of it, and what a command saves so that
// it can be repeated later (Session). What got worse and what a recording shows of it belongs to
// package judging; measuring two builds alternately belongs to package measurement.
//
// These rounds explain and judge nothing. Their records say so and are in no history, and they
// change no verdict and no exit status. If they fail there is a warning, and the verdict stays as
// it was.
package explanation

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/fleet"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// How many rounds are recorded: enough to see a cause in more than one repetition of each build and
// to distinguish it from chance (package jankcause's rule of 1 in 50: three rounds are 1 in 20 ways
// to choose, four 1 in 70), and few enough for a comment to wait for. Methods are compared by their
// variation between repetitions, for which four are too few.
const (
	frameRounds  = 4
	methodRounds = 5
)

// roundsOf returns how many are recorded of targets.
func roundsOf(targets []target) int {
	if slices.ContainsFunc(targets, func(t target) bool { return t.Energy }) {
		return methodRounds
	}
	return frameRounds
}

// Recorder records both builds.
type Recorder struct {
	terminal.Console
	Config *config.Config
	// Base and Head are APK files; Head "" is the configuration's app.
	Base, Head     string
	BaseFrom, From run.Source
	// Session is that of the judged runs.
	Session  string
	Parallel int
	// Pool has devices booted already; nil boots them for this alone.
	Pool *labs.Pool
	// Within is how long it may take; 0 records nothing.
	Within time.Duration
	// Keep is a folder that gets the rounds as why-base.jsonl and why-head.jsonl, "" for none.
	Keep string
	// Again also records what is explained already.
	Again bool
}

// target is what got worse, and the unit on which it is recorded.
type target struct {
	judging.Regressed
	unit measurement.Unit
}

// outcome is the result of recording a target.
type outcome struct {
	rounds judging.Rounds
	n, of  int // recorded rounds of both builds, and planned ones
	why    error
}

// Todo reports whether there is anything to record of what got worse.
func (r Recorder) Todo(all []judging.Regressed, units map[string]measurement.Unit) bool {
	return len(r.targets(all, units)) > 0
}

// UnitsOf returns the units of a configuration on which the runs of a verdict were measured, by the
// runs' ids. A run of another session of the command was measured on the unit of the first run like
// it.
func UnitsOf(cfg *config.Config, m measurement.Measured, v gate.Verdict) map[string]measurement.Unit {
	units, out := measurement.Units(cfg), map[string]measurement.Unit{}
	for _, r := range v.Runs {
		at := slices.IndexFunc(m.Runs, func(o run.Run) bool { return o.ID == r.ID })
		if at < 0 {
			at = slices.IndexFunc(m.Runs, func(o run.Run) bool {
				return o.Scenario == r.Scenario && devctx.Same(o.Context, r.Context, devctx.Named)
			})
		}
		if at >= 0 && m.Places[at] < len(units) {
			out[r.ID] = units[m.Places[at]]
		}
	}
	return out
}

// targets returns those that can be recorded. units are keyed by the verdict's runs.
func (r Recorder) targets(all []judging.Regressed, units map[string]measurement.Unit) (out []target) {
	if r.Within <= 0 || r.Base == "" || r.Head == "" && r.Config.App.APK == "" {
		return nil
	}
	for _, one := range all {
		unit, known := units[one.Run]
		if r.Again {
			one = one.Anew()
		}
		one.Energy = one.Energy && r.Config.Energy.Measured()
		if known && one.Open() && !one.Untraced() {
			out = append(out, target{one, unit})
		}
	}
	return out
}

// Verdict adds the explanations of recorded rounds to a verdict. units are keyed by the verdict's
// runs. Only its causes and its notes change.
func (r Recorder) Verdict(ctx context.Context, in layout.Input, units map[string]measurement.Unit) (layout.Input, error) {
	targets := r.targets(judging.RegressedIn(in), units)
	found, err := r.record(ctx, targets)
	for i, t := range targets {
		causes, energy := judging.Recorded(t.Regressed, found[i].rounds, judging.ProblemsOf(r.Config))
		in.Causes = judging.Replaced(in.Causes, causes)
		in.Energy = judging.WithRecorded(in.Energy, energy)
		in.Notes = append(slices.Clone(in.Notes), r.note(t, found[i], len(causes)+named(energy)))
	}
	return in, err
}

// Comparison is Verdict for a comparison of two builds, of the head's runs.
func (r Recorder) Comparison(ctx context.Context, in layout.ComparisonInput, head []run.Run, units map[string]measurement.Unit) (layout.ComparisonInput, error) {
	targets := r.targets(judging.RegressedBuild(in, head), units)
	found, err := r.record(ctx, targets)
	for i, t := range targets {
		causes, energy := judging.Recorded(t.Regressed, found[i].rounds, judging.ProblemsOf(r.Config))
		in.Causes = judging.Replaced(in.Causes, causes)
		in.Energy = judging.WithRecorded(in.Energy, energy)
		in.Notes = append(slices.Clone(in.Notes), r.note(t, found[i], len(causes)+named(energy)))
	}
	return in, err
}

// named counts the changes of energy in which a method is named.
func named(energy []hotspots.Change) (n int) {
	for _, c := range energy {
		if _, encloses := c.Enclosing(); encloses || len(c.Explaining()) > 0 {
			n++
		}
	}
	return n
}

// record measures the targets' rounds. The error is why nothing at all was recorded; it is printed
// as a warning too.
func (r Recorder) record(ctx context.Context, targets []target) ([]outcome, error) {
	out := make([]outcome, len(targets))
	if len(targets) == 0 || ctx.Err() != nil {
		return out, ctx.Err()
	}
	rounds := roundsOf(targets)
	fmt.Fprintf(r.Stderr, "recording %d rounds of both builds of %s to explain what got worse: up to %s; they judge nothing\n",
		rounds, terminal.Plain(namesOf(targets)), prose.Duration(r.Within))
	cfg, only := r.plan(targets)
	own, cancel := context.WithTimeout(ctx, r.Within)
	defer cancel()
	bases, heads, err := measurement.Interleave(own, r.Console, cfg, measurement.InTurns{
		Base: r.Base, Head: r.Head, BaseFrom: r.BaseFrom, From: r.From, Session: strings.TrimSpace(r.Session + " why"),
		Parallel: r.Parallel, Pool: r.Pool, Rounds: rounds, Again: again, Only: only, Reads: cfg.Evidence.Keeps(), Explains: true,
		Turns: fleet.Turns{Within: r.Within},
	})
	if bases != nil {
		r.keep(bases, heads)
	}
	recorded := false
	for i := range out {
		if i < len(bases) {
			out[i] = r.outcomeOf(ctx, bases[i], heads[i], rounds)
		}
		if out[i].n == 0 && out[i].why == nil {
			out[i].why = err
		}
		recorded = recorded || out[i].n > 0
	}
	if err == nil && !recorded {
		err = out[0].why
	}
	if err != nil {
		fmt.Fprintf(r.Stderr, "warning: what got worse is not explained: %s\n", terminal.Plain(prose.OneLine(err.Error())))
	}
	if recorded {
		err = nil
	}
	return out, err
}

// again distinguishes the simulated phones of these rounds from those of the judged ones.
const again = 7

// namesOf lists the targets' scenarios with their devices.
func namesOf(targets []target) string {
	var names []string
	for _, t := range targets {
		names = append(names, t.unit.Key())
	}
	return prose.Few(names, 3)
}

// plan returns the configuration of the recording: only the scenarios and devices concerned, and
// what explains them. A device need not rest before energy that is not judged.
func (r Recorder) plan(targets []target) (*config.Config, []int) {
	cfg := *r.Config
	concerned := func(is func(measurement.Unit) bool) bool {
		return slices.ContainsFunc(targets, func(t target) bool { return is(t.unit) })
	}
	cfg.Scenarios = slices.DeleteFunc(slices.Clone(cfg.Scenarios), func(s config.Scenario) bool {
		return !concerned(func(u measurement.Unit) bool { return u.Scenario == s.Name })
	})
	cfg.Devices = slices.DeleteFunc(slices.Clone(cfg.Devices), func(d config.Device) bool {
		return !concerned(func(u measurement.Unit) bool { return u.Profile == d.ProfileName() })
	})
	cfg.Evidence = config.Evidence{Keep: config.KeepNone}
	if slices.ContainsFunc(targets, func(t target) bool { return t.Frames }) {
		cfg.Evidence.Keep, cfg.Evidence.Tasks, cfg.Evidence.TasksIfAny = config.KeepWorst, r.Config.Evidence.Tasks, true
		if cfg.Methods.Keeps() { // to compare what both builds called
			cfg.Methods.Keep = config.KeepAll
		}
	}
	if slices.ContainsFunc(targets, func(t target) bool { return t.Energy }) {
		energy, rest := *cfg.Energy, time.Duration(0)
		energy.Methods, energy.Settle = true, &rest
		cfg.Energy = &energy
	} else {
		cfg.Energy = nil
	}
	units, only := measurement.Units(&cfg), make([]int, len(targets))
	for i, t := range targets {
		only[i] = slices.IndexFunc(units, func(u measurement.Unit) bool { return u.Key() == t.unit.Key() })
	}
	return &cfg, only
}

// keep writes the rounds to the requested folder.
func (r Recorder) keep(bases, heads []collect.Result) {
	if r.Keep == "" {
		return
	}
	for name, results := range map[string][]collect.Result{"why-base.jsonl": bases, "why-head.jsonl": heads} {
		path := filepath.Join(r.Keep, name)
		if err := atomicfile.Write(path, measurement.JSONLines(results)); err != nil {
			fmt.Fprintf(r.Stderr, "warning: the rounds that explain the regression are not left in files: %s\n", terminal.Plain(atomicfile.Error("write", path, err).Error()))
		}
	}
}

// outcomeOf returns the result of one target's rounds.
func (r Recorder) outcomeOf(ctx context.Context, base, head collect.Result, of int) outcome {
	o := outcome{rounds: judging.Rounds{Base: base.Run, Head: head.Run}, n: min(len(base.Run.Iterations), len(head.Run.Iterations)), of: of}
	switch {
	case o.n == of:
	case ctx.Err() != nil:
		o.why = errors.New("it was interrupted")
	case errors.Is(base.Err, collect.ErrNoTime), errors.Is(head.Err, collect.ErrNoTime), errors.Is(base.Err, context.DeadlineExceeded), errors.Is(head.Err, context.DeadlineExceeded), base.Err == nil && head.Err == nil:
		o.why = fmt.Errorf("the time for it, %s, was too short", prose.Duration(r.Within))
	case head.Err != nil && !errors.Is(head.Err, collect.ErrOtherBuild):
		o.why = fmt.Errorf("the head build: %w", head.Err)
	default:
		o.why = fmt.Errorf("the base build: %w", base.Err)
	}
	if o.n == 0 {
		o.rounds = judging.Rounds{}
	}
	return o
}

// note returns a report's note on the rounds.
func (r Recorder) note(t target, o outcome, explained int) string {
	why := ""
	if o.why != nil {
		why = prose.Clip(prose.OneLine(o.why.Error()), mostWhy)
	}
	rounds, text := prose.Count(o.n, "round", "rounds"), ""
	switch {
	case o.n == 0:
		return fmt.Sprintf("No round of both builds of %s was recorded to explain it: %s.", t.unit.Key(), why)
	case explained == 0:
		text = fmt.Sprintf("%s of both builds of %s, recorded after the verdict to explain it, show no clear cause.", rounds, t.unit.Key())
	default:
		text = fmt.Sprintf("The causes given for %s come from %s of both builds, recorded after the verdict; they judge nothing.", t.unit.Key(), rounds)
	}
	if why != "" {
		text += fmt.Sprintf(" %d were to be recorded: %s.", o.of, why)
	}
	return text
}

// mostWhy limits the characters of an error in a note.
const mostWhy = 300
