package show

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/internal/cli/arguments"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/input"
	"github.com/apkgate/apkgate/internal/cli/judging"
	"github.com/apkgate/apkgate/internal/cli/output"
	"github.com/apkgate/apkgate/internal/cli/settings"
	"github.com/apkgate/apkgate/internal/cli/stores"
	"github.com/apkgate/apkgate/run"
)

type noiseFlags struct {
	settings.ConfigFlags
	settings.PolicyFlags
	history []string
	limit   int
	format  string
}

// NoiseCommand is apkgate noise.
func NoiseCommand(c console.Console) *cobra.Command {
	var f noiseFlags
	cmd := &cobra.Command{
		Use:   "noise",
		Short: "How often would this gate have been wrong on what was accepted?",
		Long: `Checks each accepted run against all the others, as if it were new. Since they
were accepted, every regression that is called is a false alarm, or a bad run that
was accepted by mistake: look at the ones it names.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return noise(c, cmd, f) },
	}
	f.ConfigFlags.Register(cmd)
	f.PolicyFlags.RegisterJudging(cmd)
	cmd.Flags().StringArrayVar(&f.history, "history", nil, "a file of accepted runs instead of the store; may be repeated")
	cmd.Flags().IntVar(&f.limit, "limit", 500, "check at most so many of the newest runs")
	cmd.Flags().StringVar(&f.format, "format", string(output.FormatText), "what to print: text or json")
	return cmd
}

// Noise is what the command noise found (docs/format/noise.md).
type Noise struct {
	Format    string          `json:"format"`
	Scenarios []ScenarioNoise `json:"scenarios"`
	Warnings  []run.Warning   `json:"warnings,omitempty"`
}

// ScenarioNoise is the noise of one app's scenario.
type ScenarioNoise struct {
	Package      string       `json:"package"`
	Scenario     string       `json:"scenario"`
	Runs         int          `json:"runs"`
	Regressions  int          `json:"regressions"`
	Inconclusive int          `json:"inconclusive"`
	Improvements int          `json:"improvements"`
	Alarms       []FalseAlarm `json:"alarms"`
}

// FalseAlarm is one accepted run that the gate would have failed.
type FalseAlarm struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

func noise(c console.Console, cmd *cobra.Command, f noiseFlags) error {
	format := output.Format(f.format)
	if err := arguments.OneOf("format", format, []output.Format{output.FormatText, output.FormatJSON}); err != nil {
		return err
	}
	if f.limit < 1 {
		return exit.Usage(fmt.Errorf("--limit is %d, want 1 or more", f.limit), "")
	}
	set, err := settings.Read(cmd, f.ConfigFlags, f.PolicyFlags)
	if err != nil {
		return err
	}
	runs, before, closing, err := acceptedRuns(cmd.Context(), c, f, set)
	if err != nil {
		return err
	}
	noise, err := measureNoise(runs, before, set)
	if err = errors.Join(err, closing()); err != nil {
		return err
	}
	noise.Warnings = stores.DamageWarnings(before.Sound)
	return errors.Join(writeNoise(c, noise, format), stores.Damage(c, before.Sound))
}

func writeNoise(c console.Console, noise Noise, format output.Format) error {
	if format == output.FormatJSON {
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(noise)
	}
	return showNoise(c, noise)
}

// acceptedRuns are the newest accepted runs, and what each is compared with.
func acceptedRuns(ctx context.Context, c console.Console, f noiseFlags, set settings.Settings) (runs []run.Run, before judging.Past, closing func() error, err error) {
	closing = func() error { return nil }
	if len(f.history) > 0 {
		files, err := judging.OfFiles(c, f.history, input.ImportFlags{}, set, f.limit)
		if err != nil {
			return nil, judging.Past{}, closing, err
		}
		return files.Last(f.limit), files.Past(set), closing, nil
	}
	store, err := stores.OpenToRead(ctx, c, set.Store)
	if err != nil {
		return nil, judging.Past{}, closing, err
	}
	accepted := baseline.Filter{States: []baseline.State{baseline.Accepted, baseline.Rebaselined}, Limit: f.limit}
	sound := baseline.SoundOf(store)
	for e, err := range sound.List(ctx, accepted) {
		if err != nil {
			return nil, judging.Past{}, store.Close, stores.Error(err)
		}
		full, err := store.Get(ctx, e.Run.ID)
		if errors.Is(err, baseline.ErrDamaged) {
			sound.PassOver(e.Run.ID, err)
			continue
		}
		if err != nil {
			return nil, judging.Past{}, store.Close, stores.Error(err)
		}
		runs = append(runs, full.Run)
	}
	return runs, judging.OfStore(ctx, sound, set, judging.Lineage{}), store.Close, nil
}

func measureNoise(runs []run.Run, before judging.Past, set settings.Settings) (Noise, error) {
	out := Noise{Format: "apkgate.noise/1", Scenarios: []ScenarioNoise{}}
	runs = slices.DeleteFunc(slices.Clone(runs), func(r run.Run) bool { return r.Status != run.Complete }) // a file may hold such
	verdicts := make([]gate.RunVerdict, len(runs))
	err := before.Each(runs, set, func(i int, refs []run.Summary) error {
		verdicts[i] = history.Check(set.Policy, set.Catalogue, []history.Subject{{Run: runs[i], References: refs}}).Runs[0]
		return nil
	})
	if err != nil {
		return out, err
	}
	at := map[[2]string]int{}
	for place, r := range runs {
		key := [2]string{r.App.Package, r.Scenario}
		i, known := at[key]
		if !known {
			i = len(out.Scenarios)
			at[key] = i
			out.Scenarios = append(out.Scenarios, ScenarioNoise{Package: r.App.Package, Scenario: r.Scenario, Alarms: []FalseAlarm{}})
		}
		out.Scenarios[i].add(verdicts[place])
	}
	slices.SortFunc(out.Scenarios, func(a, b ScenarioNoise) int {
		return strings.Compare(a.Package+"\x00"+a.Scenario, b.Package+"\x00"+b.Scenario)
	})
	return out, nil
}

func (s *ScenarioNoise) add(v gate.RunVerdict) {
	s.Runs++
	switch v.Verdict {
	case gate.Regression:
		s.Regressions++
		s.Alarms = append(s.Alarms, FalseAlarm{v.ID, v.Reason})
	case gate.Inconclusive:
		s.Inconclusive++
	case gate.Improvement:
		s.Improvements++
	}
}

func showNoise(c console.Console, noise Noise) error {
	if len(noise.Scenarios) == 0 {
		fmt.Fprintln(c.Stdout, "there is no accepted run")
		return nil
	}
	table := console.NewTable(c.Stdout, "app", "scenario", "accepted runs", "would fail", "inconclusive", "improvement")
	for _, s := range noise.Scenarios {
		share := func(n int) string { return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(s.Runs)) }
		if err := table.Append(console.Plain(s.Package), console.Plain(s.Scenario), s.Runs, share(s.Regressions), share(s.Inconclusive), share(s.Improvements)); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	if slices.ContainsFunc(noise.Scenarios, func(s ScenarioNoise) bool { return 2*s.Inconclusive > s.Runs }) {
		fmt.Fprintln(c.Stdout, "Mostly inconclusive: the history has too few runs in like contexts to tell a change from noise.")
	}
	const listed = 10
	for _, s := range noise.Scenarios {
		for i, a := range s.Alarms {
			if i == listed {
				fmt.Fprintf(c.Stdout, "… and %d more of %s\n", len(s.Alarms)-listed, console.Plain(s.Scenario))
				break
			}
			fmt.Fprintf(c.Stdout, "%s %s: %s\n", console.Plain(s.Scenario), console.Plain(a.ID), console.Plain(a.Reason))
		}
	}
	return nil
}
