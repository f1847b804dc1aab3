package measurement

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/fleet"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// InTurns configures measuring two builds alternately, in addition to the configuration.
type InTurns struct {
	Base, Head       string // APK files; Head "" is the configuration's app
	BaseFrom, From   run.Source
	Session          string
	Parallel, Rounds int // Rounds: the maximum
	// BaseCompile and HeadCompile are how each side's code is compiled, overriding the scenarios;
	// "" leaves it to them.
	BaseCompile, HeadCompile string
	// Recorder records the calls of the head alone, to see what that costs: one of the configuration's
	// methods.by; "" leaves both to the configuration.
	Recorder string
	// Again and Only are as those of CollectFlags.
	Again int
	Only  []int
	// Pool is as that of CollectFlags.
	Pool *labs.Pool
	// Farm is as that of CollectFlags.
	Farm Farm
	// Turns limits the rounds, with the indices of the jobs among those that are measured. If its
	// More is set, Only is in the order in which the jobs are to be measured.
	Turns fleet.Turns
	// Profiles keeps the profiles of methods if they are configured.
	Profiles bool
	// Reads records and reads what evidence needs, without keeping any file.
	Reads bool
	// Explains marks the runs as recorded to explain a verdict, and not to be judged.
	Explains bool
	// Keep receives each run that is to be stored as soon as its pair has ended; nil for none.
	Keep func(run.Run) error
}

// Interleave measures two builds alternately on the devices of a configuration. The results are those
// of its chosen runs, the base's and the head's, and their runs have their ids. With an error they
// are kept: nil if nothing was measured.
func Interleave(ctx context.Context, c terminal.Console, cfg *config.Config, t InTurns) (base, head []collect.Result, err error) {
	var profiles *profileFiles
	if t.Profiles {
		if profiles, err = KeepProfiles(cfg.Energy); err != nil {
			return nil, nil, err
		}
	}
	r, err := readyFor(ctx, c, cfg, t.Farm, measuring{t.Parallel, t.Again, t.Session, t.Pool, nil})
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	bases := chosen(jobs(cfg, r.devices, Origin{t.BaseFrom, t.Session}), t.Only)
	r.printPlaces(c, t.Parallel, bases)
	heads := chosen(jobs(cfg, r.devices, Origin{t.From, t.Session}), t.Only)
	for i := range bases {
		n := t.Rounds
		if t.Turns.Repetitions != nil {
			n *= t.Turns.Repetitions[i]
		}
		bases[i].Scenario.Repetitions, heads[i].Scenario.Repetitions = n, n
		bases[i].App.Install(t.Base)
		bases[i].App.Version = "" // the device's
		bases[i].App.Build, heads[i].App.Build = sideOf(cfg.App.Build, "base"), sideOf(cfg.App.Build, "head")
		if t.Head != "" {
			heads[i].App.Install(t.Head)
			heads[i].App.Version = ""
		}
		compiledAs(&bases[i], t.BaseCompile)
		compiledAs(&heads[i], t.HeadCompile)
		recordedWith(&bases[i], &heads[i], t.Recorder)
	}
	if t.Turns.More != nil {
		for i := range bases { // the queue begins with what costs most
			bases[i].Cost = time.Duration(len(bases)-i) * time.Hour
		}
	}
	shown := NewProgress(c, append(append([]collect.Job{}, bases...), heads...))
	defer shown.Clear()
	var kept error
	finished := func(job int, r collect.Result) {
		if t.Keep != nil && keepable(r) {
			if err := t.Keep(r.Run); kept == nil { // the first says enough
				kept = err
			}
		}
		shown.Finished(job, r)
	}
	if t.Farm != nil {
		base, head = t.Farm.Interleave(ctx, bases, heads, t.Turns.More, finished)
	} else {
		pairs := fleet.Lab{
			Jobs: bases, Stations: r.stations, Parallel: t.Parallel, Places: r.places, Stay: r.stay, Finished: finished,
			Options: collect.Options{Host: Host(c), Progress: shown, Now: c.Now},
		}
		if t.Reads {
			pairs.Options.Evidence = nowhere{}
		}
		base, head = pairs.Interleave(ctx, heads, t.Turns)
	}
	for i, results := range [][]collect.Result{base, head} {
		for k := range results {
			results[k].Run.Explains = t.Explains
			if t.BaseCompile != "" || t.HeadCompile != "" {
				results[k].Run = compiledApart(results[k].Run, []collect.Job{bases[k], heads[k]}[i].Scenario.Compile)
			}
			if t.Recorder != "" {
				var missing error
				results[k].Run, missing = recordedApart(results[k].Run, t.Recorder, i == 1)
				kept = errors.Join(kept, missing)
			}
		}
		if err := NameRuns(results); err != nil {
			return nil, nil, errors.Join(kept, err)
		}
		for k, r := range results {
			profiles.Keep(r, []string{"base", "head"}[i])
			if t.Reads {
				results[k].Run = withoutFiles(r.Run)
			}
		}
	}
	shown.Clear()
	return base, head, errors.Join(kept, profiles.PrintSummary(c.Stderr))
}

// compiledAs sets how a side's code is compiled; "" leaves it as it is.
func compiledAs(j *collect.Job, how string) {
	if how == "" {
		return
	}
	j.Scenario.Compile, j.App.Build = how, j.App.Build+" ("+how+")"
}

// compiledApart returns a run without the compilation in its context, in which both sides have to
// be alike, where it is what is compared.
func compiledApart(r run.Run, asked string) run.Run {
	if got := r.Context[compiled]; got == "" && asked != config.CompileNone && len(r.Iterations) > 0 {
		r.Warnings = append(r.Warnings, run.Warning{Text: "its code was to be compiled (" + asked + "), and was not: what is compared may be the same"})
	}
	r.Context = maps.Clone(r.Context)
	delete(r.Context, compiled)
	return r
}

// compiled is the context property with the state of an app's code.
const compiled = "compiled"

// nowhere is a keeper that discards files.
type nowhere struct{}

// Keep implements evidence.Keeper.
func (nowhere) Keep(_ context.Context, r io.Reader, limit int64) (string, int64, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = evidence.ErrTooLarge
	}
	return hex.EncodeToString(sum.Sum(nil)), n, err
}

// withoutFiles returns a run without references to discarded files.
func withoutFiles(r run.Run) run.Run {
	r.Evidence = nil
	if r.Frames != nil {
		for _, list := range [][]run.LateFrame{r.Frames.Worst, r.Frames.Usual} {
			for i := range list {
				list[i].Evidence = ""
			}
		}
	}
	for i := range r.ANRs {
		r.ANRs[i].Evidence = nil
	}
	if r.MethodTraces != nil {
		for i := range r.MethodTraces.Windows {
			r.MethodTraces.Windows[i].Evidence = ""
		}
	}
	return r
}

// sideOf distinguishes the two builds' runs, also if both have one version.
func sideOf(build, side string) string {
	return strings.TrimSpace(build + " " + side)
}

// recordedWith has the head's calls recorded, and not the base's; "" leaves both to the configuration.
func recordedWith(base, head *collect.Job, recorder string) {
	if recorder == "" {
		return
	}
	base.Methods = config.Methods{Keep: config.KeepNone}
	head.Methods = config.Methods{Keep: config.KeepAnomalies, By: recorder}
	base.App.Build, head.App.Build = base.App.Build+" (not recorded)", head.App.Build+" ("+recorder+")"
}

// recordedApart returns a run without what recorded it in its context, in which both sides have to be
// alike, where it is what is compared. A head that was not recorded is an error.
func recordedApart(r run.Run, recorder string, head bool) (run.Run, error) {
	const property = "recorded"
	if got := r.Context[property]; head && len(r.Iterations) > 0 && got != "perfetto+"+recorder {
		why := ""
		if n := len(r.Warnings); n > 0 {
			why = ": " + r.Warnings[n-1].Text
		}
		return r, fmt.Errorf("%s was to be recorded by %s, and was by %q%s", r.Scenario, recorder, got, why)
	}
	r.Context = maps.Clone(r.Context)
	delete(r.Context, property)
	return r, nil
}
