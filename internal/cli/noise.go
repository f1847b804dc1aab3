package cli

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
	"github.com/apkgate/apkgate/run"
)

type noiseFlags struct {
	configFlags
	policyFlags
	history []string
	limit   int
	format  string
}

func (c Command) noiseVerb() *cobra.Command {
	var f noiseFlags
	cmd := &cobra.Command{
		Use:   "noise",
		Short: "How often would this gate have been wrong on what was accepted?",
		Long: `Checks each accepted run against all the others, as if it were new. Since they
were accepted, every regression that is called is a false alarm, or a bad run that
was accepted by mistake: look at the ones it names.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.noise(cmd, f) },
	}
	f.configFlags.register(cmd)
	f.policyFlags.registerJudging(cmd)
	cmd.Flags().StringArrayVar(&f.history, "history", nil, "a file of accepted runs instead of the store; may be repeated")
	cmd.Flags().IntVar(&f.limit, "limit", 500, "check at most so many of the newest runs")
	cmd.Flags().StringVar(&f.format, "format", string(FormatText), "what to print: text or json")
	return cmd
}

// Noise is what the noise verb found (docs/format/noise.md).
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

func (c Command) noise(cmd *cobra.Command, f noiseFlags) error {
	format := Format(f.format)
	if err := oneOf("format", format, []Format{FormatText, FormatJSON}); err != nil {
		return err
	}
	if f.limit < 1 {
		return usage(fmt.Errorf("--limit is %d, want 1 or more", f.limit), "")
	}
	set, err := c.settings(cmd, f.configFlags, f.policyFlags)
	if err != nil {
		return err
	}
	runs, before, closing, err := c.acceptedRuns(cmd.Context(), f, set)
	if err != nil {
		return err
	}
	noise, err := measureNoise(runs, before, set)
	if err = errors.Join(err, closing()); err != nil {
		return err
	}
	noise.Warnings = damageWarnings(before.sound)
	return errors.Join(c.writeNoise(noise, format), c.damageOf(before.sound))
}

func (c Command) writeNoise(noise Noise, format Format) error {
	if format == FormatJSON {
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(noise)
	}
	return c.showNoise(noise)
}

// acceptedRuns are the newest accepted runs, and what each is compared with.
func (c Command) acceptedRuns(ctx context.Context, f noiseFlags, set settings) (runs []run.Run, before past, closing func() error, err error) {
	closing = func() error { return nil }
	if len(f.history) > 0 {
		files, err := c.readHistory(f.history, importFlags{}, set, f.limit)
		if err != nil {
			return nil, past{}, closing, err
		}
		return files.last(f.limit), files.past(set), closing, nil
	}
	store, err := c.openToRead(ctx, set.store)
	if err != nil {
		return nil, past{}, closing, err
	}
	accepted := baseline.Filter{States: []baseline.State{baseline.Accepted, baseline.Rebaselined}, Limit: f.limit}
	sound := baseline.SoundOf(store)
	for e, err := range sound.List(ctx, accepted) {
		if err != nil {
			return nil, past{}, store.Close, storeError(err)
		}
		full, err := store.Get(ctx, e.Run.ID)
		if errors.Is(err, baseline.ErrDamaged) {
			sound.PassOver(e.Run.ID, err)
			continue
		}
		if err != nil {
			return nil, past{}, store.Close, storeError(err)
		}
		runs = append(runs, full.Run)
	}
	return runs, pastOf(ctx, sound, set), store.Close, nil
}

func measureNoise(runs []run.Run, before past, set settings) (Noise, error) {
	out := Noise{Format: "apkgate.noise/1", Scenarios: []ScenarioNoise{}}
	catalogue, err := run.Catalogue(set.catalogue, runs...)
	if err != nil {
		return out, usage(err, "")
	}
	runs = slices.DeleteFunc(slices.Clone(runs), func(r run.Run) bool { return r.Status != run.Complete }) // a file may hold such
	verdicts := make([]gate.RunVerdict, len(runs))
	err = before.each(runs, set, func(i int, refs []run.Summary) error {
		verdicts[i] = history.Check(set.policy, catalogue, []history.Subject{{Run: runs[i], References: refs}}).Runs[0]
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

func (c Command) showNoise(noise Noise) error {
	if len(noise.Scenarios) == 0 {
		fmt.Fprintln(c.Stdout, "there is no accepted run")
		return nil
	}
	table := newTable(c.Stdout, "app", "scenario", "accepted runs", "would fail", "inconclusive", "improvement")
	for _, s := range noise.Scenarios {
		share := func(n int) string { return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(s.Runs)) }
		if err := table.Append(plain(s.Package), plain(s.Scenario), s.Runs, share(s.Regressions), share(s.Inconclusive), share(s.Improvements)); err != nil {
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
				fmt.Fprintf(c.Stdout, "… and %d more of %s\n", len(s.Alarms)-listed, plain(s.Scenario))
				break
			}
			fmt.Fprintf(c.Stdout, "%s %s: %s\n", plain(s.Scenario), plain(a.ID), plain(a.Reason))
		}
	}
	return nil
}
