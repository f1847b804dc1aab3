package action

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func endCommand(c terminal.Console) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "end",
		Short: "End the check run that a step which was killed has left in progress",
		Long: `Closes the check runs that a killed step of this job left open, and says in the
comment that there is no verdict. A workflow calls it in a step of its own, with
if: always(), where another action runs apkgate action run: the runner sends its
signals to that action alone. If no check run is open, it does nothing.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := enter(c, cmd, &f)
			if err != nil {
				return err
			}
			ended, err := a.End(cmd.Context())
			if err != nil {
				a.Runner.Warn(err.Error())
			}
			if ended > 0 {
				a.Runner.Log(fmt.Sprintf("%d %s ended that would have stayed in progress.", ended, prose.Plural(ended, "check run", "check runs")))
			}
			return nil
		},
	}
	f.register(cmd)
	return cmd
}
