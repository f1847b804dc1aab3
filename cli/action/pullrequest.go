package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/flagset"
	"github.com/apkgate/apkgate/cli/measure"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/artifact"
	"github.com/apkgate/apkgate/usecase/explanation"
	"github.com/apkgate/apkgate/usecase/farms"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/reproduction"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/session"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/sourcelocation"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/worktree"
)

// maxBaseCommits is how far back on the base branch commits are distinguished.
const maxBaseCommits = 300

// pull is the measurement of what a pull request would change.
type pull struct {
	*call
	console terminal.Console
	flags   *runFlags
	config  *config.Config
	set     settings.Settings
	within  time.Duration // for recording both builds after a regression
	stands  judging.Lineage
	base    interleaved.Base
	farm    *farms.Lab
	history *runstore.Sound
	into    runstore.Store // where runs are stored; nil for a history that is only read
}

// pullRequest measures what the pull request would change and compares it with the history. In a
// history file the runs are stored, unmarked; a shared history is only read, since nothing of a
// pull request is ever a reference. Files that are kept with runs are next to a history file,
// except a fork's; a report has them all.
func pullRequest(c terminal.Console, cmd *cobra.Command, f *runFlags, a *call) (result, error) {
	ctx := cmd.Context()
	p := pull{call: a, console: c, flags: f}
	if err := p.configure(ctx, cmd); err != nil {
		return result{}, err
	}
	var err error
	if p.farm, err = a.onFarm(ctx, c, cmd, p.config, f); err != nil {
		return result{}, err
	}
	defer p.farm.Close()
	if f.Commit == "" {
		f.Commit = a.Job.HeadSHA
	}
	p.stands = a.standsOn(ctx)
	a.originOf(f)
	if p.base, err = interleaved.Named(c, p.config, f.baseAPK, cmp.Or(f.baseCommit, first(p.stands.Commits))); err != nil {
		return result{}, err
	}
	store, keep, err := openstore.OpenForPull(ctx, c, p.set.Store)
	if err != nil {
		return result{}, err
	}
	defer func() {
		if err := store.Close(); err != nil {
			fmt.Fprintf(c.Stderr, "warning: the history was not closed cleanly: %s\n", terminal.Plain(err.Error()))
		}
	}()
	p.remember(ctx, store, keep)
	defer p.base.Close(c)
	measuring, err := session.Begin(session.Command{Console: c, Path: cmd.CommandPath(), Resume: func() string { return flagset.ResumeLine(cmd) }, Config: p.config, File: f.ConfigFlags.File()}, f.sessions, &f.CollectFlags)
	if err != nil {
		return result{}, err
	}
	defer measuring.End(ctx)
	f.Pool = labs.NewPool(c, f.Session)
	defer f.Pool.Close()
	measured, err := measurement.MeasureInto(ctx, c, p.config, f.CollectFlags, p.into)
	if err != nil {
		return result{}, err
	}
	in, loss, err := p.judge(ctx, measured)
	if err != nil {
		return result{}, err
	}
	return p.shown(ctx, in, measured, loss)
}

// configure reads the configuration, and how long both builds are recorded after a regression.
func (p *pull) configure(ctx context.Context, cmd *cobra.Command) (err error) {
	f := p.flags
	if p.config, err = f.sessions.Config(p.console, f.Config, f.CollectFlags); err != nil {
		return err
	}
	if p.set, err = settings.Read(cmd.Flags().Changed, f.ConfigFlags, f.PolicyFlags); err != nil {
		return err
	}
	p.FailOn = p.set.FailOn
	if p.within, err = f.why.Within(p.config); err != nil {
		return err
	}
	if who := p.AskedWhy(ctx); who != "" {
		p.within = 2 * max(p.within, config.DefaultWhy)
		p.Runner.Log(fmt.Sprintf("%s asked why: both builds are recorded for up to %s after a regression.", who, prose.Duration(p.within)))
	}
	return nil
}

// remember uses a history, in which runs are stored if they are to be kept there, and the base build
// that it has where none is named.
func (p *pull) remember(ctx context.Context, store runstore.Store, keep bool) {
	p.history = runstore.SoundOf(store)
	p.set.Policy.Accepting = accepting(p.console, p.set.Store, keep)
	p.set.Policy.Settling = "let the workflow build the commit that the change begins with, and give it to the action (base-apk): what is undecided is then measured alternately with it"
	if keep {
		p.into = store
		if p.Job.Pull == nil || !p.Job.Pull.Fork {
			p.flags.Evidence.Folder = openstore.Kept(p.set.Store)
		}
	}
	if p.base.APK == "" {
		p.base = interleaved.Kept(ctx, p.console, p.config, store, openstore.Kept(p.set.Store), p.stands.Commits)
	}
}

// judge compares what was measured with the history, and settles in rounds what that leaves
// undecided. loss is what could not be measured.
func (p *pull) judge(ctx context.Context, measured measurement.Measured) (in layout.Input, loss error, err error) {
	if note := measured.Note(); note != "" {
		p.set.Notes = append(p.set.Notes, note)
	}
	p.set.Policy.Budget = interleaved.BudgetOf(p.config, p.base, measured, p.flags.Farm)
	settler := interleaved.Settler{
		Console: p.console, Config: p.config, Set: p.set, Flags: p.flags.CollectFlags, Base: p.base, Store: p.into, Keep: runevidence.InReport(p.flags.artifact),
		Judge: func(runs []run.Run) (layout.Input, error) {
			return judging.Judge(runs, judging.OfStore(ctx, p.history, p.set, p.stands), p.set)
		},
	}
	if in, err = settler.Judge(measured.Runs); err != nil {
		return in, nil, err
	}
	in, err = settler.Settle(ctx, in, measured)
	if err != nil && ctx.Err() != nil {
		return in, nil, err
	}
	if note := p.farm.Note(); note != "" {
		in.Notes = append(in.Notes, note)
	}
	loss = errors.Join(measured.Lost, err, openstore.Damage(p.console, p.history)) // what was measured is shown anyway
	in.Verdict = in.Verdict.WithLoss(measured.Lacking(loss))
	return in, loss, nil
}

// shown prints the verdict, and records what explains a regression.
func (p *pull) shown(ctx context.Context, in layout.Input, measured measurement.Measured, loss error) (result, error) {
	c, f := p.console, p.flags
	in.Kept = runevidence.ForArtifact(f.artifact, p.Job.ArtifactsURL(), in.Runs)
	with := measure.BuildsOf(c, p.config, f.OnFarm, p.base)
	if with != nil {
		in.Next = with.Facts(in.Verdict, reproduction.Config(c.Workspace("."), f.Config))
	}
	in.Meta.Base = layout.Origin{Commit: p.base.Source.Commit, At: worktree.CommittedAt(ctx, c.Workspace("."), p.base.Source.Commit)}
	in.Meta.Repository = p.Job.Repository()
	marked := openstore.Judged(ctx, p.into, in.Verdict)
	places := sourcelocation.Find(c, p.config, cmp.Or(f.Config, config.FileName))
	found := func(in layout.Input) result { return p.found(in, places, with, loss) }
	recorder := explanation.Recorder{
		Console: c, Config: p.config, Base: p.base.APK, BaseFrom: p.base.Source, From: measurement.OriginOf(c, f.CollectFlags).Source, Session: f.Session,
		Parallel: f.Parallel, Pool: f.Pool, Within: p.within, Keep: runevidence.InReport(f.artifact),
	}
	switch {
	case p.farm != nil:
		in = p.farm.Explained(ctx, in, p.within)
	case marked == nil:
		in = explained(ctx, recorder, in, explanation.UnitsOf(p.config, measured, in.Verdict), func(in layout.Input) { p.first(found(in)) })
	}
	if err := errors.Join(output.Write(c, layout.Verdict(in), output.Text()), marked); err != nil {
		return result{}, err
	}
	return found(in), nil
}

// found returns a verdict as what is shown on GitHub.
func (p *pull) found(in layout.Input, places document.Places, with *reproduction.Builds, loss error) result {
	return result{
		content: githubactions.ContentOf(in, places), failOn: p.set.FailOn, loss: loss,
		folder: func(dir string) (artifact.Folder, error) {
			folder, err := artifact.WriteFolder(dir, artifact.Report{Input: in, Leg: p.Leg, Places: places, Builds: with})
			if err == nil && !p.Comment && !p.Check { // another job shows it
				err = artifact.WriteRuns(folder.Dir, in.Runs)
			}
			return folder, err
		},
	}
}

// explained records what explains a regression, once the verdict is shown: recording changes
// nothing in the verdict, and nothing is lost if the job ends in between.
func explained(ctx context.Context, r explanation.Recorder, in layout.Input, units map[string]measurement.Unit, first func(layout.Input)) layout.Input {
	all := judging.RegressedIn(in)
	in.Why = explanation.Next(all, inWorkflow(r))
	if !r.Todo(all, units) || ctx.Err() != nil {
		return in
	}
	first(in)
	in, _ = r.Verdict(ctx, in, units) // failures are reported
	in.Why = explanation.Next(judging.RegressedIn(in), inWorkflow(r))
	return in
}

// inWorkflow returns how a workflow can explain what is unexplained.
func inWorkflow(r explanation.Recorder) string {
	switch {
	case r.Base == "":
		return "let the workflow build the commit that the change begins with, and give it to the action (base-apk): after a regression a few rounds of both builds are then recorded"
	case r.Within == 0:
		return "recording both builds is turned off; why: 5m of the action, or evidence.why in apkgate.yml, turns it on"
	}
	return fmt.Sprintf("why: %s of the action records both builds for longer, and apkgate compare does it on a computer with both builds and a device", prose.Duration(2*r.Within))
}

// first returns the first of some commits, "" if there are none.
func first(commits []string) string {
	if len(commits) == 0 {
		return ""
	}
	return commits[0]
}

// accepting returns how a run of a pull request can be accepted, "" if its id is enough.
func accepting(c terminal.Console, store string, kept bool) string {
	switch {
	case !kept:
		return "nothing of a pull request is kept in a shared history; the refresh of the main branch (mode refresh, or apkgate baseline refresh) measures and accepts what was merged"
	case c.Getenv("RUNNER_ENVIRONMENT") == "github-hosted":
		return fmt.Sprintf("the history is the file %s, which is gone with this runner unless a step keeps it: keep it on a branch of the repository (store: {branch: \"origin#apkgate-history\"}) or in PostgreSQL, and let a refresh of the main branch fill it", store)
	}
	return ""
}

// originOf sets the source of a pull request's build.
func (a *call) originOf(f *runFlags) {
	if p := a.Job.Pull; p != nil {
		f.Pull = run.Source{Head: p.HeadSHA, Base: cmp.Or(p.MergeBase, p.BaseSHA), Merge: a.Job.Merge}
	}
}

// standsOn returns the commits of the base branch up to where the pull request left it; none if
// GitHub does not return them.
func (a *call) standsOn(ctx context.Context) judging.Lineage {
	if a.Client == nil || a.Job.Pull == nil {
		return judging.Lineage{}
	}
	err := a.Client.FindMergeBase(ctx, a.Job.Pull)
	if err != nil {
		a.Runner.Log("References are taken whatever their commit: " + err.Error())
		return judging.Lineage{}
	}
	commits, err := a.Client.CommitsUpTo(ctx, a.Job.Pull.MergeBase, maxBaseCommits)
	if err != nil {
		a.Runner.Log("Of references, those of the merge base alone come first: " + err.Error())
		return judging.Lineage{Commits: []string{a.Job.Pull.MergeBase}}
	}
	return judging.Lineage{Commits: commits.IDs, Since: commits.Since, Whole: !commits.More}
}
