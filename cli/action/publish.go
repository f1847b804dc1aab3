package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/usecase/artifact"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/reproduction"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func publishCommand(c terminal.Console) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "Show the verdict of another job of this workflow's run",
		Long: `Shows the report that another job of this run left as an artifact, in the comment
and as a check run. The job that runs the pull request's code then needs no token
that may write: it measures with --comment=false and --check-run=false. Without a
report, the check run says that there is no verdict. Nothing needs to be checked out:
the working directory and the configuration only say what the configuration is called.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return publish(c, cmd, &f) },
	}
	f.register(cmd)
	return cmd
}

// publishing are the events whose own run has measured: on others, the artifact is of a run that
// anybody may have started, and no check run is based on it.
var publishing = []string{"pull_request", "push", "merge_group", "schedule", "workflow_dispatch"}

// publish ends with 0 whatever the verdict is: the job that measured has its own result.
func publish(c terminal.Console, cmd *cobra.Command, f *flags) error {
	ctx := cmd.Context()
	a, err := enter(c, cmd, f)
	if err != nil {
		return err
	}
	switch {
	case a.Client == nil:
		return exit.Usage(errors.New("there is no token to publish with"), "the input github-token sets it")
	case !slices.Contains(publishing, a.Job.Event):
		return exit.Usage(fmt.Errorf("action publish on the event %s: a check run is based only on what this workflow's own run has measured", prose.Short(cmp.Or(a.Job.Event, "none"))),
			"on workflow_run, action comment posts the report of a fork's run")
	}
	folders, err := artifact.ReportFolders(f.artifact)
	if err != nil {
		return exit.Usage(err, "the job that measured leaves them as its artifact")
	}
	if len(folders) == 0 {
		r := a.reporter("")
		r.Begin(ctx)
		r.Abandon(ctx, errors.New("the job that measures left no report; its log says why"))
		return nil
	}
	if a.Job.Pull != nil {
		if err := a.Client.FindMergeBase(ctx, a.Job.Pull); err != nil {
			a.Runner.Log(err.Error())
		}
	}
	path := filepath.Join(f.workingDirectory, cmp.Or(f.Config, config.FileName))
	catalogue := settings.CatalogueAt(path)
	for _, folder := range folders {
		if err := a.publishFolder(ctx, folder, catalogue, reproduction.Config(c.Workspace("."), path)); err != nil {
			return exit.Usage(err, "the job that measured leaves it as its artifact")
		}
	}
	return nil
}

// reporter returns one for a leg.
func (a *call) reporter(leg string) *githubactions.Reporter {
	return &githubactions.Reporter{
		Runner: a.Runner, Client: a.Client, Job: a.Job, Name: a.Name, Leg: leg, FailOn: gate.FailRegression,
		Legs: a.Legs, Comment: a.Comment, CommentOn: a.CommentOn, Check: true, ReportURL: a.ReportURL, Accept: a.Accept,
	}
}

// publishFolder shows one report, of a leg of its own.
func (a *call) publishFolder(ctx context.Context, folder string, catalogue *metric.Catalogue, config string) error {
	report, err := artifact.ReadFolder(folder)
	if err != nil {
		return err
	}
	in := a.checked(ctx, report, config)
	places, err := artifact.ReadPlaces(folder)
	if err != nil {
		return err
	}
	if catalogue != nil {
		in.Catalogue = catalogue
	}
	in.Meta.Repository, in.Meta.HeadCommit = a.Job.Repository(), a.Job.HeadSHA
	if in.Runs, err = artifact.ReadRuns(folder, in.Verdict); err != nil {
		a.Runner.Warn("The comment shows no frames and no kept files: " + err.Error())
	}
	in.Kept = runevidence.ForArtifact(folder, a.Job.ArtifactsURL(), in.Runs)
	r := a.reporter(report.Leg)
	r.FailOn = cmp.Or(in.Verdict.FailOn, gate.FailRegression)
	content := githubactions.ContentOf(in, places)
	r.Begin(ctx)
	r.Decide(ctx, content)
	if err := r.PublishReport(ctx, content); err != nil {
		a.Runner.Warn(err.Error())
	}
	return nil
}

// checked returns a report that a stranger may have written, with what the reader can do about it:
// the command is ours, and the day of the base build's commit is GitHub's.
func (a *call) checked(ctx context.Context, report artifact.Report, config string) layout.Input {
	in := report.Input
	if report.Builds != nil {
		in.Next = report.Builds.Stranger(in.Verdict, config)
	}
	if commit := artifact.BaseOf(in.Verdict); commit != "" && a.Job.Pull != nil {
		at, err := a.Client.CommittedBefore(ctx, commit, a.Job.Pull.BaseSHA)
		if err != nil {
			a.Runner.Log("The day of the base build's commit is unknown: " + err.Error())
		}
		in.Meta.Base = layout.Origin{Commit: commit, At: at}
	}
	return in
}
