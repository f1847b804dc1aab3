package setup

import (
	"context"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
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
		if !showLab(c, kind, labs[kind].Check(ctx)) {
			cannot = append(cannot, kind)
		}
	}
	return cannot
}

// showLab prints what was found of a lab, and reports whether it can boot devices.
func showLab(c console.Console, kind string, findings []device.Finding) (can bool) {
	can = !slices.ContainsFunc(findings, func(f device.Finding) bool { return !f.OK })
	says := "can boot devices"
	if !can {
		says = "can NOT boot devices"
	}
	fmt.Fprintf(c.Stdout, "lab %s: %s\n", kind, says)
	for _, f := range findings {
		mark := "ok  "
		if !f.OK {
			mark = "BAD "
		}
		fmt.Fprintf(c.Stdout, "  %s %-12s %s\n", mark, f.Name, console.Plain(f.Detail))
		if f.Hint != "" {
			fmt.Fprintf(c.Stdout, "       %-12s hint: %s\n", "", f.Hint)
		}
	}
	return can
}
