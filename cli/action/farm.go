package action

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/farms"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// choosesFarm uses the configuration's farm if the input says so, or if it says nothing and the
// configuration names a farm and no devices.
func (f *runFlags) choosesFarm(cmd *cobra.Command, cfg *config.Config) {
	if !cmd.Flags().Changed("farm") {
		f.OnFarm = farms.Used(cfg)
	}
}

// onFarm prepares the farm, if one is used.
func (a *call) onFarm(ctx context.Context, c terminal.Console, cmd *cobra.Command, cfg *config.Config, f *runFlags) (*farms.Lab, error) {
	f.choosesFarm(cmd, cfg)
	farm, err := farms.For(ctx, c, cfg, &f.CollectFlags, f.sessions)
	return farm, a.ofFork(err)
}

// ofFork explains why a farm refuses a fork's pull request.
func (a *call) ofFork(err error) error {
	if a.Job.Pull == nil || !a.Job.Pull.Fork || !errors.As(err, new(*boot.Error)) {
		return err
	}
	return exit.WithStatus(exit.StatusInfrastructure,
		fmt.Errorf("this pull request comes from a fork, to whose workflow GitHub gives no secrets: nothing can be measured on a farm, and nothing was. What the farm said: %w", err),
		"leave forks out (docs/farms.md has how), and measure what was reviewed from a branch of this repository")
}
