package measure

import (
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// showPlan prints the runs that a configuration makes, without a device.
func showPlan(c terminal.Console, cfg *config.Config, onFarm bool) error {
	if onFarm {
		return exit.Usage(errors.New("--dry-run shows what is measured on devices, and --farm measures on none of them"), "apkgate doctor looks at the farm, and run --farm says what it can cost before it starts")
	}
	scenarios := map[string]config.Scenario{}
	for _, s := range cfg.Scenarios {
		scenarios[s.Name] = s
	}
	units := measurement.Units(cfg)
	table := terminal.NewTable(c, "scenario", "device", "network", "warm-up", "repetitions", "about")
	var total time.Duration
	for _, u := range units {
		device, network := "the one that adb sees", "as it is"
		if u.Profile != "" {
			device = terminal.Plain(u.Profile)
		}
		if u.Network != "" {
			network = u.Network
		}
		s := scenarios[u.Scenario]
		total += u.Cost
		if err := table.Append(terminal.Plain(u.Scenario), device, network, s.WarmUp, s.Repetitions, prose.Duration(u.Cost.Round(time.Minute))); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.Stdout, "%s, about %s one after another; nothing was measured\n", prose.Count(len(units), "run", "runs"), prose.Duration(total.Round(time.Minute)))
	return err
}
