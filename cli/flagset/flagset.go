// Package flagset defines the flags that several commands share: it writes their values into the
// structs of the packages in usecase, which check them.
package flagset

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/explanation"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/replay"
	"github.com/apkgate/apkgate/usecase/session"
	"github.com/apkgate/apkgate/usecase/settings"
)

// Collect defines the flags of measuring commands.
func Collect(cmd *cobra.Command, f *measurement.CollectFlags) {
	cmd.Flags().StringVar(&f.APK, "apk", "", "the APK to measure, or a folder or .apks of its parts, instead of the configuration's")
	cmd.Flags().StringVar(&f.Version, "app-version", "", "the version to note, instead of what the device says")
	cmd.Flags().StringVar(&f.Commit, "commit", "", "the commit the app was built from (default: GITHUB_SHA)")
	cmd.Flags().StringVar(&f.Ref, "ref", "", "the branch or tag of the commit (default: GITHUB_REF)")
	cmd.Flags().StringVar(&f.Session, "session", "", "the name of the session: runs of one name were measured side by side")
	cmd.Flags().StringArrayVar(&f.Scenarios, "scenario", nil, "only this scenario; may be repeated")
	cmd.Flags().StringArrayVar(&f.Devices, "device", nil, "only this device, by its name, serial or address; may be repeated")
	cmd.Flags().IntVar(&f.Repetitions, "repetitions", 0, "how often each scenario is measured, instead of as it says")
	cmd.Flags().BoolVar(&f.OnFarm, "farm", false, "measure on the farm of the configuration, not on its devices (docs/farms.md)")
	cmd.Flags().IntVar(&f.Parallel, "parallel", 0, "how many devices work at the same time (0: all, but one of those that are booted on this computer)")
}

// Session defines the flags of every command that measures.
func Session(cmd *cobra.Command, f *session.Flags) {
	cmd.Flags().BoolVar(&f.Resume, "resume", false, "resume the newest unfinished measurement of this plan and build: complete runs are not measured again")
	cmd.Flags().StringArrayVar(&f.Merge, "merge", nil, "take the runs that shards have measured (apkgate collect --shard), from this file or the files of this folder, instead of measuring; may be repeated")
}

// DryRun defines the flag of commands that can show what they would measure.
func DryRun(cmd *cobra.Command, dry *bool) {
	cmd.Flags().BoolVar(dry, "dry-run", false, "show what would be measured, and use no device")
}

// Shard defines the flag of a command that can measure a share.
func Shard(cmd *cobra.Command, f *session.Flags) {
	cmd.Flags().StringVar(&f.Shard, "shard", "", "measure the k-th of n shares of the runs, as k/n, and leave it in --output for --merge")
}

// Replay defines the flag of commands that can measure from a recording.
func Replay(cmd *cobra.Command, f *replay.Flags) {
	cmd.Flags().StringVar(&f.Replay, "replay", "", "measure from this folder, which apkgate record-device made, in place of a device; with the configuration in it unless --config names another")
}

// Why defines the flag of commands that can explain a regression.
func Why(cmd *cobra.Command, f *explanation.Flags) {
	cmd.Flags().StringVar(&f.Why, "why", "", fmt.Sprintf("how long both builds are recorded at most, after a regression, to explain it, such as 10m; 0 records nothing (default: the configuration's evidence.why, %s)", prose.Duration(config.DefaultWhy)))
}

// Config defines the flags for the configuration and the history.
func Config(cmd *cobra.Command, f *settings.ConfigFlags) {
	cmd.Flags().StringVar(&f.Config, "config", "", "the configuration (default "+config.FileName+" where there is one)")
	cmd.Flags().StringVar(&f.Store, "store", "", "the history, instead of the configuration's: "+openstore.Forms())
}

// Policy defines the flags that override the configuration's gate.
func Policy(cmd *cobra.Command, f *settings.PolicyFlags) {
	Judging(cmd, f)
	cmd.Flags().StringVar(&f.FailOn, "fail-on", "", "exit with 1 from this outcome on: never, regression, inconclusive, or drift: from a regression on, and where baseline refresh finds one, from a creep (default: the configuration's, else regression)")
}

// Drift defines --fail-on for a command whose exit status is that of a drift.
func Drift(cmd *cobra.Command, f *settings.PolicyFlags) {
	cmd.Flags().StringVar(&f.FailOn, "fail-on", "", "drift: exit with 1 where an app's metric creeps for the worse; never: don't (default: drift where the configuration says so)")
}

// Judging leaves out --fail-on, for a command whose exit status is not that of a verdict.
func Judging(cmd *cobra.Command, f *settings.PolicyFlags) {
	cmd.Flags().StringVar(&f.Preset, "preset", "", "the way of judging: default, or dune for the published technique (default: the configuration's)")
	cmd.Flags().Float64Var(&f.OutlierFactor, "outlier-factor", 0, "how many interquartile ranges beyond the quartiles a value may lie (default: the configuration's, else 1.5)")
	cmd.Flags().Float64Var(&f.MinSupport, "min-support", 0, "minimum support of a rule, as a share of all runs, accepted ones included (default: the configuration's, else 0.01 of the checked runs)")
	cmd.Flags().Float64Var(&f.MinConfidence, "min-confidence", 0, "minimum confidence of a rule (default: the configuration's, else 0.9)")
	cmd.Flags().StringVar(&f.Grain, "grain", "", "judge whole runs (coarse), UI events (fine), or both (default both; of the preset dune coarse, with the events that thresholds name)")
}

// Import defines the flags for what other tools' files lack.
func Import(cmd *cobra.Command, f *inputfiles.ImportFlags) {
	cmd.Flags().StringVar(&f.Pkg, "package", "", "the app, for files that don't name it")
	cmd.Flags().StringVar(&f.Scenario, "scenario", "", "the scenario, for files that don't name it")
	cmd.Flags().StringVar(&f.Version, "app-version", "", "the app's version, for files that don't name it")
	cmd.Flags().StringVar(&f.Commit, "commit", "", "the app's commit, for files that don't name it")
	cmd.Flags().StringVar(&f.Started, "started", "", "when it was measured, such as 2026-01-31 or 2026-01-31T22:00:00Z, for files that don't say")
	cmd.Flags().StringArrayVar(&f.Context, "context", nil, "a context property, NAME=VALUE, for files that don't name it; may be repeated")
}

// ResumeLine returns the command line that resumes a command, as it was called.
func ResumeLine(cmd *cobra.Command) string {
	line := strings.Fields(cmd.CommandPath())
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch list, several := f.Value.(pflag.SliceValue); {
		case f.Name == "resume":
		case several:
			for _, value := range list.GetSlice() {
				line = append(line, "--"+f.Name, value)
			}
		case f.Value.Type() == "bool":
			line = append(line, "--"+f.Name+"="+f.Value.String())
		case f.Name == "store":
			line = append(line, "--"+f.Name, openstore.Shown(f.Value.String()))
		default:
			line = append(line, "--"+f.Name, f.Value.String())
		}
	})
	return device.Quote(append(line, "--resume")...)
}
