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

// Rail is one power rail with the energy that its monitor counted.
type Rail struct {
	Name      string // as the device calls it: "S2M_VDD_CPUCL2"
	Subsystem string // "cpu_big"; "" where the device names none
	// Derived says that another rail feeds this one, as a converter does a linear
	// regulator (perfetto.DerivedSupply).
	Derived bool
	Counts  []Count
}

// ErrNoRails says that the device has no power monitors, or that they counted
// nothing.
var ErrNoRails = errors.New("the device's power rails tell nothing")

// RailPower is the power of the rails.
type RailPower struct {
	// Total is the sum of the rails that count. It is what the monitors see: a
	// device has parts that no monitor watches.
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

// RailLeftOut is one that doesn't, and why.
type RailLeftOut struct{ Name, Why string }

// allRails names a rail through which all others are fed: VSYS_PWR_VBATT of the
// Pixel 9 and 10 is the battery itself.
var allRails = regexp.MustCompile(`(?i)^(power\.)?(PPVAR_)?(((VSYS|VPH)_(PWR_)?)?VBATT?|VSYS|VPH_PWR|BATTERY|TOTAL)(_uws)?$`)

// charge names a rail that charges the battery: what it counts is used later.
var charge = regexp.MustCompile(`(?i)VBATT?_CHARGE(_uws)?$`)

// leastOfAll is the part of what the single rails come to that the one which feeds
// them all must count.
const leastOfAll = 0.95

// fed names a rail that another feeds, as Pixels before the sixth write it:
// "WCN3998_VDD13 [from PP1304_L2C]".
var fed = regexp.MustCompile(`\[from ([^\]]+)\]`)

// OfRails adds the rails up. Where one rail feeds another and both are watched,
// the one that is fed is left out, and so are linear regulators, whichever
// converter feeds them; where a single rail feeds them all, that one
// is the total, unless it counts less than they do together. All others count, as
// in androidx.benchmark's PowerMetric, since the platform does not tell how a
// device's rails are connected (android.os.PowerMonitor).
//
// A charger does not change what the rails of single parts mean: their monitors
// stand between the device's supply and its parts, and the charge of the battery
// does not pass through them. The battery's own rail counts next to nothing then.
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

// total is the sum of the single rails, or the greatest of those that feed them
// all, where it counts no less.
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

// refreshed are the instants at which a rail counted more than before. Monitors
// are read more often than some of them refresh their counters: an instant at
// which nothing at all was counted is none of theirs.
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

// at are the counts at some instants.
func (r Rail) at(instants map[time.Duration]bool) []Count {
	return slices.DeleteFunc(slices.Clone(r.Counts), func(c Count) bool { return !instants[c.Time] })
}

// leftOut says why a rail doesn't count, "" where it does.
func leftOut(r Rail, at int, rails []Rail) string {
	if charge.MatchString(r.Name) {
		return "it charges the battery"
	}
	if r.Derived && slices.ContainsFunc(rails, func(other Rail) bool { return !other.Derived && !charge.MatchString(other.Name) }) {
		return "a converter feeds it, whose rail has its energy"
	}
	for i, other := range rails {
		if other.Name == r.Name && other.Subsystem == r.Subsystem && i < at {
			return "it is there already: two data sources read the same monitors"
		}
		if from := fed.FindStringSubmatch(r.Name); from != nil && i != at && strings.Contains(fed.ReplaceAllString(other.Name, ""), from[1]) {
			return fmt.Sprintf("it is fed by %s, which is watched", other.Name)
		}
	}
	return ""
}

// Rest is the component of what no single rail accounts for.
const Rest = "rest"

// Components are the joules of each rail between two instants, the hungriest
// first, under the name of its subsystem where it has one.
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
