package demo

import (
	"context"
	"fmt"
	"os"

	"github.com/apkgate/apkgate/cli/measure"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/settings"
)

const energyConfig = `# Of apkgate demo: two simulated phones that tell their power, one by its power
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

// rounds is how often the demo measures each build's energy.
const rounds = 10

// sideBySide measures both builds alternately and shows where the energy went.
func (d demo) sideBySide(ctx context.Context) error {
	if err := os.WriteFile(d.path(energyFile), []byte(energyConfig), 0o644); err != nil {
		return exit.Infrastructure(fmt.Errorf("write the demo's configuration: %w", err))
	}
	fmt.Fprintf(d.Stdout, "\n5. Energy: both builds alternately on two phones, %d rounds, methods sampled\n", rounds)
	pair, err := measure.Both(ctx, d.Console, d.path(energyFile), measure.Builds{
		Rounds: rounds, Session: "demo", Base: d.path(goodBuild + ".apk"), Head: d.path(worseBuild + ".apk"),
	})
	if err != nil {
		return err
	}
	policy, _ := gate.PolicyOf(gate.PresetDefault)
	policy.Metrics = []string{"energy.total_j"}
	in, err := judging.Compare(pair.Base, pair.Head, settings.Settings{Policy: policy, Catalogue: metric.Default()})
	if err != nil {
		return err
	}
	answer := layout.Comparison(in)
	fmt.Fprintln(d.Stdout)
	if err := output.Write(d.Console, answer.Brief(), output.Text()); err != nil {
		return err
	}
	return output.WriteFiles(d.Console, answer, output.Text().To(output.FormatHTML, d.path(energyReport)))
}

const energyReport = "energy.html"

// oneProfile is one of the profiles that the comparison leaves.
const oneProfile = "energy/read-mail_pixel-7-android-14_wifi_head.pb.gz"
