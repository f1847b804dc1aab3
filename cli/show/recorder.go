package show

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// recorderFlags are those of noise --recorder.
type recorderFlags struct {
	recorder  string
	rounds    int
	scenarios []string
}

// DefaultRecorderRounds is how often either side is measured: as often as compare measures a build.
const DefaultRecorderRounds = 14

func (f *recorderFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.recorder, "recorder", "", "measure what recording calls costs instead: the same build with and without "+config.MethodsLong+", "+config.MethodsSamples+" or "+config.MethodsCalls)
	cmd.Flags().IntVar(&f.rounds, "rounds", DefaultRecorderRounds, "with --recorder: how often each is measured on each device")
	cmd.Flags().StringArrayVar(&f.scenarios, "scenario", nil, "with --recorder: only this scenario; may be repeated")
}

// RecorderCosts is the output of noise --recorder (docs/format/noise.md).
type RecorderCosts struct {
	Format   string         `json:"format"`
	Recorder string         `json:"recorder"`
	Rounds   int            `json:"rounds"`
	Costs    []RecorderCost `json:"costs"`
}

// RecorderCost is what recording does to one metric of a scenario.
type RecorderCost struct {
	Scenario string `json:"scenario"`
	Metric   string `json:"metric"`
	// Without is the median without the recorder, in the metric's unit. Change is the shift by the
	// recorder as a share of it, with its interval; both ends are absent where there is none.
	Without    float64  `json:"without"`
	Change     float64  `json:"change"`
	ChangeLow  *float64 `json:"change_low,omitempty"`
	ChangeHigh *float64 `json:"change_high,omitempty"`
	// Limit is the worsening that must not be overlooked (gate.min-effect).
	Limit float64 `json:"limit"`
	// Verdict is one of the words below.
	Verdict RecorderVerdict `json:"verdict"`
}

// RecorderVerdict is whether a metric can be judged in recorded runs.
type RecorderVerdict string

// The verdicts.
const (
	NoCost   RecorderVerdict = "none"     // no worsening is shown, and one of the limit is excluded
	SomeCost RecorderVerdict = "some"     // a worsening is shown, and one of the limit is excluded
	TooMuch  RecorderVerdict = "too-much" // a worsening of the limit is not excluded: not to be judged in recorded runs
	Unclear  RecorderVerdict = "unclear"  // there were too few rounds for an interval
)

// recorderCost measures the same build with and without a recorder, in drawn order (Hubble, OSDI
// 2022, section 4.1, phase 1).
func recorderCost(c terminal.Console, cmd *cobra.Command, f noiseFlags, format output.Format) error {
	if !slices.Contains([]string{config.MethodsLong, config.MethodsSamples, config.MethodsCalls}, f.recorder) {
		return exit.BadValue("recorder", f.recorder, []string{config.MethodsLong, config.MethodsSamples, config.MethodsCalls})
	}
	if f.rounds < 2 || f.rounds > 1000 {
		return exit.Usage(fmt.Errorf("--rounds is %d, want 2 to 1000", f.rounds), "")
	}
	set, err := settings.Read(cmd.Flags().Changed, f.ConfigFlags, f.PolicyFlags)
	if err != nil {
		return err
	}
	cfg, err := settings.LoadConfig(f.ConfigFlags.File(), false)
	if err != nil {
		return err
	}
	if err := measurement.OnlyScenarios(cfg, f.scenarios); err != nil {
		return err
	}
	if cfg.App.APK == "" {
		return exit.Usage(errors.New("what a recorder costs is measured on a build: app.apk names none"), "")
	}
	if !cfg.Evidence.Keeps() {
		cfg.Evidence.Keep = config.KeepWorst // of both: what a trace costs is no part of it
	}
	base, head, err := measurement.Interleave(cmd.Context(), c, cfg, measurement.InTurns{
		Base: cfg.App.APK, Head: cfg.App.APK, Rounds: f.rounds, Reads: true, Recorder: f.recorder,
		Session: "recorder " + c.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
	})
	if err != nil {
		return err
	}
	if err := errors.Join(measurement.LossOf(head), measurement.LossOf(base)); err != nil {
		return err
	}
	in, err := judging.Compare(measurement.MeasuredRuns(base), measurement.MeasuredRuns(head), set)
	if err != nil {
		return err
	}
	out := RecorderCosts{Format: "apkgate.recorder/1", Recorder: f.recorder, Rounds: f.rounds, Costs: costsOf(in.Verdict, in.Catalogue, set.Policy.MinEffect)}
	if format == output.FormatJSON {
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(out)
	}
	return out.show(c)
}

// costsOf returns what the recorder does to each metric of whole runs.
func costsOf(v sidebyside.Verdict, catalogue *metric.Catalogue, limit float64) (out []RecorderCost) {
	for _, s := range v.Scenarios {
		for _, one := range s.Comparisons {
			m, known := catalogue.Lookup(one.Metric)
			if one.Event != "" || !known || one.Base == 0 || m.Direction != metric.LowerIsBetter && m.Direction != metric.HigherIsBetter {
				continue
			}
			cost := RecorderCost{Scenario: s.Scenario, Metric: one.Metric, Without: one.Base, Change: one.Change, ChangeLow: one.ChangeLow, ChangeHigh: one.ChangeHigh, Limit: limit}
			cost.Verdict = cost.judge(m.Direction == metric.HigherIsBetter)
			out = append(out, cost)
		}
	}
	return out
}

// judge says whether the metric can be judged in recorded runs.
func (r RecorderCost) judge(higherIsBetter bool) RecorderVerdict {
	if r.ChangeLow == nil || r.ChangeHigh == nil {
		return Unclear
	}
	least, most := *r.ChangeLow, *r.ChangeHigh // of the worsening
	if higherIsBetter {
		least, most = -most, -least
	}
	switch {
	case most >= r.Limit:
		return TooMuch
	case least > 0:
		return SomeCost
	}
	return NoCost
}

// costWords are the verdicts in words.
var costWords = map[RecorderVerdict]string{
	NoCost: "no cost is shown", SomeCost: "costs, less than gate.min-effect", TooMuch: "not to be judged in recorded runs", Unclear: "too few rounds",
}

func (r RecorderCosts) show(c terminal.Console) error {
	fmt.Fprintf(c.Stdout, "The same build without and with %s, %d rounds in drawn order\n", r.Recorder, r.Rounds)
	table := terminal.NewTable(c, "scenario", "metric", "without", "change by recording", "interval", "")
	ignored := []string{}
	for _, one := range r.Costs {
		interval := ""
		if one.ChangeLow != nil && one.ChangeHigh != nil {
			interval = fmt.Sprintf("%+.1f to %+.1f %%", 100**one.ChangeLow, 100**one.ChangeHigh)
		}
		if err := table.Append(terminal.Plain(one.Scenario), one.Metric, fmt.Sprintf("%.4g", one.Without), fmt.Sprintf("%+.1f %%", 100*one.Change), interval, costWords[one.Verdict]); err != nil {
			return err
		}
		if one.Verdict == TooMuch && !slices.Contains(ignored, one.Metric) {
			ignored = append(ignored, one.Metric)
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	if len(ignored) > 0 {
		fmt.Fprintf(c.Stdout, "A worsening by gate.min-effect (%.0f %%) is not excluded for some: don't judge them in runs that are recorded so.\n    gate:\n      thresholds:\n", 100*r.Costs[0].Limit)
		for _, name := range ignored {
			fmt.Fprintf(c.Stdout, "        - {metric: %s, ignore: true}\n", name)
		}
	}
	return nil
}
