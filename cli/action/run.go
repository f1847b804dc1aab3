package action

import (
	"cmp"
	"context"
	"errors"
	"github.com/apkgate/apkgate/cli/flagset"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/measure"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/usecase/artifact"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/explanation"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/session"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// runFlags are those of `action run`.
type runFlags struct {
	flags
	settings.PolicyFlags
	measurement.CollectFlags
	sessions         session.Flags
	why              explanation.Flags
	mode             string
	checkRun         bool
	base, head       string // APKs, for mode compare
	baseAPK          string // for mode pull-request
	baseCommit       string
	rounds           int
	acceptRegression bool // for mode refresh
	branches         []string
}

func runCommand(c terminal.Console) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Measure, compare, and show the verdict on GitHub",
		Args:  arguments.None,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runMode(c, cmd, &f) },
	}
	f.flags.register(cmd)
	flagset.Policy(cmd, &f.PolicyFlags)
	flagset.Collect(cmd, &f.CollectFlags)
	flagset.Session(cmd, &f.sessions)
	flagset.Why(cmd, &f.why)
	cmd.Flags().StringVar(&f.mode, "mode", string(modePullRequest), "what to do: pull-request, refresh or compare")
	cmd.Flags().StringVar(&f.base, "base", "", "for mode compare: the APK to compare with")
	cmd.Flags().StringVar(&f.head, "head", "", "for mode compare: the APK that may be worse")
	cmd.Flags().StringVar(&f.baseAPK, "base-apk", "", "for mode pull-request: the build of the commit that the change begins with, to measure alternately what the history does not clear")
	cmd.Flags().StringVar(&f.baseCommit, "base-commit", "", "the commit that the base was built from (default for mode pull-request: the merge base)")
	cmd.Flags().StringArrayVar(&f.branches, "branches", nil, "for mode refresh: the branches whose builds may be accepted (default: the repository's default branch)")
	cmd.Flags().IntVar(&f.rounds, "rounds", measure.DefaultRounds, "for mode compare: how often each build is measured on each device")
	cmd.Flags().BoolVar(&f.acceptRegression, "accept-regression", false, "for mode refresh: accept the runs even if the gate calls one a regression")
	cmd.Flags().BoolVar(&f.checkRun, "check-run", true, "show a check run on the head commit")
	return cmd
}

// result is the result of a mode, and how it is shown.
type result struct {
	content githubactions.Content
	failOn  gate.FailOn
	// folder writes the report's files into a folder.
	folder func(dir string) (artifact.Folder, error)
	// loss is a run that is incomplete, though others are complete.
	loss error
}

// runMode runs a mode and shows its result. Only the verdict decides the exit status; GitHub's
// refusals are warnings.
func runMode(c terminal.Console, cmd *cobra.Command, f *runFlags) (err error) {
	a, err := enter(c, cmd, &f.flags)
	c, outside := in(c, f.workingDirectory, f)
	if outside == nil { // a call that is refused leaves no earlier verdict either
		outside = exit.InfrastructureIf(artifact.Clear(f.artifact))
	}
	if err := cmp.Or(err, outside); err != nil {
		return err
	}
	mode, err := modeNamed(f.mode)
	if err != nil {
		return err
	}
	if f.mode == string(modeCompare) {
		if err := f.sessions.Refuse("mode compare measures two builds alternately, which is done in one go"); err != nil {
			return err
		}
	}
	if f.mode != string(modePullRequest) { // no other mode's result replaces the gate's
		a.Name = f.mode + " " + a.Name
	}
	if f.mode == string(modeCompare) {
		if err := a.builtFrom(f); err != nil {
			return err
		}
	}
	a.Check = f.checkRun
	f.Profiles, f.Evidence.Report = f.artifact, f.artifact // a reviewer opens them from there
	a.Begin(cmd.Context())
	cancelled := make(chan struct{})
	spared := context.AfterFunc(cmd.Context(), func() {
		defer close(cancelled)
		a.Cancel()
	})
	resume := a.Runner.StopCommands() // until here and from there on, the lines are ours
	a.first = func(r result) {
		resume()
		a.show(cmd.Context(), f.artifact, r, a.PublishFirst)
		resume = a.Runner.StopCommands()
	}
	result, err := mode(c, cmd, f, a)
	if !spared() { // from here on, the result is shown
		<-cancelled
	}
	resume()
	if err != nil {
		a.Abandon(cmd.Context(), err)
		return err
	}
	if a.Decide(cmd.Context(), result.content) { // the verdict stays, and fails nothing
		result.failOn = gate.FailNever
	}
	a.show(cmd.Context(), f.artifact, result, a.Publish)
	return exit.Of(result.content.Outcome, result.failOn, result.loss)
}

// show writes the report's files and posts the verdict. A failure to write a file does not change
// the verdict either.
func (a *call) show(ctx context.Context, dir string, result result, publish func(context.Context, githubactions.Content) error) {
	folder, err := result.folder(dir)
	if err == nil {
		err = errors.Join(
			a.Runner.Output("report-path", folder.Report), a.Runner.Output("verdict-path", folder.Verdict),
			a.Runner.Output("sarif-path", folder.SARIF), a.Runner.Output("artifact-path", folder.Dir),
			a.Runner.Output("artifact-name", artifactName(dir, a.Leg)),
		)
	}
	if err := errors.Join(err, publish(ctx, result.content)); err != nil {
		a.Runner.Warn(err.Error())
	}
}

// artifactName returns the name of the uploaded report: artifacts of one run can't share a name.
func artifactName(dir, leg string) string {
	return strings.Trim(matrixcomment.FileName(filepath.Base(dir)+" "+leg), "-")
}
