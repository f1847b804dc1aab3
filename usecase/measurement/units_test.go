package measurement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func planned(t *testing.T, devices string) *config.Config {
	t.Helper()
	cfg, err := config.Load("apkgate.yml", []byte("app: {package: com.example.demo}\nscenarios:\n"+
		"  - {name: open, workload: {startup: {}}}\n  - {name: scroll, workload: {shell: {script: scroll.sh}}, repetitions: 20}\n"+devices), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func keysOf(units []Unit) (keys []string) {
	for _, u := range units {
		keys = append(keys, u.Key())
	}
	return keys
}

// A plan has each scenario once on each profile and network: identical devices share it, and a
// device may have networks of its own.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		devices string
		want    []string
	}{
		{"", []string{"open", "scroll"}},
		{"networks: [wifi]\n", []string{"open over wifi", "scroll over wifi"}},
		{"devices: [{simulated: nexus-4, count: 3}]\n", []string{"open on nexus-4", "scroll on nexus-4"}},
		{"networks: [wifi]\ndevices:\n  - {serial: A, profile: shelf, networks: [lte, none]}\n  - {serial: B}\n  - {serial: C, profile: shelf, networks: [lte, none]}\n",
			[]string{"open on shelf over lte", "scroll on shelf over lte", "open on shelf over none", "scroll on shelf over none", "open on B over wifi", "scroll on B over wifi"}},
	} {
		if diff := cmp.Diff(c.want, keysOf(Units(planned(t, c.devices)))); diff != "" {
			t.Errorf("%s(-want +got):\n%s", c.devices, diff)
		}
	}
}

// Longer scenarios have larger estimates, by which work is shared out.
func TestLongerScenariosCostMore(t *testing.T) {
	base := config.Scenario{Repetitions: 5, WarmUp: 1, Timeout: 5 * time.Minute, Workload: config.Workload{Startup: &config.Startup{}}}
	more, test, monkey := base, base, base
	more.Repetitions = 50
	test.Workload = config.Workload{Shell: &config.Shell{}}
	monkey.Workload = config.Workload{Monkey: &config.Monkey{Events: 1000, Throttle: 50 * time.Millisecond}}
	least := costOf(base, nil)
	for name, cost := range map[string]time.Duration{
		"more repetitions": costOf(more, nil), "a test": costOf(test, nil), "monkey": costOf(monkey, nil),
		"rails": costOf(base, &config.Energy{Source: config.EnergyRails}),
	} {
		if cost <= least {
			t.Errorf("%s costs %v, no more than a start's %v", name, cost, least)
		}
	}
	if got := costOf(base, &config.Energy{Source: config.EnergyModel}); got != least {
		t.Errorf("joules that are worked out cost %v, want %v", got, least)
	}
}

// unitsOf are units by the costs of each profile, in minutes.
func unitsOf(costs map[string][]int) (units []Unit) {
	for _, profile := range slices.Sorted(func(yield func(string) bool) {
		for p := range costs {
			if !yield(p) {
				return
			}
		}
	}) {
		for i, cost := range costs[profile] {
			units = append(units, Unit{Scenario: fmt.Sprint("s", i), Profile: profile, Cost: time.Duration(cost) * time.Minute})
		}
	}
	return units
}

func TestPartitionKeepsProfilesTogether(t *testing.T) {
	for name, c := range map[string]struct {
		parts int
		costs map[string][]int
		want  [][]int
	}{
		"as many profiles as parts":     {3, map[string][]int{"a": {3, 3}, "b": {3, 3}, "c": {6}}, [][]int{{0, 1}, {2, 3}, {4}}},
		"the longest first":             {3, map[string][]int{"a": {2}, "b": {2}, "c": {4}, "d": {8}, "e": {8}}, [][]int{{0, 1, 2}, {3}, {4}}},
		"fewer profiles than parts":     {3, map[string][]int{"a": {4, 4, 4}}, [][]int{{0}, {1}, {2}}},
		"a profile that is too long":    {3, map[string][]int{"a": {5, 5, 5, 5}, "b": {6, 6}}, [][]int{{0, 2}, {1, 3}, {4, 5}}},
		"nothing left for some parts":   {3, map[string][]int{"a": {9}}, [][]int{nil, nil, {0}}},
		"one profile of three is cut":   {2, map[string][]int{"a": {3, 3}, "b": {3, 3}, "c": {3, 3}}, [][]int{{0, 2, 3}, {1, 4, 5}}},
		"a quarter longer is no reason": {2, map[string][]int{"a": {5, 5}, "b": {3, 3}}, [][]int{{0, 1}, {2, 3}}},
		"and more is":                   {2, map[string][]int{"a": {6, 5}, "b": {3, 3}}, [][]int{{0, 3}, {1, 2}}},
		"one of four is cut, for two":   {3, map[string][]int{"a": {2, 2, 2, 2}, "b": {2, 2, 2, 2}, "c": {2, 2, 2, 2}, "d": {2, 2, 2, 2}}, [][]int{{0, 2, 4, 5, 6, 7}, {1, 3, 8, 9, 10, 11}, {12, 13, 14, 15}}},
	} {
		got := Partition(unitsOf(c.costs), c.parts)
		slices.SortFunc(got, slices.Compare)
		slices.SortFunc(c.want, slices.Compare)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Whatever the plan, each unit is in one part, and no part is much longer than necessary: a
// quarter, or as single units shared out longest first come out, which is at most a third more than
// the best (Graham 1969, Bounds on multiprocessing timing anomalies).
func TestPartitionsAreWholeAndBalanced(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	for range 2000 {
		costs := map[string][]int{}
		for p := range 1 + r.IntN(8) {
			for range 1 + r.IntN(6) {
				costs[fmt.Sprint(p)] = append(costs[fmt.Sprint(p)], 1+r.IntN(20))
			}
		}
		units, n := unitsOf(costs), 1+r.IntN(6)
		var all []int
		var total, longest, fullest time.Duration
		for _, u := range units {
			total, longest = total+u.Cost, max(longest, u.Cost)
		}
		for _, part := range Partition(units, n) {
			var cost time.Duration
			for _, place := range part {
				cost += units[place].Cost
			}
			all, fullest = append(all, part...), max(fullest, cost)
		}
		slices.Sort(all)
		for i, place := range all {
			if place != i || len(all) != len(units) {
				t.Fatalf("%v in %d parts: %v, want each unit once", costs, n, all)
			}
		}
		apart := slices.Clone(units)
		slices.SortFunc(apart, func(a, b Unit) int { return int(b.Cost - a.Cost) })
		loads := make([]time.Duration, n)
		for _, u := range apart {
			slices.Sort(loads)
			loads[0] += u.Cost
		}
		least := max(total/time.Duration(n), longest)
		if fullest > max(least*5/4, slices.Max(loads)) {
			t.Errorf("%v in %d parts: the longest takes %v, it could be %v, and %v apart", costs, n, fullest, least, slices.Max(loads))
		}
	}
}

// Known units are not measured, and have their results in their places; nothing is prepared if all
// are known.
func TestKnownUnitsAreNotMeasured(t *testing.T) {
	cfg := planned(t, "devices: [{address: 'nowhere.invalid:1'}]\n")
	var kept []string
	results, err := Measure(t.Context(), terminal.Console{Getenv: func(string) string { return "" }}, cfg, CollectFlags{
		Known: func(u Unit) (collect.Result, bool) {
			known := run.Run{Format: run.Format, App: run.App{Package: "com.example.demo"}, Scenario: u.Scenario, Status: run.Complete, Iterations: []run.Iteration{{}}}
			return collect.Result{Device: u.Profile, Run: known}, true
		},
		Ended: func(Unit, collect.Result) error { t.Error("a unit was made"); return nil },
	}, func(r run.Run) error { kept = append(kept, r.Scenario); return nil })
	if err != nil || len(results) != 2 || results[1].Run.Scenario != "scroll" || strings.Join(kept, " ") != "open scroll" {
		t.Errorf("%v, results %+v, kept %q", err, results, kept)
	}
}
