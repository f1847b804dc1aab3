// Package demo implements the command apkgate demo: a week of a team's work on simulated devices, in
// seconds.
//
// It simulates nothing itself, and what it shows is produced by the same code that drives real
// devices and judges their runs.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Command returns apkgate demo.
func Command(c terminal.Console) *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "A team's week on simulated devices, in seconds",
		Long: `Measures the main branch of an app on four simulated phones and an emulator, with
Android 12 to 16, and gates three pull requests: one that is worse in one tap, with
the cause and its picture; one that is slower on purpose, and accepted with the
reason; and one that passes. Nothing but apkgate is needed: the devices and the app are
simulated, everything else is the code that drives real ones.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return perform(cmd.Context(), c, keep) },
	}
	cmd.Flags().StringVar(&keep, "keep", "", "leave the configuration, the history and the runs in this new folder")
	return cmd
}

// garbagePercent is Go's GOGC meanwhile: the simulated phones leave so much garbage that its default
// of 100 takes a tenth more processor time.
const garbagePercent = 200

func perform(ctx context.Context, c terminal.Console, keep string) error {
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	began := c.Now()
	dir, err := folder(keep)
	if err != nil {
		return err
	}
	d := demo{Console: c, dir: dir}
	if err := d.write(); err != nil {
		return exit.Infrastructure(err)
	}
	fmt.Fprintln(c.Stdout, "apkgate demo: the devices and the app are SIMULATED; what drives and judges them is not.")
	if d.store, err = openstore.Open(ctx, c, d.path(historyFile)); err != nil {
		return err
	}
	err = d.play(ctx)
	if err = errors.Join(err, d.store.Close()); err != nil {
		return err
	}
	d.farewell(keep != "", c.Now().Sub(began))
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

// devices are the profiles of the lab.
func devices() ([]profile.Profile, error) {
	var out []profile.Profile
	for _, name := range []string{
		"redmi-10c-android-12", "pixel-6a-android-13", "sdk-gphone64-x86-android-14", "pixel-7-android-15", "pixel-8-android-16",
	} {
		p, err := profile.Find(name)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// The builds, and the APK of their test.
const (
	mainBuild   = "mail-1.4.0"
	worseBuild  = "mail-1.5.0"
	slowerBuild = "mail-1.6.0"
	lastBuild   = "mail-1.6.1"
	testOfAll   = "demo-test"
)

// The files beside the builds.
const (
	historyFile = "history.db"
	energyFile  = "energy.yml"
)

func (d demo) path(name string) string { return filepath.Join(d.dir, name) }

// write writes the builds and the configurations.
func (d demo) write() error {
	files := map[string]string{config.FileName: gateConfig, energyFile: energyConfig}
	for _, name := range []string{mainBuild, worseBuild, slowerBuild, lastBuild, testOfAll} {
		text, err := simapp.Open(name)
		if err != nil {
			return err
		}
		files[name+".apk"] = string(text)
	}
	lab, err := devices()
	if err != nil {
		return err
	}
	for _, p := range lab {
		files[config.FileName] += fmt.Sprintf("  - simulated: %s\n", p.Name)
	}
	var failed error
	for name, text := range files {
		failed = cmp.Or(failed, os.WriteFile(d.path(name), []byte(text), 0o644))
	}
	return failed
}

const gateConfig = `# Of apkgate demo: every device in it is simulated. apkgate init writes one with
# each choice explained.
app:
  package: com.example.demo
  apk: mail-1.5.0.apk
  test-apk: demo-test.apk

# What the history leaves undecided is measured alternately with this build.
base: mail-1.4.0.apk

scenarios:
  - name: read-mail
    workload:
      instrumentation:
        test-package: com.example.demo.test
        class: com.example.demo.ReadMailTest#readsMail
    repetitions: 3
    warm-up: 0
    timeout: 1m

# What the frames waited for is recorded, and the trace with the worst frame of each run is kept.
evidence:
  keep: worst

store:
  sqlite: history.db
report:
  html: report.html

networks: [wifi]
devices:
`

const energyConfig = `# Of apkgate demo: a simulated phone that measures its power on its rails.
app:
  package: com.example.demo
  test-apk: demo-test.apk

scenarios:
  - name: read-mail
    workload:
      instrumentation:
        test-package: com.example.demo.test
        class: com.example.demo.ReadMailTest#readsMail
    timeout: 1m

energy:
  methods: true
  profiles: energy

gate:
  metrics: [energy.total_j]

devices:
  - simulated: pixel-7-android-14
`
