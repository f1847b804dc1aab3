package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// atLeast is the least time in which the lab's units can be made, if no station opens slowly: the
// longest of them, what each profile's stations have to share, and what all have to that may be
// open at once.
func (v *virtual) atLeast() (least float64) {
	work, n, total, stations := map[string]float64{}, map[string]int{}, 0.0, 0
	for _, s := range v.stations {
		n[s.Profile]++
	}
	for _, u := range v.units {
		if n[u.Profile] > 0 {
			work[u.Profile] += u.Cost
			total += u.Cost
			least = max(least, u.Cost)
		}
	}
	for profile, w := range work {
		least = max(least, w/float64(n[profile]))
		stations += n[profile]
	}
	if v.bounds.All > 0 {
		stations = min(stations, v.bounds.All)
	}
	return max(least, total/float64(max(stations, 1)))
}

// atLeastWithLosses is the least time in which all the spent time can have been spent, by stations
// of which some fail at some time. A profile whose stations all fail does not count.
func (v *virtual) atLeastWithLosses() (least float64) {
	least = v.atLeast()
	for profile, spent := range v.spent {
		could := func(within float64) (sum float64) {
			for s, station := range v.stations {
				if dies, mortal := v.dies[s]; station.Profile == profile && mortal {
					sum += min(within, dies)
				} else if station.Profile == profile {
					sum += within
				}
			}
			return sum
		}
		low, high := 0.0, spent
		for range 60 {
			if middle := (low + high) / 2; could(middle) < spent {
				low = middle
			} else {
				high = middle
			}
		}
		least = max(least, low)
	}
	return least
}

// labOf has stations and units of each profile, the units of random costs.
func labOf(t *testing.T, r *rand.Rand, profiles, stations, units int, bounds Bounds) *virtual {
	v := newVirtual(t, r, bounds)
	for p := range profiles {
		for range stations {
			v.stations = append(v.stations, Station{Profile: fmt.Sprint("p", p)})
		}
		for range units {
			v.units = append(v.units, Unit{fmt.Sprint("p", p), 1 + 2*r.Float64()})
		}
	}
	v.q = New(v.units, v.stations, bounds, false)
	return v
}

// ratios are makespans of 100 such labs to the least that each could have had.
func ratios(of func() (makespan, least float64)) (median, worst float64) {
	var all []float64
	for range labs(100) {
		makespan, least := of()
		all = append(all, makespan/least)
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)-1]
}

// How near the order comes to the least possible time (docs/performance.md has what this prints).
// With six units to a station and more it is within a tenth, also if not all stations can be open;
// with fewer no order may be, since units are not divided.
func TestMakespanAgainstTheLowerBound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(25, 2))
	for _, c := range []struct {
		name                      string
		profiles, stations, units int
		bound                     int
		median, worst             float64 // at most
	}{
		{"25 phones that are alike, 200 units", 1, 25, 200, 0, 1.02, 1.05},
		{"25 phones that are alike, 150 units", 1, 25, 150, 0, 1.02, 1.05},
		{"25 phones of 5 profiles, 30 units each", 5, 5, 30, 0, 1.03, 1.1},
		{"25 phones of 5 profiles, 8 may be open", 5, 5, 30, 8, 1.03, 1.1},
		{"25 phones of 25 profiles, 6 units each", 25, 1, 6, 0, 1, 1.0001},
		{"10 emulators of 10 profiles, 2 may be open", 10, 1, 6, 2, 1.03, 1.1},
		{"25 phones that are alike, 50 units", 1, 25, 50, 0, 1.1, 1.2},
	} {
		median, worst := ratios(func() (float64, float64) {
			v := labOf(t, r, c.profiles, c.stations, c.units, Bounds{All: c.bound})
			v.run()
			return v.now, v.atLeast()
		})
		t.Logf("%-44s median %.3f, worst of 100 %.3f", c.name, median, worst)
		if median > c.median || worst > c.worst {
			t.Errorf("%s: median %.3f and worst %.3f, want at most %.3f and %.4f", c.name, median, worst, c.median, c.worst)
		}
	}
}

// On identical stations the longest unit first is never later than the sum shared out plus one unit
// that comes last (Graham 1969).
func TestLongestFirstKeepsItsBound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(19, 69))
	for range labs(1000) {
		m := 1 + r.IntN(10)
		v := labOf(t, r, 1, m, 1+r.IntN(60), Bounds{})
		v.run()
		sum, longest := 0.0, 0.0
		for _, u := range v.units {
			sum, longest = sum+u.Cost, max(longest, u.Cost)
		}
		if most := sum/float64(m) + longest*(1-1/float64(m)); v.now > most+1e-9 {
			t.Fatalf("%d units on %d stations take %.2f, want at most %.2f", len(v.units), m, v.now, most)
		}
	}
}

// A tenth of the phones fails for good, and their units are repeated: the rest of the lab still
// works nearly without a gap.
func TestMakespanWithLostStations(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(10, 100))
	for _, c := range []struct {
		name            string
		profiles, units int
		median, worst   float64
	}{
		{"25 phones that are alike, 200 units", 1, 200, 1.05, 1.1},
		{"25 phones of 5 profiles, 40 units each", 5, 40, 1.05, 1.1},
	} {
		median, worst := ratios(func() (float64, float64) {
			v := labOf(t, r, c.profiles, 25/c.profiles, c.units, Bounds{})
			for range 2 + r.IntN(2) {
				v.dies[r.IntN(25)] = 10 * r.Float64()
			}
			v.run()
			return v.now, v.atLeastWithLosses()
		})
		t.Logf("%-44s median %.3f, worst of 100 %.3f", c.name, median, worst)
		if median > c.median || worst > c.worst {
			t.Errorf("%s: median %.3f and worst %.3f, want at most %.3f and %.3f", c.name, median, worst, c.median, c.worst)
		}
	}
}
