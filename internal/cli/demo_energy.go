package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/layout"
)

const demoEnergyConfig = `# Of apkgate demo: two simulated phones that tell their power, one by its power
# rails and one by its battery.
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

devices:
  - simulated: pixel-7-android-14
  - simulated: pixel-5-android-11
`

// energyFile is the configuration of the demo's comparison.
const energyFile = "energy.yml"

// demoRounds is how often the demo measures each build's energy.
const demoRounds = 10

// sideBySide measures both builds in turns and tells where the energy went.
func (d demo) sideBySide(ctx context.Context) error {
	if err := os.WriteFile(d.path(energyFile), []byte(demoEnergyConfig), 0o644); err != nil {
		return infrastructure(fmt.Errorf("write the demo's configuration: %w", err))
	}
	fmt.Fprintf(d.Stdout, "\n4. Energy: both builds in turns, base, head, head, base, …, on two phones, %d rounds, methods sampled\n", demoRounds)
	base, head, err := d.measureBoth(ctx, compareFlags{
		configFlags: configFlags{config: d.path(energyFile)}, rounds: demoRounds,
		base: d.path(demoGood + ".apk"), head: d.path(demoWorse + ".apk"),
	})
	if err != nil {
		return err
	}
	policy, _ := gate.PolicyOf(gate.PresetDefault)
	policy.Metrics = []string{"energy.total_j"}
	verdict := sidebyside.Compare(policy, metric.Default(), base, head)
	in := layout.ABInput{
		Verdict: verdict, Energy: besideBase(base, head), Catalogue: metric.Default(),
		Notes: []string{simulatedNote}, Version: "apkgate " + version(),
	}
	sheet := layout.AB(in)
	fmt.Fprintln(d.Stdout)
	if err := sheet.Brief().Text(d.Stdout, layout.TextOptions{Color: d.color(), Width: d.Width}); err != nil {
		return infrastructure(fmt.Errorf("print the report: %w", err))
	}
	return infrastructureIf(writeFile(d.path(demoEnergyReport), func(w io.Writer) error { return sheet.HTML(w) }))
}

const demoEnergyReport = "energy.html"

// demoProfile is one of the profiles that the comparison leaves.
const demoProfile = "energy/read-mail_pixel-7-android-14_wifi_head.pb.gz"
