package measurement

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/config"
)

// Unit is one run of the plan: a scenario on a profile of devices, over a network.
type Unit struct {
	Scenario string
	Profile  string // "" if the configuration names no devices
	Network  string // "" if it names none
	// Cost estimates how long it takes, well enough to share work out.
	Cost time.Duration
}

// Key returns the unit's name within its plan: "open-message on pixel over wifi".
func (u Unit) Key() string {
	key := u.Scenario
	if u.Profile != "" {
		key += " on " + u.Profile
	}
	if u.Network != "" {
		key += " over " + u.Network
	}
	return key
}

// Units returns the runs of a configuration, in the order of their results.
func Units(cfg *config.Config) (units []Unit) {
	for _, p := range profilesOf(cfg.Devices) {
		for _, network := range networksOf(cfg, p.devices[0]) {
			for _, s := range cfg.Scenarios {
				units = append(units, Unit{s.Name, p.name, network, costOf(s, cfg.Energy)})
			}
		}
	}
	return units
}

// alike are the devices of one profile.
type alike struct {
	name    string
	devices []config.Device // at least one
}

// profilesOf groups devices by profile, each in order; one nameless group if there are none.
func profilesOf(devices []config.Device) (groups []alike) {
	if len(devices) == 0 {
		return []alike{{devices: []config.Device{{}}}}
	}
	for _, d := range devices {
		at := slices.IndexFunc(groups, func(g alike) bool { return g.name == d.ProfileName() })
		if at < 0 {
			at, groups = len(groups), append(groups, alike{name: d.ProfileName()})
		}
		groups[at].devices = append(groups[at].devices, d)
	}
	return groups
}

func networksOf(cfg *config.Config, d config.Device) []string {
	switch {
	case len(d.Networks) > 0:
		return d.Networks
	case len(cfg.Networks) > 0:
		return cfg.Networks
	}
	return []string{""}
}

// How long the parts of a run take, by default.
const (
	setUpTakes     = time.Minute // to install, compile and read the context
	startTakes     = 5 * time.Second
	testTakes      = 30 * time.Second
	benchmarkTakes = 5 * time.Minute
	eventTakes     = 20 * time.Millisecond // of monkey, in addition to its throttle
	settleTakes    = 2 * time.Minute
)

// costOf estimates how long a run of the scenario takes.
func costOf(s config.Scenario, e *config.Energy) time.Duration {
	once := testTakes
	switch w := s.Workload; {
	case w.Benchmark() != nil:
		once = benchmarkTakes
	case w.Startup != nil:
		once = startTakes
	case w.Monkey != nil:
		once = startTakes + time.Duration(w.Monkey.Events)*(w.Monkey.Throttle+eventTakes)
	}
	once = min(once, max(s.Timeout, time.Second))
	rest := time.Duration(0)
	switch {
	case !e.Measured() || s.WarmUp == 0:
	case e.Settle != nil:
		rest = *e.Settle
	case e.Source != config.EnergyModel && e.Source != config.EnergyPlatform:
		rest = settleTakes
	}
	return setUpTakes + time.Duration(s.Repetitions+s.WarmUp)*once + rest
}

// Partition divides the units among n parts, by their indices. It depends on the units alone. A
// profile stays in one part, so that its devices are prepared once, unless the longest part would
// then take more than a quarter longer than necessary: then profiles are divided, each time the one
// with the largest bundle, until it doesn't, or is as good as dividing single units.
func Partition(units []Unit, n int) [][]int {
	var total, longest time.Duration
	for _, u := range units {
		total, longest = total+u.Cost, max(longest, u.Cost)
	}
	enough := max(total/time.Duration(n), longest) * 5 / 4
	profiles := together(units)
	best := fill(bundles(profiles), n)
	for fullest(best) > enough && divide(profiles) {
		all := bundles(profiles)
		if fullest(all) > enough { // so is the part that it is in
			continue
		}
		if parts := fill(all, n); fullest(parts) < fullest(best) {
			best = parts
		}
	}
	return placesOf(best)
}

// bundle are units of one profile that are made in one part.
type bundle struct {
	places []int
	cost   time.Duration
}

// divided are the units of one profile, and the bundles that they are in.
type divided struct{ single, bundles []bundle }

// together returns the units of each profile in one bundle.
func together(units []Unit) (profiles []divided) {
	at := map[string]int{}
	for place, u := range units {
		i, known := at[u.Profile]
		if !known {
			i = len(profiles)
			at[u.Profile], profiles = i, append(profiles, divided{})
		}
		profiles[i].single = append(profiles[i].single, bundle{[]int{place}, u.Cost})
	}
	for i := range profiles {
		profiles[i].bundles = fill(profiles[i].single, 1)
	}
	return profiles
}

// divide splits the profile with the longest bundle into one bundle more; false if each unit has
// its own.
func divide(profiles []divided) bool {
	var longest *divided
	for i := range profiles {
		p := &profiles[i]
		if len(p.bundles) < len(p.single) && (longest == nil || fullest(p.bundles) > fullest(longest.bundles)) {
			longest = p
		}
	}
	if longest == nil {
		return false
	}
	longest.bundles = fill(longest.single, len(longest.bundles)+1)
	return true
}

func bundles(profiles []divided) (all []bundle) {
	for _, p := range profiles {
		all = append(all, p.bundles...)
	}
	return all
}

// fill assigns the bundles to n parts, the longest first, each where there is least.
func fill(bundles []bundle, n int) []bundle {
	sorted := slices.Clone(bundles)
	slices.SortStableFunc(sorted, func(a, b bundle) int { return cmp.Compare(b.cost, a.cost) })
	parts := make([]bundle, n)
	for _, b := range sorted {
		least := &parts[0]
		for i := range parts {
			if parts[i].cost < least.cost {
				least = &parts[i]
			}
		}
		least.places, least.cost = append(least.places, b.places...), least.cost+b.cost
	}
	return parts
}

func fullest(parts []bundle) (most time.Duration) {
	for _, p := range parts {
		most = max(most, p.cost)
	}
	return most
}

// placesOf returns the indices of each part, in order.
func placesOf(parts []bundle) [][]int {
	out := make([][]int, len(parts))
	for i, p := range parts {
		out[i] = slices.Sorted(slices.Values(p.places))
	}
	return out
}
