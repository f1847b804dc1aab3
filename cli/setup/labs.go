package setup

import (
	"context"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/labs"
)

// checkLabs shows for each lab in the configuration whether it can boot a device here, and returns
// those that can't.
func checkLabs(ctx context.Context, a *answer, cfg *config.Config) (cannot []string) {
	known := labs.All(a.Console)
	var kinds []string
	for _, d := range cfg.Devices {
		if kind := labs.SpecOf("", d).Kind; kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for _, kind := range kinds {
		if !a.show("lab "+kind, "", known[kind].Check(ctx)) {
			cannot = append(cannot, kind)
		}
	}
	return cannot
}

// checkFarm shows whether the configuration's farm can be used from here.
func checkFarm(ctx context.Context, a *answer, cfg config.Farm) error {
	farm, devices := labs.Farm(a.Console, cfg)
	if !a.show("farm "+farm.Kind(), "", farm.Check(ctx, devices)) {
		return exit.Infrastructure(fmt.Errorf("%s can't be used from here", farm.Title()))
	}
	return nil
}
