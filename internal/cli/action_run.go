package cli

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/actions"
	"github.com/apkgate/apkgate/report"
	"github.com/apkgate/apkgate/run"
)

// actionRunFlags are those of `action run`.
type actionRunFlags struct {
	actionFlags
	policyFlags
	collectFlags
	mode              string
	comment, checkRun bool
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
	cmd.Flags().StringVar(&f.mode, "mode", string(modePullRequest), "what to do: "+string(modePullRequest))
	cmd.Flags().BoolVar(&f.comment, "comment", true, "comment on the pull request")
	cmd.Flags().BoolVar(&f.checkRun, "check-run", true, "show a check run on the head commit")
	return cmd
}

// actionResult is what a mode found.
type actionResult struct {
	report report.Input
	failOn FailOn
	config *config.Config
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
	back, err := c.goTo(f.workingDirectory)
	if err != nil {
		return usage(err, "")
	}
	defer func() { err = errors.Join(err, back()) }()
	mode, err := modeNamed(f.mode)
	if err != nil {
		return err
	}
	a.Comment, a.Check = f.comment, f.checkRun
	a.Begin(cmd.Context())
	resume := a.Runner.StopCommands() // until here and from there on, the lines are ours
	result, err := mode(c, cmd, f, a)
	resume()
	if err != nil {
		a.Abandon(cmd.Context(), err)
		return err
	}
	c.show(cmd.Context(), f, a, result)
	verdict := result.report.Verdict.Verdict
	if verdict != gate.Regression && result.loss != nil {
		return result.loss
	}
	return exitWith(statusOf(verdict, result.failOn))
}

// show leaves the report's files and posts the verdict.
func (c Command) show(ctx context.Context, f *actionRunFlags, a *action, result actionResult) {
	path := f.config
	if path == "" {
		path = config.FileName
	}
	places := c.places(result.config, path)
	folder, err := actions.WriteFolder(f.artifact, result.report, places)
	if err == nil {
		err = errors.Join(
			a.Runner.Output("report-path", folder.Report), a.Runner.Output("verdict-path", folder.Verdict),
			a.Runner.Output("sarif-path", folder.SARIF), a.Runner.Output("artifact-path", folder.Dir),
		)
	}
	if err := errors.Join(err, a.Publish(ctx, result.report, places)); err != nil {
		a.Runner.Warn(err.Error())
	}
}

// actionPullRequest measures what the pull request would change and compares it
// with the history. The runs are kept unmarked: nothing of a pull request is ever
// what others are compared with.
func (c Command) actionPullRequest(cmd *cobra.Command, f *actionRunFlags, a *action) (actionResult, error) {
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
	if a.Client != nil && a.Job.Pull != nil {
		if err := a.Client.FindMergeBase(ctx, a.Job.Pull); err != nil {
			a.Runner.Log("The report names no merge base: " + err.Error())
		}
	}
	store, err := c.openStore(ctx, set.store)
	if err != nil {
		return actionResult{}, err
	}
	defer store.Close()
	results, err := c.measure(ctx, cfg, f.collectFlags, func(r run.Run) error {
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
	if simulated(runs) {
		set.notes = append(set.notes, simulatedNote)
	}
	verdict, err := c.judge(runs, storeHistory(ctx, store, set), set, outputFlags{format: string(FormatText)})
	if err != nil {
		return actionResult{}, err
	}
	in := report.Input{Verdict: verdict, Runs: runs, Catalogue: set.catalogue, Notes: set.notes, Meta: set.meta(runs)}
	in.Meta.Repository = a.Job.Repository()
	return actionResult{report: in, failOn: set.failOn, config: cfg, loss: lossOf(results)}, nil
}

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
