package setup

import (
	"context"
	"slices"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/cli/booted"
	"github.com/apkgate/apkgate/internal/cli/console"
)

// checkLabs prints of each lab that the configuration has a device of whether it can boot
// one here, and returns those that can't.
func checkLabs(ctx context.Context, c console.Console, cfg *config.Config) (cannot []string) {
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
