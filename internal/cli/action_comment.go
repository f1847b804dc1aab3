package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/internal/actions"
)

func (c Command) actionCommentVerb() *cobra.Command {
	var f actionFlags
	cmd := &cobra.Command{
		Use:   "comment",
		Short: "Comment with the report of another workflow's run",
		Long: `Posts the report that a pull request's run left as an artifact, from a workflow
on workflow_run. The pull request is the event's own; the artifact is read as
something that a stranger wrote.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.actionComment(cmd, &f) },
	}
	f.register(cmd)
	return cmd
}

// actionComment ends with 0 whatever the verdict is: the run that measured has
// its own colour.
func (c Command) actionComment(cmd *cobra.Command, f *actionFlags) (err error) {
	a, err := c.enterAction(cmd, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.back()) }()
	if a.Client == nil {
		return usage(errors.New("there is no token to comment with"), "the input github-token sets it")
	}
	if err := a.Client.ResolvePull(cmd.Context(), &a.Job); err != nil {
		a.Runner.Log("No comment: " + err.Error() + ".")
		return nil
	}
	in, err := actions.ReadFolder(f.artifact)
	if err != nil {
		return usage(err, "the first workflow's run leaves it; docs/github.md shows both")
	}
	if cfg, err := loadConfig(f.config, true); err == nil {
		in.Catalogue, _ = cfg.Catalogue()
	}
	in.Meta.Repository, in.Meta.HeadCommit = a.Job.Repository(), a.Job.HeadSHA
	a.Comment, a.Fork = true, a.Job.Pull.Fork
	if err := a.PostComment(cmd.Context(), in); err != nil {
		a.Runner.Warn(err.Error())
	}
	return nil
}
