package energy

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/batterystats"
)

var (
	// ErrNoEstimate is returned if batterystats has no estimate.
	ErrNoEstimate = errors.New("batterystats holds no estimate")
	// ErrContradicted is returned if batterystats contradicts its own estimate.
	ErrContradicted = errors.New("batterystats contradicts its estimate")
)

// OfPlatform returns the platform's own estimate of the energy, of the device and of one UID: the
// charge in mAh in batterystats, at the voltage of the battery's history. The time of its use is
// unknown, so it is spread evenly over the interval.
func OfPlatform(d batterystats.Dump, uid int, from, to time.Duration) (Estimate, error) {
	p := d.Main()
	if p == nil {
		return Estimate{}, fmt.Errorf("take the platform's estimate: %w", ErrNoEstimate)
	}
	total, doubts := d.Energy(p)
	if total == nil {
		err, why := ErrNoEstimate, "no computed drain is stated"
		if len(doubts) > 0 {
			why = strings.Join(doubts, "; ")
		}
		if d.Contradicted(p) {
			err = ErrContradicted
		}
		return Estimate{}, fmt.Errorf("take the platform's estimate: %w: %s", err, why)
	}
	joules := func(mah float64) float64 { return mah * joulesPerMAhVolt * total.VoltageMV / 1000 }
	e := Estimate{TotalJ: total.Joules, Curve: Even(total.Joules, from, to)}
	for _, doubt := range doubts {
		e.Warnings = append(e.Warnings, run.Warning{Text: doubt})
	}
	device := map[string]float64{}
	wholeDevice := false // since Android 12: each component with the apps' part
	for _, c := range p.Components {
		wholeDevice = wholeDevice || c.Name == PartCPU
		if c.Name != "overcounted" && c.Name != "unaccounted" {
			device[c.Name] += joules(c.PowerMAh)
		}
	}
	for _, u := range p.UIDs {
		if !wholeDevice {
			device["apps"] += joules(u.Stated["power_mah"])
		}
		if u.UID == uid {
			e.App, e.AppJ = platformApp(u, wholeDevice, joules)
		}
	}
	e.Device = Components(device)
	e.AppCurve = Even(e.AppJ, from, to)
	if e.AppJ == 0 {
		e.Warnings = append(e.Warnings, run.Warning{Text: "the platform estimates no energy for the app: the run may be too short"})
	}
	return e, nil
}

// platformApp returns the estimate for one UID without its share of the screen, which Android
// includes since version 12 and which is attributed to the device here.
func platformApp(u *batterystats.UID, withScreen bool, joules func(mah float64) float64) ([]run.Component, float64) {
	total := joules(u.Stated["power_mah"])
	parts := map[string]float64{}
	for name, mah := range u.PartsMAh {
		parts[name] = joules(mah)
	}
	screen, split := parts[PartScreen]
	if !split && withScreen {
		screen = joules(u.Stated["power_screen_mah"])
	}
	delete(parts, PartScreen)
	return Components(parts), max(total-screen, 0)
}
