package measure

import (
	"cmp"
	"errors"
	"fmt"
	"github.com/apkgate/apkgate/cli/flagset"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/farms"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/replay"
	"github.com/apkgate/apkgate/usecase/session"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// collecting are the flags of apkgate collect.
type collecting struct {
	settings.ConfigFlags
	measurement.CollectFlags
	dry      bool
	sessions session.Flags
	tape     replay.Flags
	out      string
}

// CollectCommand returns apkgate collect.
func CollectCommand(c terminal.Console) *cobra.Command {
	var f collecting
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Measure, without comparing",
		Long: `Runs the scenarios of apkgate.yml on its devices and writes the runs as JSON
Lines. apkgate check compares them later, or elsewhere.

With --shard k/n it measures one of n shares of the runs, and leaves it in --output
for --merge: so several jobs measure side by side what one of them judges.`,
		Example: `  apkgate collect --output runs.jsonl
  apkgate collect --shard 2/5 --output part-2.session
  apkgate collect --merge parts --output runs.jsonl`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return collectRuns(c, cmd, f) },
	}
	cmd.Flags().StringVar(&f.Config, "config", "", "the configuration (default apkgate.yml)")
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "the file to write (default: standard output)")
	flagset.Collect(cmd, &f.CollectFlags)
	flagset.DryRun(cmd, &f.dry)
	flagset.Session(cmd, &f.sessions)
	flagset.Replay(cmd, &f.tape)
	flagset.Shard(cmd, &f.sessions)
	return cmd
}

func collectRuns(c terminal.Console, cmd *cobra.Command, f collecting) (err error) {
	played, err := f.tape.Begin(&c, cmd.Flags().Changed, &f.Config, &f.CollectFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, played.End(c)) }()
	cfg, err := f.sessions.Config(c, f.Config, f.CollectFlags)
	if err != nil {
		return err
	}
	if f.dry {
		return showPlan(c, cfg, f.OnFarm)
	}
	read := append([]string{f.ConfigFlags.File(), cfg.App.TestAPK}, f.sessions.Merge...)
	if err := atomicfile.KeepsInput([]string{f.out}, read, cfg.App.APKs()); err != nil {
		return err
	}
	here := session.Command{Console: c, Path: cmd.CommandPath(), Resume: func() string { return flagset.ResumeLine(cmd) }, Config: cfg, File: f.ConfigFlags.File()}
	if f.out != "" && f.out != "-" && !atomicfile.Special(f.out) {
		if err := atomicfile.Writable(filepath.Dir(f.out)); err != nil {
			return err
		}
		f.Evidence.Folder = openstore.Kept(f.out)
		here.Output = f.out
	}
	if f.Evidence.Folder == nil && cfg.Evidence.Keeps() {
		fmt.Fprintln(c.Stderr, "warning: evidence is not kept, as the runs are not written to a file; --output names one")
	}
	farm, err := farms.For(cmd.Context(), c, cfg, &f.CollectFlags, f.sessions)
	if err != nil {
		return err
	}
	defer farm.Close()
	if played == nil { // which takes no time, and is not resumed
		measuring, err := session.Begin(here, f.sessions, &f.CollectFlags)
		if err != nil {
			return err
		}
		defer measuring.End(cmd.Context())
	}
	results, err := measurement.Measure(cmd.Context(), c, cfg, f.CollectFlags, nil)
	if err != nil {
		return err
	}
	if f.sessions.Shard == "" { // the part has them already
		err = f.write(c, results)
	}
	return errors.Join(exit.InfrastructureIf(err), cmp.Or(measurement.LossOf(results), measurement.EndedOf(results)))
}

func (f collecting) write(c terminal.Console, results []collect.Result) error {
	write := measurement.JSONLines(results)
	if f.out == "" || f.out == "-" {
		return write(c.Stdout)
	}
	return atomicfile.Write(f.out, write)
}
