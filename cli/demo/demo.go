// Package demo implements the command apkgate demo: the whole workflow on simulated devices, in
// seconds.
//
// It simulates nothing itself, and what it shows is produced by the same code that drives real
// devices and judges their runs.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/explanation"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Command returns apkgate demo.
func Command(c terminal.Console) *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "The whole job on simulated devices, in seconds",
		Long: `Builds a history of an app on 12 simulated phones over 2 networks, measures a
worse build of it on five phones with a newer Android, gates it, and records why it
is slow; then measures the energy of both builds alternately, down to methods; and
leaves a report of each. Nothing but apkgate is needed. The devices are simulated; everything else is the code that
drives real ones.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return perform(cmd.Context(), c, keep) },
	}
	cmd.Flags().StringVar(&keep, "keep", "", "leave the configuration, the history and the runs in this folder, to play with")
	return cmd
}

// perform does what a team would do: accept the good build's runs, then run the gate on the worse
// one.
func perform(ctx context.Context, c terminal.Console, keep string) error {
	began := c.Now()
	dir, err := folder(keep)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "apkgate demo: every device here is SIMULATED; the code that drives them is not.\n\n")
	d := demo{Console: c, dir: dir}
	if err := d.writeApps(); err != nil {
		return exit.Infrastructure(err)
	}
	store, err := openstore.Open(ctx, c, filepath.Join(dir, "history.db"))
	if err != nil {
		return err
	}
	err = d.play(ctx, store)
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	d.farewell(keep, c.Now().Sub(began))
	return nil
}

// folder creates a new folder for what the demo leaves.
func folder(keep string) (string, error) {
	if keep == "" {
		dir, err := os.MkdirTemp("", "apkgate-demo-")
		return dir, exit.InfrastructureIf(err)
	}
	if entries, err := os.ReadDir(keep); err == nil && len(entries) > 0 {
		return "", exit.Usage(fmt.Errorf("--keep %s: the folder is not empty", keep), "name a new one")
	}
	if err := os.MkdirAll(keep, 0o755); err != nil {
		return "", exit.Usage(fmt.Errorf("--keep: %w", err), "")
	}
	return keep, nil
}

// demo is a running demo in its folder.
type demo struct {
	terminal.Console
	dir string
}

const (
	goodBuild  = "mail-good"
	worseBuild = "mail-worse"
	testOfBoth = "demo-test"
)

func (d demo) path(name string) string { return filepath.Join(d.dir, name) }

func (d demo) writeApps() error {
	for _, name := range []string{goodBuild, worseBuild, testOfBoth} {
		text, err := simapp.Open(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(d.path(name+".apk"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// config writes a configuration for a build on the devices of a lab, and reads it as any user's.
// base is a build to measure alternately with, "" for none.
func (d demo) config(file, build, base, lab string, networks ...string) (*config.Config, error) {
	profiles, err := profile.Lab(lab)
	if err != nil {
		return nil, exit.Infrastructure(err)
	}
	var b strings.Builder
	if base != "" {
		base = "\n# What the history does not clear is measured alternately with this build.\nbase: " + base + ".apk\n"
	}
	fmt.Fprintf(&b, labConfig, build, base, strings.Join(networks, ", "))
	for _, p := range profiles {
		fmt.Fprintf(&b, "  - simulated: %s\n", p.Name)
	}
	if err := os.WriteFile(d.path(file), []byte(b.String()), 0o644); err != nil {
		return nil, exit.Infrastructure(fmt.Errorf("write the demo's configuration: %w", err))
	}
	return settings.LoadConfig(d.path(file), false)
}

const labConfig = `# Of apkgate demo: every device in it is simulated. apkgate init writes one with
# each choice explained.
app:
  package: com.example.demo
  apk: %s.apk
  test-apk: demo-test.apk

scenarios:
  - name: read-mail
    workload:
      instrumentation:
        test-package: com.example.demo.test
        class: com.example.demo.ReadMailTest#readsMail
    repetitions: 5
    timeout: 1m
%s
store:
  sqlite: history.db
report:
  html: report.html

networks: [%s]
devices:
`

func (d demo) play(ctx context.Context, store runstore.Store) error {
	good, err := d.config("main-branch.yml", goodBuild, "", "today-lab", "wifi", "3g")
	if err != nil {
		return err
	}
	fmt.Fprintf(d.Stdout, "1. History: build 1.4.0 on %d phones × 2 networks, %d repetitions each\n", len(good.Devices), good.Scenarios[0].Repetitions)
	if err := d.history(ctx, good, store); err != nil {
		return err
	}
	worse, err := d.config(config.FileName, worseBuild, goodBuild, "today-upgraded", "wifi")
	if err != nil {
		return err
	}
	fmt.Fprintf(d.Stdout, "2. Pull request: build 1.5.0 on %d phones upgraded to Android 15 and 16\n", len(worse.Devices))
	if err := d.pullRequest(ctx, worse, store); err != nil {
		return err
	}
	return d.sideBySide(ctx)
}

func (d demo) history(ctx context.Context, cfg *config.Config, store runstore.Store) error {
	results, err := d.measured(ctx, cfg, "history.jsonl")
	if err != nil {
		return err
	}
	_, err = runstore.Import(ctx, store, measurement.RunsOf(results), &runstore.Mark{State: runstore.Accepted, Note: "demo"}, nil)
	return exit.InfrastructureIf(err)
}

// measured makes the runs of a configuration and writes them to a file.
func (d demo) measured(ctx context.Context, cfg *config.Config, file string) ([]collect.Result, error) {
	results, err := measurement.Measure(ctx, d.Console, cfg, measurement.CollectFlags{}, nil)
	if err == nil {
		err = measurement.LossOf(results)
	}
	if err == nil {
		err = exit.InfrastructureIf(atomicfile.Write(d.path(file), measurement.JSONLines(results)))
	}
	return results, err
}

func (d demo) pullRequest(ctx context.Context, cfg *config.Config, store runstore.Store) error {
	results, err := d.measured(ctx, cfg, "pull-request.jsonl")
	if err != nil {
		return err
	}
	policy, _ := gate.PolicyOf(gate.PresetDefault)
	set := settings.Settings{Policy: policy, Catalogue: metric.Default()}
	s := interleaved.Settler{
		Console: d.Console, Config: cfg, Set: set, Flags: measurement.CollectFlags{Session: "pull-request"},
		Judge: func(runs []run.Run) (layout.Input, error) {
			return judging.Judge(runs, judging.OfStore(ctx, runstore.SoundOf(store), set, judging.Lineage{}), set)
		},
	}
	if s.Base, err = interleaved.Named(d.Console, cfg, "", ""); err != nil {
		return err
	}
	measured := measurement.Measured{Runs: measurement.MeasuredRuns(results)}
	for i := range results {
		measured.Places = append(measured.Places, i)
	}
	in, err := s.Judge(measured.Runs)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.Stdout, "3. The gate: these phones are new to the history, so that the new build is measured alternately with 1.4.0\n\n")
	if in, err = s.Settle(ctx, in, measured); err != nil {
		return err
	}
	fmt.Fprintf(d.Stdout, "4. Why: the main thread, processors and waits of both builds, recorded\n")
	in = d.explained(ctx, s, in, measured)
	fmt.Fprintln(d.Stdout)
	f := output.Text().To(output.FormatHTML, cfg.Report.HTML).To(output.FormatJSON, d.path("verdict.json"))
	return output.Write(d.Console, layout.Verdict(in), f)
}

// whyWithin is how long recording may take.
const whyWithin = 5 * time.Minute

// explained records a few more rounds of both builds.
func (d demo) explained(ctx context.Context, s interleaved.Settler, in layout.Input, m measurement.Measured) layout.Input {
	r := explanation.Recorder{
		Console: d.Console, Config: s.Config, Base: s.Base.APK, BaseFrom: s.Base.Source, Session: s.Flags.Session, Within: whyWithin,
	}
	in, _ = r.Verdict(ctx, in, explanation.UnitsOf(s.Config, m, in.Verdict)) // failures are reported
	in.Why = explanation.Next(judging.RegressedIn(in), "")
	return in
}

func (d demo) farewell(keep string, took time.Duration) {
	fmt.Fprintf(d.Stdout, "\nThat took %.1f s. A gate on a pull request would now have failed (exit status 1).\n", took.Seconds())
	fmt.Fprintf(d.Stdout, "The reports with their pictures: %s, and of the energy %s\n", d.path("report.html"), d.path(energyReport))
	if keep != "" {
		fmt.Fprintf(d.Stdout, `
To play with what is in %s:
  cd %s
  apkgate run                                   # measure and gate the worse build again
  apkgate check --run pull-request.jsonl --min-support 0.03 --format markdown
  apkgate baseline list --where model="Pixel 7"
  apkgate noise
  apkgate compare --config %s --base %s.apk --head %s.apk
  go tool pprof -http=: %s
`, keep, device.Quote(keep), energyFile, goodBuild, worseBuild, oneProfile)
	}
	if _, err := exec.LookPath("apkgate"); err != nil {
		fmt.Fprint(d.Stdout, "\nThe shell finds no apkgate yet: go install ./cmd/apkgate puts it into $(go env GOPATH)/bin.\n")
	}
	fmt.Fprint(d.Stdout, `
With a real device or emulator (adb devices shows it):
  apkgate init --package your.app --apk path/to/app.apk
  apkgate doctor
  apkgate run
`)
}
