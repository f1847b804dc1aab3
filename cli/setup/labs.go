package setup

import (
	"context"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/app/booted"
	"github.com/apkgate/apkgate/app/exit"
	"github.com/apkgate/apkgate/app/terminal"
	"github.com/apkgate/apkgate/config"
)

// checkLabs prints of each lab that the configuration has a device of whether it can boot
// one here, and returns those that can't.
func checkLabs(ctx context.Context, c terminal.Console, cfg *config.Config) (cannot []string) {
	labs := booted.Labs(c)
	var kinds []string
	for _, d := range cfg.Devices {
		if kind := booted.SpecOf("", d).Kind; kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for _, kind := range kinds {
		if !showAll(c, "lab "+kind, "can boot devices", "can NOT boot devices", "", labs[kind].Check(ctx)) {
			cannot = append(cannot, kind)
		}
	}
	return cannot
}

// checkFarm prints whether the configuration's farm can be used from here.
func checkFarm(ctx context.Context, c terminal.Console, cfg config.Farm) error {
	farm, devices := booted.Farm(c, cfg)
	if !showAll(c, "farm "+farm.Kind(), "can be used", "can NOT be used", "", farm.Check(ctx, devices)) {
		return exit.Infrastructure(fmt.Errorf("%s can't be used from here", farm.Title()))
	}
	return nil
}
