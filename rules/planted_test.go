package rules

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// plantation describes rows of random properties, where those with one of the planted pairs are
// bad, and some by chance.
type plantation struct {
	rows, properties, values, pairs int
	given                           float64 // share of the rows with a planted pair
	chance                          float64 // of being bad for no reason
}

// The transactions of the benchmark, which scripts/compare-weka mines too: each of 258 pairs is in
// 58 rows, any other in 20, and rows without one are good.
var (
	bench        = plantation{rows: 20_000, properties: 12, values: 32, pairs: 258, given: 0.5}
	benchOptions = Options{MinSupport: 0.0015, MinConfidence: 0.99, Ignore: "N"}
)

// grow returns the rows and the names of the rules that were planted.
func (p plantation) grow() (rows []Row, planted []string) {
	rng := rand.New(rand.NewPCG(7, 9))
	type pair struct{ a, b, x, y int }
	known := map[pair]bool{}
	var pairs []pair
	for len(pairs) < p.pairs {
		a, b := rng.IntN(p.properties), rng.IntN(p.properties)
		if x, y := rng.IntN(p.values), rng.IntN(p.values); a < b && !known[pair{a, b, x, y}] {
			known[pair{a, b, x, y}] = true
			pairs = append(pairs, pair{a, b, x, y})
			planted = append(planted, fmt.Sprintf("%v=>bad", []Item{{name(a), strconv.Itoa(x)}, {name(b), strconv.Itoa(y)}}))
		}
	}
	rows = make([]Row, p.rows)
	of := make([]int, p.properties)
	for i := range rows {
		rows[i].Context = make(map[string]string, p.properties)
		for k := range of {
			of[k] = rng.IntN(p.values)
		}
		if rng.Float64() < p.given {
			q := pairs[rng.IntN(len(pairs))]
			of[q.a], of[q.b] = q.x, q.y
		}
		for k, value := range of {
			rows[i].Context[name(k)] = strconv.Itoa(value)
		}
		rows[i].Labels = []string{"N"}
		bad := rng.Float64() < p.chance
		for _, q := range pairs {
			bad = bad || (of[q.a] == q.x && of[q.b] == q.y)
		}
		if bad {
			rows[i].Labels = []string{"bad"}
		}
	}
	slices.Sort(planted)
	return rows, planted
}

func name(property int) string { return fmt.Sprintf("property%02d", property) }

func TestMineFindsPlantedRules(t *testing.T) {
	rows, planted := bench.grow()
	if got := names(mined(t, rows, benchOptions)); !slices.Equal(got, planted) {
		t.Errorf("%d rules, want the %d planted ones", len(got), len(planted))
	}
}

// The names of properties do not matter: with 30 of them and few rows, there are more combinations
// than could be listed.
func TestOtherNamesGiveTheSameRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]Row, 100)
	for i := range rows {
		rows[i] = Row{Context: map[string]string{}, Labels: []string{"N"}}
		for p := range 30 {
			rows[i].Context[name(p)] = strconv.Itoa(rng.IntN(3))
		}
		if rows[i].Context[name(27)] == "1" && rows[i].Context[name(29)] == "2" {
			rows[i].Labels = []string{"bad"}
		}
	}
	o := Options{MinSupport: 0.01, MinConfidence: 0.9, Ignore: "N"}
	want := names(mined(t, rows, o))
	if !slices.Contains(want, "[{property27 1} {property29 2}]=>bad") {
		t.Error("the planted rule is missing")
	}
	for trial := range 3 {
		order := rng.Perm(30)
		back := map[string]string{}
		renamed := make([]Row, len(rows))
		for i, row := range rows {
			renamed[i] = Row{Context: map[string]string{}, Labels: row.Labels}
			for p, other := range order {
				renamed[i].Context[name(other)] = row.Context[name(p)]
				back[name(other)] = name(p)
			}
		}
		found := mined(t, renamed, o)
		for i := range found {
			for k := range found[i].If {
				found[i].If[k].Property = back[found[i].If[k].Property]
			}
			slices.SortFunc(found[i].If, compareItems)
		}
		if got := names(found); !slices.Equal(got, want) {
			t.Errorf("names %d: %d rules, want the same %d", trial, len(got), len(want))
		}
	}
}

func TestMineCountsEqualRows(t *testing.T) {
	var apart, together []Row
	for _, r := range []Row{
		{map[string]string{"sdk": "5", "net": "wifi"}, []string{"bad"}, 70},
		{map[string]string{"sdk": "5", "net": "3g"}, []string{"N"}, 3},
		{map[string]string{"sdk": "4", "net": "wifi"}, []string{"N"}, 130},
	} {
		together = append(together, r)
		for range r.Times {
			apart = append(apart, Row{Context: r.Context, Labels: r.Labels})
		}
	}
	o := Options{MinSupport: 0.01, MinConfidence: 0.9, Ignore: "N"}
	want, got := mined(t, apart, o), mined(t, together, o)
	if len(got) != 2 || !slices.EqualFunc(got, want, func(a, b Rule) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Too many properties to combine are reported as a cut; rules of single properties are found.
func TestMineReportsCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rows := make([]Row, 600)
	for i := range rows {
		rows[i] = Row{Context: map[string]string{"sdk": "4"}, Labels: []string{"N"}}
		for p := range 200 {
			rows[i].Context[name(p)] = strconv.Itoa(rng.IntN(30))
		}
		if i%2 == 0 {
			rows[i].Labels, rows[i].Context["sdk"] = []string{"bad"}, "5"
		}
	}
	found, cut := Mine(rows, Options{MinSupport: 0.001, MinConfidence: 0.9, Ignore: "N"})
	if !slices.Equal(cut, []Cut{{"bad", 2}}) {
		t.Errorf("cut %v, want that of bad no pair was looked for", cut)
	}
	if !slices.Contains(names(found), "[{sdk 5}]=>bad") {
		t.Error("the rule of one property is missing")
	}
}

// The full size: a million rows, of which 1 in 400 has the planted pair.
func TestAMillionRows(t *testing.T) {
	if os.Getenv("APKGATE_FULL") == "" {
		t.Skip("set APKGATE_FULL=1: it takes a minute and 3 GB")
	}
	rows, planted := plantation{rows: 1_000_000, properties: 30, values: 20, pairs: 1, chance: 0.01}.grow()
	runtime.GC()
	started := time.Now()
	got := names(mined(t, rows, Options{MinSupport: 0.001, MinConfidence: 0.9, Ignore: "N"}))
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d rules in %.1f s, %d MB taken from the system", len(got), time.Since(started).Seconds(), m.Sys>>20)
	if !slices.Equal(got, planted) {
		t.Errorf("%v, want %v", got, planted)
	}
	if m.Sys > 4<<30 {
		t.Errorf("%d MB, want at most 4 GB", m.Sys>>20)
	}
}

// Mining takes memory for what is frequent: properties that are different in each row cost no more
// than their rows.
func TestUniquePropertiesCostLittle(t *testing.T) {
	taken := func(unique int) uint64 {
		rows, _ := plantation{rows: 5000, properties: 6, values: 8, pairs: 1}.grow()
		for i := range rows {
			for p := range unique {
				rows[i].Context[fmt.Sprint("unique", p)] = strconv.Itoa(i)
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		mined(t, rows, Options{MinCount: 2, MinConfidence: 0.9, Ignore: "N"})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if none, twenty := taken(0), taken(20); twenty > 4*none {
		t.Errorf("%d kB without and %d kB with 20 unique properties", none>>10, twenty>>10)
	}
}

func BenchmarkMine(b *testing.B) {
	rows, planted := bench.grow()
	b.ReportAllocs()
	for b.Loop() {
		if found, _ := Mine(rows, benchOptions); len(found) != len(planted) {
			b.Fatalf("%d rules, want %d", len(found), len(planted))
		}
	}
	b.ReportMetric(float64(len(planted)), "rules")
}

// TestWriteTransactions writes the benchmark's transactions and rules to where scripts/compare-weka
// expects them.
func TestWriteTransactions(t *testing.T) {
	dir := os.Getenv("APKGATE_TRANSACTIONS")
	if dir == "" {
		t.Skip("APKGATE_TRANSACTIONS names no folder")
	}
	rows, _ := bench.grow()
	started := time.Now()
	found := mined(t, rows, benchOptions)
	t.Logf("apkgate: %d rules in %.0f ms", len(found), 1000*time.Since(started).Seconds())
	var lines [][]string
	for _, row := range rows {
		var line []string
		for p := range bench.properties {
			line = append(line, row.Context[name(p)])
		}
		lines = append(lines, append(line, row.Labels[0]))
	}
	write := func(name string, records [][]string) {
		f, err := os.Create(dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		w := csv.NewWriter(f)
		if err := w.WriteAll(records); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write("transactions.csv", lines)
	var rules [][]string
	for _, r := range found {
		var items []string
		for _, i := range r.If {
			items = append(items, i.Property+"="+i.Value)
		}
		rules = append(rules, append(items, strconv.Itoa(r.Count)))
	}
	write("rules.csv", rules)
}
