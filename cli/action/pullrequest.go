package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"github.com/apkgate/apkgate/cli/flagset"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/measure"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/artifact"
	"github.com/apkgate/apkgate/usecase/explanation"
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

// pullRequest measures what the pull request would change and compares it with the history. In a
// history file the runs are stored, unmarked; a shared history is only read, since nothing of a
// pull request is ever a reference. Files that are kept with runs are next to a history file,
// except a fork's; a report has them all.
func pullRequest(c terminal.Console, cmd *cobra.Command, f *runFlags, a *call) (result, error) {
	ctx := cmd.Context()
	cfg, err := f.sessions.Config(c, f.Config, f.CollectFlags)
	if err != nil {
		return result{}, err
	}
	set, err := settings.Read(cmd.Flags().Changed, f.ConfigFlags, f.PolicyFlags)
	if err != nil {
		return result{}, err
	}
	a.FailOn = set.FailOn
	within, err := f.why.Within(cfg)
	if err != nil {
		return result{}, err
	}
	if who := a.AskedWhy(ctx); who != "" {
		within = 2 * max(within, config.DefaultWhy)
		a.Runner.Log(fmt.Sprintf("%s asked why: both builds are recorded for up to %s after a regression.", who, prose.Duration(within)))
	}
	farm, err := a.onFarm(ctx, c, cmd, cfg, f)
	if err != nil {
		return result{}, err
	}
	defer farm.Close()
	if f.Commit == "" {
		f.Commit = a.Job.HeadSHA
	}
	stands := a.standsOn(ctx)
	a.originOf(f)
	base, err := interleaved.Named(c, cfg, f.baseAPK, cmp.Or(f.baseCommit, first(stands.Commits)))
	if err != nil {
		return result{}, err
	}
	store, keep, err := openstore.OpenForPull(ctx, c, set.Store)
	if err != nil {
		return result{}, err
	}
	set.Policy.Accepting = accepting(c, set.Store, keep)
	set.Policy.Settling = "let the workflow build the commit that the change begins with, and give it to the action (base-apk): what is undecided is then measured alternately with it"
	defer func() {
		if err := store.Close(); err != nil {
			fmt.Fprintf(c.Stderr, "warning: the history was not closed cleanly: %s\n", terminal.Plain(err.Error()))
		}
	}()
	into := store
	if !keep {
		into = nil
	} else if a.Job.Pull == nil || !a.Job.Pull.Fork {
		f.Evidence.Folder = openstore.Kept(set.Store)
	}
	if base.APK == "" {
		base = interleaved.Kept(ctx, c, cfg, store, openstore.Kept(set.Store), stands.Commits)
	}
	defer base.Close(c)
	measuring, err := session.Begin(session.Command{Console: c, Path: cmd.CommandPath(), Resume: func() string { return flagset.ResumeLine(cmd) }, Config: cfg, File: f.ConfigFlags.File()}, f.sessions, &f.CollectFlags)
	if err != nil {
		return result{}, err
	}
	defer measuring.End(ctx)
	f.Pool = labs.NewPool(c, f.Session)
	defer f.Pool.Close()
	measured, err := measurement.MeasureInto(ctx, c, cfg, f.CollectFlags, into)
	if err != nil {
		return result{}, err
	}
	if note := measured.Note(); note != "" {
		set.Notes = append(set.Notes, note)
	}
	sound := runstore.SoundOf(store)
	set.Policy.Budget = interleaved.BudgetOf(cfg, base, measured, f.Farm)
	settler := interleaved.Settler{Console: c, Config: cfg, Set: set, Flags: f.CollectFlags, Base: base, Store: into, Keep: runevidence.InReport(f.artifact)}
	settler.Judge = func(runs []run.Run) (layout.Input, error) {
		return judging.Judge(runs, judging.OfStore(ctx, sound, set, stands), set)
	}
	in, err := settler.Judge(measured.Runs)
	if err != nil {
		return result{}, err
	}
	in, err = settler.Settle(ctx, in, measured)
	if err != nil && ctx.Err() != nil {
		return result{}, err
	}
	if note := farm.Note(); note != "" {
		in.Notes = append(in.Notes, note)
	}
	loss := errors.Join(measured.Lost, err, openstore.Damage(c, sound)) // what was measured is shown anyway
	in.Verdict = in.Verdict.WithLoss(measured.Lacking(loss))
	in.Kept = runevidence.ForArtifact(f.artifact, a.Job.ArtifactsURL(), in.Runs)
	with := measure.BuildsOf(c, cfg, f.OnFarm, base)
	if with != nil {
		in.Next = with.Facts(in.Verdict, reproduction.Config(c.Workspace("."), f.Config))
	}
	in.Meta.Base = layout.Origin{Commit: base.Source.Commit, At: worktree.CommittedAt(ctx, c.Workspace("."), base.Source.Commit)}
	marked := openstore.Judged(ctx, into, in.Verdict)
	in.Meta.Repository = a.Job.Repository()
	known := sourcelocation.Find(c, cfg, cmp.Or(f.Config, config.FileName))
	found := func(in layout.Input) result {
		return result{
			content: githubactions.ContentOf(in, known), failOn: set.FailOn, loss: loss,
			folder: func(dir string) (artifact.Folder, error) {
				folder, err := artifact.WriteFolder(dir, artifact.Report{Input: in, Leg: a.Leg, Places: known, Builds: with})
				if err == nil && !a.Comment && !a.Check { // another job shows it
					err = artifact.WriteRuns(folder.Dir, in.Runs)
				}
				return folder, err
			},
		}
	}
	recorder := explanation.Recorder{
		Console: c, Config: cfg, Base: base.APK, BaseFrom: base.Source, From: measurement.OriginOf(c, f.CollectFlags).Source, Session: f.Session,
		Parallel: f.Parallel, Pool: f.Pool, Within: within, Keep: runevidence.InReport(f.artifact),
	}
	switch {
	case farm != nil:
		in = farm.Explained(ctx, in, within)
	case marked == nil:
		in = explained(ctx, recorder, in, explanation.UnitsOf(cfg, measured, in.Verdict), func(in layout.Input) { a.first(found(in)) })
	}
	if err := errors.Join(output.Write(c, layout.Verdict(in), output.Text()), marked); err != nil {
		return result{}, err
	}
	return found(in), nil
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
