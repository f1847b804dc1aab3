package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/actions"
	"github.com/apkgate/apkgate/run"
)

// actionRunFlags are those of `action run`.
type actionRunFlags struct {
	actionFlags
	policyFlags
	collectFlags
	mode              string
	comment, checkRun bool
	base, head        string // APKs, for mode compare
	baseCommit        string
	rounds            int
	acceptRegression  bool // for mode refresh
	branches          []string
}

func (c Command) actionRunVerb() *cobra.Command {
	var f actionRunFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Measure, compare, and show the verdict on GitHub",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.actionRun(cmd, &f) },
	}
	f.actionFlags.register(cmd)
	f.policyFlags.register(cmd)
	f.collectFlags.register(cmd)
	cmd.Flags().StringVar(&f.mode, "mode", string(modePullRequest), "what to do: pull-request, refresh or compare")
	cmd.Flags().StringVar(&f.base, "base", "", "for mode compare: the APK to compare with")
	cmd.Flags().StringVar(&f.head, "head", "", "for mode compare: the APK that may be worse")
	cmd.Flags().StringVar(&f.baseCommit, "base-commit", "", "for mode compare: the commit that the base was built from")
	cmd.Flags().StringArrayVar(&f.branches, "branches", nil, "for mode refresh: the branches whose builds may be accepted (default: the repository's default branch)")
	cmd.Flags().IntVar(&f.rounds, "rounds", defaultRounds, "for mode compare: how often each build is measured on each device")
	cmd.Flags().BoolVar(&f.acceptRegression, "accept-regression", false, "for mode refresh: accept the runs even if the gate calls one a regression")
	cmd.Flags().BoolVar(&f.comment, "comment", true, "comment on the pull request")
	cmd.Flags().BoolVar(&f.checkRun, "check-run", true, "show a check run on the head commit")
	return cmd
}

// actionResult is what a mode found, and how it is shown.
type actionResult struct {
	content actions.Content
	failOn  FailOn
	// folder leaves the report's files in a folder.
	folder func(dir string) (actions.Folder, error)
	// loss is a run that did not come to its end, though others did.
	loss error
}

// actionRun runs a mode and shows what it found. The verdict alone decides the
// exit status; what GitHub refuses is a warning.
func (c Command) actionRun(cmd *cobra.Command, f *actionRunFlags) (err error) {
	a, err := c.enterAction(cmd, &f.actionFlags)
	if err != nil {
		return err
	}
	if c, err = c.in(f.workingDirectory, f); err != nil {
		return err
	}
	mode, err := modeNamed(f.mode)
	if err != nil {
		return err
	}
	if f.mode != string(modePullRequest) { // no other mode's result stands in for the gate's
		a.Name = f.mode + " " + a.Name
	}
	if f.mode == string(modeCompare) {
		if err := a.builtFrom(f); err != nil {
			return err
		}
	}
	a.Comment, a.Check = f.comment, f.checkRun
	f.profiles = f.artifact // a reviewer opens them from there
	a.Begin(cmd.Context())
	cancelled := make(chan struct{})
	spared := context.AfterFunc(cmd.Context(), func() {
		defer close(cancelled)
		a.Cancel()
	})
	resume := a.Runner.StopCommands() // until here and from there on, the lines are ours
	result, err := mode(c, cmd, f, a)
	if !spared() { // from here on, what was found is shown
		<-cancelled
	}
	resume()
	if err != nil {
		a.Abandon(cmd.Context(), err)
		return err
	}
	a.show(cmd.Context(), f.artifact, result)
	return exitOf(result.content.Outcome, result.failOn, result.loss)
}

// show leaves the report's files and posts the verdict. A file that the runner
// refuses changes no verdict either.
func (a *action) show(ctx context.Context, dir string, result actionResult) {
	folder, err := result.folder(dir)
	if err == nil {
		err = errors.Join(
			a.Runner.Output("report-path", folder.Report), a.Runner.Output("verdict-path", folder.Verdict),
			a.Runner.Output("sarif-path", folder.SARIF), a.Runner.Output("artifact-path", folder.Dir),
			a.Runner.Output("artifact-name", artifactName(dir, a.Leg)),
		)
	}
	if err := errors.Join(err, a.Publish(ctx, result.content)); err != nil {
		a.Runner.Warn(err.Error())
	}
}

// artifactName is what the report is uploaded as: artifacts of one run can't share
// a name.
func artifactName(dir, leg string) string {
	return strings.Trim(actions.FileName(filepath.Base(dir)+" "+leg), "-")
}

// actionPullRequest measures what the pull request would change and compares it
// with the history. In a history file the runs are kept, unmarked; a history that
// is shared is only read: nothing of a pull request is ever what others are
// compared with.
func actionPullRequest(c Command, cmd *cobra.Command, f *actionRunFlags, a *action) (actionResult, error) {
	ctx := cmd.Context()
	cfg, err := c.collectConfig(f.config, f.collectFlags)
	if err != nil {
		return actionResult{}, err
	}
	set, err := c.settings(cmd, f.configFlags, f.policyFlags)
	if err != nil {
		return actionResult{}, err
	}
	a.FailOn = string(set.failOn)
	if f.commit == "" {
		f.commit = a.Job.HeadSHA
	}
	commits := a.baseCommits(ctx)
	store, keep, err := c.openForPull(ctx, set.store)
	if err != nil {
		return actionResult{}, err
	}
	set.policy.Accepting = c.accepting(set.store, keep)
	defer func() {
		if err := store.Close(); err != nil {
			fmt.Fprintf(c.Stderr, "warning: the history was not closed cleanly: %s\n", plain(err.Error()))
		}
	}()
	results, err := c.measure(ctx, cfg, f.collectFlags, func(r run.Run) error {
		if !keep {
			return nil
		}
		_, err := store.Add(context.WithoutCancel(ctx), r)
		return err
	})
	if err != nil {
		return actionResult{}, err
	}
	var runs []run.Run
	for r := range runsOf(results) {
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return actionResult{}, lossOf(results)
	}
	loss := lossOf(results)
	if loss != nil {
		set.notes = append(set.notes, "Not everything was measured: "+loss.Error())
	}
	sound := baseline.SoundOf(store)
	in, err := c.judge(runs, pastOf(ctx, sound, set, commits...), set, outputFlags{format: string(FormatText)})
	if err != nil {
		return actionResult{}, err
	}
	loss = errors.Join(loss, c.damageOf(sound))
	in.Meta.Repository = a.Job.Repository()
	places := c.places(cfg, cmp.Or(f.config, config.FileName))
	content := actions.ContentOf(in, places)
	content.Lost = loss != nil
	return actionResult{
		content: content, failOn: set.failOn, loss: loss,
		folder: func(dir string) (actions.Folder, error) { return actions.WriteFolder(dir, a.Leg, in, places) },
	}, nil
}

// accepting is how a run of a pull request comes to be accepted, "" where its id
// does it.
func (c Command) accepting(store string, kept bool) string {
	switch {
	case !kept:
		return "nothing of a pull request is kept in a shared history; the refresh of the main branch (mode refresh, or apkgate baseline refresh) measures and accepts what was merged"
	case c.Getenv("RUNNER_ENVIRONMENT") == "github-hosted":
		return fmt.Sprintf("the history is the file %s, which is gone with this runner unless a step keeps it: keep it on a branch of the repository (store: {branch: \"origin#apkgate-history\"}) or in PostgreSQL, and let a refresh of the main branch fill it", store)
	}
	return ""
}

// baseCommits are the commits of the base branch up to where the pull request left
// it, the newest first; none where GitHub does not tell.
func (a *action) baseCommits(ctx context.Context) []string {
	if a.Client == nil || a.Job.Pull == nil {
		return nil
	}
	err := a.Client.FindMergeBase(ctx, a.Job.Pull)
	if err != nil {
		a.Runner.Log("References are taken whatever their commit: " + err.Error())
		return nil
	}
	commits, err := a.Client.CommitsUpTo(ctx, a.Job.Pull.MergeBase, maxBaseCommits)
	if err != nil {
		a.Runner.Log("Of references, those of the merge base alone come first: " + err.Error())
		return []string{a.Job.Pull.MergeBase}
	}
	return commits
}

// maxBaseCommits is how far back on the base branch commits are told apart.
const maxBaseCommits = 300

// repositoryPath is a path from the workspace's root, with slashes; "" for what is
// outside of it.
func (c Command) repositoryPath(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	root, err := filepath.Abs(c.workspace("."))
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}
