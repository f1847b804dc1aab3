package energy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Rail is one power rail with the energy counted by its monitor.
type Rail struct {
	Name      string // the device's name of it: "S2M_VDD_CPUCL2"
	Subsystem string // "cpu_big"; "" if the device names none
	// Derived is set if another rail feeds this one, as a converter feeds a linear regulator
	// (perfetto.DerivedSupply).
	Derived bool
	Counts  []Count
}

// ErrNoRails is returned if the device has no power monitors, or if they counted nothing.
var ErrNoRails = errors.New("the device's power rails report nothing")

// RailPower is the power of the rails.
type RailPower struct {
	// Total is the sum of the rails that count. It is the energy that the monitors see: a device has
	// components without a monitor.
	Total   Curve
	Rails   []RailPart
	LeftOut []RailLeftOut
	// Update is the median time between two counts of a rail.
	Update time.Duration
}

// RailPart is one rail that counts towards the total.
type RailPart struct {
	Name, Subsystem string
	Curve           Curve
}

// RailLeftOut is one that does not count, and why.
type RailLeftOut struct{ Name, Why string }

// allRails matches the name of a rail through which all others are fed: VSYS_PWR_VBATT of the Pixel
// 9 and 10 is the battery itself.
var allRails = regexp.MustCompile(`(?i)^(power\.)?(PPVAR_)?(((VSYS|VPH)_(PWR_)?)?VBATT?|VSYS|VPH_PWR|BATTERY|TOTAL)(_uws)?$`)

// charge matches the name of a rail that charges the battery: its energy is used later.
var charge = regexp.MustCompile(`(?i)VBATT?_CHARGE(_uws)?$`)

// leastOfAll is the share of the single rails' sum that the rail which feeds them all must count at
// least.
const leastOfAll = 0.95

// fed matches the name of a rail that another feeds, as Pixels before the sixth write it:
// "WCN3998_VDD13 [from PP1304_L2C]".
var fed = regexp.MustCompile(`\[from ([^\]]+)\]`)

// OfRails adds up the rails. If one rail feeds another and both are monitored, the fed one is left
// out, and so are linear regulators, whichever converter feeds them. If a single rail feeds them
// all, it is the total, unless it counts less than the others together. All others count, as in
// androidx.benchmark's PowerMetric, since the platform does not report how a device's rails are
// connected (android.os.PowerMonitor).
//
// A charger does not change the meaning of single components' rails: their monitors are between the
// device's supply and the components, and the battery's charge does not pass through them. The
// battery's own rail counts next to nothing then.
func OfRails(rails []Rail) (RailPower, error) {
	var p RailPower
	var feeding []RailPart // all the others
	var updates []float64
	moved := refreshed(rails)
	for i, r := range rails {
		part := RailPart{r.Name, r.Subsystem, OfCounts(r.at(moved))}
		from, to := part.Curve.Span()
		why := leftOut(r, i, rails)
		if from == to {
			why = "it counted less than twice"
		}
		if why != "" {
			p.LeftOut = append(p.LeftOut, RailLeftOut{r.Name, why})
			continue
		}
		updates = append(updates, float64(part.Curve.Update()))
		if allRails.MatchString(r.Name) {
			feeding = append(feeding, part)
		} else {
			p.Rails = append(p.Rails, part)
		}
	}
	p.total(feeding)
	from, to := p.Total.Span()
	if joules, _ := p.Total.Energy(from, to); joules <= 0 {
		return RailPower{}, fmt.Errorf("measure by power rails: %w: %d rails, none with energy over the same time", ErrNoRails, len(rails))
	}
	p.Update = time.Duration(quantile(updates, 0.5))
	return p, nil
}

// total returns the sum of the single rails, or the largest of those that feed them all, if it
// counts no less.
func (p *RailPower) total(feeding []RailPart) {
	parts := make([]Curve, len(p.Rails))
	for i, r := range p.Rails {
		parts[i] = r.Curve
	}
	p.Total = Sum(parts...)
	from, to := p.Total.Span()
	least, _ := p.Total.Energy(from, to)
	least *= leastOfAll
	chosen := -1
	for i, f := range feeding {
		if len(p.Rails) == 0 {
			from, to = f.Curve.Span()
		}
		if joules, _ := f.Curve.Energy(from, to); joules >= least {
			chosen, least = i, joules
		}
	}
	for i, f := range feeding {
		switch {
		case i == chosen:
			p.Total = f.Curve
		case chosen < 0:
			p.LeftOut = append(p.LeftOut, RailLeftOut{f.Name, "it counted less than the rails that it feeds: a charger fed them"})
		default:
			p.LeftOut = append(p.LeftOut, RailLeftOut{f.Name, fmt.Sprintf("%s counts for it and all others", feeding[chosen].Name)})
		}
	}
}

// refreshed returns the instants at which a rail counted more than before. Monitors are read more
// often than some of them refresh their counters: an instant at which none advanced is no refresh.
func refreshed(rails []Rail) map[time.Duration]bool {
	moved := map[time.Duration]bool{}
	for _, r := range rails {
		for i, c := range r.Counts {
			if i == 0 || c.Joules != r.Counts[i-1].Joules {
				moved[c.Time] = true
			}
		}
	}
	return moved
}

// at returns the counts at some instants.
func (r Rail) at(instants map[time.Duration]bool) []Count {
	return slices.DeleteFunc(slices.Clone(r.Counts), func(c Count) bool { return !instants[c.Time] })
}

// leftOut returns why a rail does not count, "" if it does.
func leftOut(r Rail, at int, rails []Rail) string {
	if charge.MatchString(r.Name) {
		return "it charges the battery"
	}
	if r.Derived && slices.ContainsFunc(rails, func(other Rail) bool { return !other.Derived && !charge.MatchString(other.Name) }) {
		return "a converter feeds it, whose rail has its energy"
	}
	for i, other := range rails {
		if other.Name == r.Name && other.Subsystem == r.Subsystem && i < at {
			return "it is a duplicate: two data sources read the same monitors"
		}
		if from := fed.FindStringSubmatch(r.Name); from != nil && i != at && strings.Contains(fed.ReplaceAllString(other.Name, ""), from[1]) {
			return fmt.Sprintf("it is fed by %s, which is monitored", other.Name)
		}
	}
	return ""
}

// Rest is the component of the energy outside all single rails.
const Rest = "rest"

// Components returns the joules of each rail between two instants, the largest first, under the
// name of its subsystem if it has one.
func (p RailPower) Components(from, to time.Duration) []run.Component {
	joules := map[string]float64{}
	sum := 0.0
	for _, r := range p.Rails {
		j, _ := r.Curve.Energy(from, to)
		name := r.Subsystem
		if name == "" {
			name = r.Name
		}
		joules[name] += j
		sum += j
	}
	if total, _ := p.Total.Energy(from, to); total > sum*1.001 {
		joules[Rest] += total - sum
	}
	return Components(joules)
}
