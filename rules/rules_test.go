package rules

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// paperRows are 40 accepted runs and the five of the upgraded lab (paper, section 8.2), reduced to
// the properties in the rules of Figure 9.
func paperRows() []Row {
	var rows []Row
	models := []string{"Nexus 4", "Nexus 5", "Nexus 7", "Nexus 9"}
	sdks := []string{"4.1.1", "4.2.2", "4.3", "4.4.4"}
	apis := []string{"16", "17", "18", "19"}
	for device := range 20 {
		for _, network := range []string{"wifi", "3g"} {
			rows = append(rows, Row{Labels: []string{"N"}, Context: map[string]string{
				"model": models[device%4], "sdk": sdks[device/5], "api": apis[device/5], "network": network,
			}})
		}
	}
	for _, up := range [][3]string{{"Nexus 4", "5.0.0", "21"}, {"Nexus 9", "5.0.0", "21"}, {"Nexus 7", "5.1.0", "22"}, {"Nexus 5", "5.1.0", "22"}, {"Nexus 5X", "6.0.0", "23"}} {
		rows = append(rows, Row{Labels: []string{"Outlier-"}, Context: map[string]string{
			"model": up[0], "sdk": up[1], "api": up[2], "network": "wifi",
		}})
	}
	return rows
}

// mined returns the rules of rows that are few enough for a complete search.
func mined(t *testing.T, rows []Row, o Options) []Rule {
	t.Helper()
	found, cut := Mine(rows, o)
	if len(cut) > 0 {
		t.Errorf("cut: %v", cut)
	}
	return found
}

func names(rs []Rule) []string {
	var out []string
	for _, r := range rs {
		out = append(out, fmt.Sprintf("%v=>%s", r.If, r.Then))
	}
	slices.Sort(out)
	return out
}

func TestExperimentB(t *testing.T) {
	mine := func(support float64) []string {
		return names(mined(t, paperRows(), Options{MinSupport: support, MinConfidence: 0.9, Ignore: "N"}))
	}
	seven := []string{
		"[{api 21}]=>Outlier-", "[{api 22}]=>Outlier-", "[{api 23}]=>Outlier-", "[{model Nexus 5X}]=>Outlier-",
		"[{sdk 5.0.0}]=>Outlier-", "[{sdk 5.1.0}]=>Outlier-", "[{sdk 6.0.0}]=>Outlier-",
	}
	if got := mine(0.01); !slices.Equal(got, seven) {
		t.Errorf("at support 0.01: %v, want %v", got, seven)
	}
	four := []string{"[{api 21}]=>Outlier-", "[{api 22}]=>Outlier-", "[{sdk 5.0.0}]=>Outlier-", "[{sdk 5.1.0}]=>Outlier-"}
	if got := mine(0.03); !slices.Equal(got, four) {
		t.Errorf("at support 0.03: %v, want %v", got, four)
	}
	if got := mine(0.07); len(got) != 0 {
		t.Errorf("at support 0.07: %v, want none", got)
	}
}

func TestNumbersOfARule(t *testing.T) {
	for _, r := range mined(t, paperRows(), Options{MinSupport: 0.01, MinConfidence: 0.9, Ignore: "N"}) {
		if r.If[0] != (Item{"sdk", "5.0.0"}) {
			continue
		}
		if r.Count != 2 || math.Abs(r.Support-2.0/45) > 1e-12 || r.Confidence != 1 || math.Abs(r.Lift-9) > 1e-9 {
			t.Errorf("%+v, want 2 runs, support 2/45, confidence 1, lift 9", r)
		}
		return
	}
	t.Error("no rule for sdk 5.0.0")
}

func TestTwoPropertiesTogether(t *testing.T) {
	var rows []Row
	for _, v := range []string{"1.0", "1.2"} {
		for _, brand := range []string{"LG", "HTC"} {
			for range 5 {
				label := "N"
				if v == "1.2" && brand == "LG" {
					label = "E2Outlier-"
				}
				rows = append(rows, Row{Labels: []string{label}, Context: map[string]string{"v": v, "brand": brand}})
			}
		}
	}
	got := names(mined(t, rows, Options{MinSupport: 0.01, MinConfidence: 0.9, Ignore: "N"}))
	if want := []string{"[{brand LG} {v 1.2}]=>E2Outlier-"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// plain enumerates every antecedent of every row: slow and hard to get wrong.
func plain(rows []Row, o Options) []string {
	rows = slices.Clone(rows)
	for _, row := range rows {
		for range row.Times - 1 {
			rows = append(rows, Row{Context: row.Context, Labels: row.Labels})
		}
	}
	least := max(float64(o.MinCount), 1)
	if o.MinCount == 0 {
		least = max(o.MinSupport*float64(len(rows)), 1)
	}
	subsets := map[string][]Item{}
	for _, row := range rows {
		var items []Item
		for p, v := range row.Context {
			items = append(items, Item{p, v})
		}
		slices.SortFunc(items, compareItems)
		for mask := 1; mask < 1<<len(items); mask++ {
			var s []Item
			for i, item := range items {
				if mask&(1<<i) != 0 {
					s = append(s, item)
				}
			}
			if len(s) <= maxItems {
				subsets[fmt.Sprint(s)] = s
			}
		}
	}
	confidence := func(items []Item, label string) (float64, int) {
		has, both := 0, 0
		for _, row := range rows {
			if slices.ContainsFunc(items, func(i Item) bool { return row.Context[i.Property] != i.Value }) {
				continue
			}
			has++
			if slices.Contains(row.Labels, label) {
				both++
			}
		}
		return float64(both) / float64(max(has, 1)), both
	}
	var out []string
	for _, label := range []string{"a", "b"} {
		for _, s := range subsets {
			c, both := confidence(s, label)
			if float64(both) < least-1e-9 || len(s) > 1 && both < o.MinTogether || c < o.MinConfidence-1e-9 {
				continue
			}
			redundant := false
			for mask := 1; mask < 1<<len(s)-1; mask++ {
				var part []Item
				for i, item := range s {
					if mask&(1<<i) != 0 {
						part = append(part, item)
					}
				}
				if pc, _ := confidence(part, label); pc >= c-1e-9 {
					redundant = true
				}
			}
			if !redundant {
				out = append(out, fmt.Sprintf("%v=>%s", s, label))
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestMineAgreesWithPlainEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for trial := range 150 {
		var rows []Row
		for range 1 + rng.IntN(40) {
			row := Row{Context: map[string]string{}, Times: rng.IntN(3)}
			for p := range 4 {
				if rng.IntN(8) > 0 {
					row.Context[fmt.Sprint("p", p)] = fmt.Sprint(rng.IntN(3))
				}
			}
			for _, label := range []string{"a", "b", "N"} {
				if rng.IntN(3) == 0 {
					row.Labels = append(row.Labels, label)
				}
			}
			rows = append(rows, row)
		}
		o := Options{MinSupport: 0.02 * float64(rng.IntN(5)), MinConfidence: 0.5 + 0.1*float64(rng.IntN(6)), Ignore: "N"}
		switch trial % 5 {
		case 0:
			o.MinCount = 1 + rng.IntN(4)
		case 1:
			o.MinTogether = rng.IntN(5)
		case 2:
			o.MinConfidence = 0
		}
		if got, want := names(mined(t, rows, o)), plain(rows, o); !slices.Equal(got, want) {
			t.Fatalf("trial %d, %+v:\n got %v\nwant %v", trial, o, got, want)
		}
	}
}

// Properties that every run has explain nothing, and those that occur together explain one thing:
// neither uses up the limit of a search.
func TestUninformativePropertiesCostNothing(t *testing.T) {
	every := map[string]string{"model": "S3"}
	for i := range maxGrown + 1 {
		every[fmt.Sprint("constant", i)] = "1"
	}
	other := maps.Clone(every)
	other["model"] = "S4"
	rows := []Row{{Labels: []string{"bad"}, Context: every, Times: 3}, {Labels: []string{"N"}, Context: other, Times: 3}}
	if got, want := names(mined(t, rows, Options{MinCount: 2, MinConfidence: 0.9, Ignore: "N"})), []string{"[{model S3}]=>bad"}; !slices.Equal(got, want) {
		t.Errorf("beside constants: %v, want %v", got, want)
	}

	// One fact in 710 words, and another in as many that occurs elsewhere too: half a million pairs
	// of one word each.
	one, both := map[string]string{}, map[string]string{}
	for i := range 710 {
		one[fmt.Sprint("one", i)] = "1"
		both[fmt.Sprint("one", i)], both[fmt.Sprint("other", i)] = "1", "1"
	}
	rows = []Row{{Labels: []string{"bad"}, Context: both, Times: 3}, {Labels: []string{"N"}, Context: both}, {Labels: []string{"N"}, Context: one}, {Labels: []string{"N"}}}
	if got := mined(t, rows, Options{MinCount: 2, MinConfidence: 0.9, Ignore: "N"}); len(got) != 0 {
		t.Errorf("of facts in many words: %d rules, want none", len(got))
	}
}

func TestNothingToMine(t *testing.T) {
	if got := mined(t, nil, Options{MinSupport: 0.01, MinConfidence: 0.9}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
