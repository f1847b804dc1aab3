package measure

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/internal/cli/arguments"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/files"
	"github.com/apkgate/apkgate/internal/cli/lab"
	"github.com/apkgate/apkgate/internal/cli/settings"
	"github.com/apkgate/apkgate/internal/cli/stores"
)

// CollectCommand is apkgate collect.
func CollectCommand(c console.Console) *cobra.Command {
	var cf settings.ConfigFlags
	var f lab.CollectFlags
	var out string
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Measure, without comparing",
		Long: `Runs the scenarios of apkgate.yml on its devices and writes the runs as JSON
Lines. apkgate check compares them later, or elsewhere.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := lab.Config(cf.Config, f)
			if err != nil {
				return err
			}
			if err := files.KeepsInput([]string{out}, []string{cf.File(), cfg.App.TestAPK}, cfg.App.APKs()); err != nil {
				return err
			}
			if out != "" && out != "-" && !files.Special(out) {
				if err := files.Writable(filepath.Dir(out)); err != nil {
					return err
				}
				f.Evidence.Folder = stores.Kept(out)
			}
			if f.Evidence.Folder == nil && cfg.Evidence.Keeps() {
				fmt.Fprintln(c.Stderr, "warning: evidence is not kept, as the runs are not written to a file; --output names one")
			}
			results, err := lab.Measure(cmd.Context(), c, cfg, f, nil)
			if err != nil {
				return err
			}
			write := lab.JSONLines(results)
			if out == "" || out == "-" {
				err = write(c.Stdout)
			} else {
				err = files.Write(out, write)
			}
			return errors.Join(exit.InfrastructureIf(err), cmp.Or(lab.LossOf(results), lab.EndedOf(results)))
		},
	}
	cmd.Flags().StringVar(&cf.Config, "config", "", "the configuration (default apkgate.yml)")
	cmd.Flags().StringVarP(&out, "output", "o", "", "the file to write (default: standard output)")
	f.Register(cmd)
	return cmd
}
