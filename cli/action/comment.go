package action

import (
	"cmp"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/usecase/artifact"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/reproduction"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func commentCommand(c terminal.Console) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "comment",
		Short: "Comment with the report of another workflow's run",
		Long: `Posts the report that a pull request's run left as an artifact, from a workflow
on workflow_run. The pull request is the event's own; the artifact is read as
something that a stranger wrote. Nothing needs to be checked out: the working
directory and the configuration only say what the configuration is called.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return comment(c, cmd, &f) },
	}
	f.register(cmd)
	return cmd
}

// comment ends with 0 whatever the verdict is: the run that measured has its own result.
func comment(c terminal.Console, cmd *cobra.Command, f *flags) error {
	a, err := enter(c, cmd, f)
	if err != nil {
		return err
	}
	if a.Client == nil {
		return exit.Usage(errors.New("there is no token to comment with"), "the input github-token sets it")
	}
	if err := a.Client.ResolvePull(cmd.Context(), &a.Job); err != nil {
		a.Runner.Log("No comment: " + err.Error() + ".")
		return nil
	}
	folders, err := artifact.ReportFolders(f.artifact)
	if err != nil {
		return exit.Usage(err, "the first workflow's run leaves them; docs/github.md shows both")
	}
	if len(folders) == 0 {
		a.Runner.Log("No comment: there is no report in " + f.artifact + ".")
		return nil
	}
	path := filepath.Join(f.workingDirectory, cmp.Or(f.Config, config.FileName))
	catalogue := settings.CatalogueAt(path)
	for _, folder := range folders {
		report, err := artifact.ReadFolder(folder)
		if err != nil {
			return exit.Usage(err, "the first workflow's run leaves it; docs/github.md shows both")
		}
		in := a.checked(cmd.Context(), report, reproduction.Config(c.Workspace("."), path))
		in.Catalogue = catalogue
		in.Meta.Repository, in.Meta.HeadCommit = a.Job.Repository(), a.Job.HeadSHA
		if a.Job.Pull.Fork {
			in.Notes = append([]string{githubactions.ForkNote}, in.Notes...)
		}
		a.Leg = report.Leg
		if err := a.PostComment(cmd.Context(), githubactions.ContentOf(in, nil)); err != nil {
			a.Runner.Warn(err.Error())
		}
	}
	return nil
}
