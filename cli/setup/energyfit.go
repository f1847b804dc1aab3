package setup

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// connectedTo matches the chargers in dumpsys battery.
var connectedTo = regexp.MustCompile(`(?m)^\s*(AC|USB|Wireless|Dock) powered: true`)

// energyFit reports what a device lacks for the configured energy: it must not charge while its
// battery is measured, and it needs a sampler for methods.
func energyFit(ctx context.Context, d device.Device, e *config.Energy) ([]device.Finding, error) {
	if !e.Measured() {
		return nil, nil
	}
	out, err := d.Exec(ctx, "dumpsys battery")
	if err != nil {
		return nil, fmt.Errorf("ask what the device is powered by: %w", err)
	}
	findings := []device.Finding{chargerFinding(string(out.Stdout), e.Source)}
	if !e.Methods {
		return findings, nil
	}
	out, err = d.Exec(ctx, "simpleperf --version || /data/local/tmp/simpleperf --version")
	if err != nil {
		return nil, fmt.Errorf("look for simpleperf: %w", err)
	}
	sampler := device.Finding{Name: "simpleperf", OK: true, Detail: "methods can be sampled"}
	if out.ExitCode != 0 {
		sampler.Detail = "the device has none: its joules are measured, but not those of methods"
		sampler.Hint = "Android 9 and later have it; for an older one push it out of the NDK to /data/local/tmp/simpleperf"
	}
	return append(findings, sampler), nil
}

// chargerFinding is unfit only if the battery has to be the source.
func chargerFinding(dump, source string) device.Finding {
	f := device.Finding{Name: "charger", OK: true, Detail: "none is connected"}
	var by []string
	for _, m := range connectedTo.FindAllStringSubmatch(dump, -1) {
		by = append(by, m[1])
	}
	if len(by) == 0 {
		return f
	}
	f.Detail = strings.Join(by, " and ") + " is connected"
	switch source {
	case config.EnergyBattery:
		f.OK, f.Hint = false, "unplug the device and use wireless adb: its battery can't be measured while it charges"
	case config.EnergyAuto:
		f.Detail += ": energy is measured by the power rails of a phone that has them, else modelled"
	}
	return f
}
