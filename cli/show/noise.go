package show

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/apkgate/apkgate/cli/flagset"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// garbagePercent is how much garbage is left until it is collected, in percent of the live heap.
const garbagePercent = 150

type noiseFlags struct {
	settings.ConfigFlags
	settings.PolicyFlags
	recorderFlags
	history []string
	limit   int
	format  string
}

// NoiseCommand returns apkgate noise.
func NoiseCommand(c terminal.Console) *cobra.Command {
	var f noiseFlags
	cmd := &cobra.Command{
		Use:   "noise",
		Short: "How often would this gate have been wrong on what was accepted?",
		Long: `Checks each accepted session against all the others, as if it were a pull
request's: its runs together, with their repetitions, metrics and devices. Since they
were accepted, every regression that is called is a false alarm, or a bad run that was
accepted by mistake: look at the ones it names. What the history leaves open would be
measured alternately with the base build; here that is simulated, from the repetitions of
the session itself, and said to be so. It lists which numbers and UI events have a say
in the verdict, and the worsening that each would have shown. It names the metrics that
are too noisy to gate, and those that creep: by how much within the quarter. --fail-on drift makes one that
creeps for the worse beyond gate.drift-budget the exit status 1.

With --recorder it measures what recording the app's calls costs: the configuration's build with and
without the recorder (methods.by), in drawn order on the configuration's devices, with the
interval of the change of each metric. A metric for which a worsening by gate.min-effect is not
excluded is not to be judged in recorded runs.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return noise(c, cmd, f) },
	}
	flagset.Config(cmd, &f.ConfigFlags)
	flagset.Judging(cmd, &f.PolicyFlags)
	flagset.Drift(cmd, &f.PolicyFlags)
	cmd.Flags().StringArrayVar(&f.history, "history", nil, "a file of accepted runs instead of the store; may be repeated")
	f.recorderFlags.register(cmd)
	cmd.Flags().IntVar(&f.limit, "limit", 500, "check at most so many of the newest runs")
	cmd.Flags().StringVar(&f.format, "format", string(output.FormatText), "what to print: text or json")
	return cmd
}

func noise(c terminal.Console, cmd *cobra.Command, f noiseFlags) error {
	format := output.Format(f.format)
	if err := exit.OneOf("format", format, []output.Format{output.FormatText, output.FormatJSON}); err != nil {
		return err
	}
	if f.recorder != "" {
		return recorderCost(c, cmd, f, format)
	}
	if f.limit < 1 {
		return exit.Usage(fmt.Errorf("--limit is %d, want 1 or more", f.limit), "")
	}
	if cmd.Flags().Changed("fail-on") {
		if err := exit.OneOf("fail-on", gate.FailOn(f.FailOn), []gate.FailOn{gate.FailNever, gate.FailDrift}); err != nil {
			return err
		}
	}
	set, err := settings.Read(cmd.Flags().Changed, f.ConfigFlags, f.PolicyFlags)
	if err != nil {
		return err
	}
	// Each check sums up thousands of short-lived runs: collecting less often saves a sixth of the
	// processor time.
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	runs, retired, before, closing, err := acceptedRuns(cmd.Context(), c, f, set)
	if err != nil {
		return err
	}
	noise, err := leaveOut(runs, before, set)
	if err = errors.Join(err, closing()); err != nil {
		return err
	}
	noise.Warnings = openstore.DamageWarnings(before.Sound)
	outcome := noise.drifts(runs, retired, set)
	err = errors.Join(writeNoise(c, noise, format), exit.Of(outcome, set.FailOn, openstore.Damage(c, before.Sound)))
	if err == nil && len(noise.Apps) == 0 {
		return exit.Usage(errors.New("check how noisy the history is: it has no accepted run"), "apkgate baseline accept accepts what was measured; apkgate baseline import reads a history")
	}
	return err
}

func writeNoise(c terminal.Console, noise Noise, format output.Format) error {
	if format == output.FormatJSON {
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(noise)
	}
	return showNoise(c, noise)
}

// acceptedRuns returns the newest accepted runs, which of them are retired by their ids, and what
// each is compared with.
func acceptedRuns(ctx context.Context, c terminal.Console, f noiseFlags, set settings.Settings) (runs []run.Run, retired map[string]bool, before judging.Past, closing func() error, err error) {
	closing = func() error { return nil }
	if len(f.history) > 0 {
		files, err := judging.OfFiles(c, f.history, inputfiles.ImportFlags{}, set, f.limit)
		if err != nil {
			return nil, nil, judging.Past{}, closing, err
		}
		return files.Last(f.limit), nil, files.Past(set), closing, nil
	}
	store, err := openstore.OpenToRead(ctx, c, set.Store)
	if err != nil {
		return nil, nil, judging.Past{}, closing, err
	}
	accepted := runstore.Filter{States: []runstore.State{runstore.Accepted, runstore.Rebaselined}, Limit: f.limit}
	sound := runstore.SoundOf(store)
	retired = map[string]bool{}
	for e, err := range sound.List(ctx, accepted) {
		if err != nil {
			return nil, nil, judging.Past{}, store.Close, openstore.Error(err)
		}
		full, err := store.Get(ctx, e.Run.ID)
		if errors.Is(err, runstore.ErrDamaged) {
			sound.PassOver(e.Run.ID, err)
			continue
		}
		if err != nil {
			return nil, nil, judging.Past{}, store.Close, openstore.Error(err)
		}
		runs = append(runs, full.Run)
		retired[e.Run.ID] = e.Retired
	}
	return runs, retired, judging.OfStore(ctx, sound, set, judging.Lineage{}), store.Close, nil
}
