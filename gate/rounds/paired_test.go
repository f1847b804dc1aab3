package rounds

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/metric"
)

func about(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

func times(base []float64, by float64) []float64 {
	var out []float64
	for _, b := range base {
		out = append(out, b*by)
	}
	return out
}

// With all signs equal there is one order of 2ⁿ; with the smallest difference the other way there
// are two as far or farther.
func TestPairedWorse(t *testing.T) {
	ms, _ := metric.Default().Lookup("frames.duration_ms")
	smooth, _ := metric.Default().Lookup("frames.smooth_ratio")
	base := []float64{10, 10, 10, 10, 10}
	slower := []float64{11, 12, 13, 14, 15}
	but := []float64{9.5, 12, 13, 14, 15}
	for name, c := range map[string]struct {
		p    Paired
		want float64
	}{
		"all slower":        {PairedOf(ms, base, slower), 1.0 / 32},
		"one quicker":       {PairedOf(ms, base, but), 2.0 / 32},
		"all quicker":       {PairedOf(ms, slower, base), 1},
		"all alike":         {PairedOf(ms, base, base), 1},
		"less smooth":       {PairedOf(smooth, []float64{0.9, 0.91, 0.92}, []float64{0.8, 0.8, 0.8}), 1.0 / 8},
		"smoother":          {PairedOf(smooth, []float64{0.8, 0.8, 0.8}, []float64{0.9, 0.91, 0.92}), 1},
		"of nothing at all": {PairedOf(ms, nil, nil), 1},
	} {
		about(t, name, c.p.Worse(), c.want)
	}
}

// A build that is worse by the effect would have half of its differences beyond it.
func TestPairedExcludes(t *testing.T) {
	ms, _ := metric.Default().Lookup("frames.duration_ms")
	cpu, _ := metric.Default().Lookup("cpu.time_ms")
	smooth, _ := metric.Default().Lookup("frames.smooth_ratio")
	p95, _ := metric.Default().Lookup("frames.duration_ms.p95")
	hits := metric.Metric{Name: "cache.hits", Ratio: true, Direction: metric.HigherIsBetter}
	anrs, _ := metric.Default().Lookup("anr.count")
	gcs, _ := metric.Default().Lookup("gc.count")
	janky, _ := metric.Default().Lookup("frames.janky")
	overrun, _ := metric.Default().Lookup("frames.overrun_ms")
	overrun.Direction = metric.LowerIsBetter
	fps := metric.Metric{Name: "fps", Direction: metric.HigherIsBetter, Log: true}
	wakelock, _ := metric.Default().Lookup("wakelock.time_ms")
	queries := metric.Metric{Name: "db.queries", Direction: metric.LowerIsBetter}
	all := func(v float64) []float64 { return []float64{v, v, v, v} }
	const none, some = 1.0 / 16, 1.0
	for name, c := range map[string]struct {
		m          metric.Metric
		base, head float64
		want       float64
	}{
		"nothing changed":                             {ms, 10, 10, none},
		"9 % slower":                                  {ms, 10, 10.9, none},
		"10 % slower":                                 {ms, 10, 11, some},
		"11 % slower":                                 {ms, 10, 11.1, some},
		"9 % of more that is better":                  {fps, 60, 60 * 0.91, none},
		"11 % of more that is better":                 {fps, 60, 60 * 0.89, some},
		"more of what is better":                      {fps, 60, 70, none},
		"fewer hits by 9 points":                      {hits, 0.9, 0.81, none},
		"fewer hits by 11 points":                     {hits, 0.9, 0.79, some},
		"a tenth of a low ratio":                      {hits, 0.2, 0.12, none},
		"1.4 times the bad frames of 1 to 9":          {smooth, 9. / 10, 9 / 10.4, none},
		"1.6 times the bad frames of 1 to 9":          {smooth, 9. / 10, 9 / 10.6, some},
		"1.4 times the bad frames of 1 to 99":         {smooth, 99. / 100, 99 / 100.4, none},
		"twice the bad frames of 1 in 100":            {smooth, 0.99, 0.98, some}, // 0.025 to 0.985, from 0.015 to 0.995
		"1.4 times the bad frames of 4 to 1":          {smooth, 1. / 5, 1 / 6.6, none},
		"fewer bad frames":                            {smooth, 0.9, 0.95, none},
		"a tail that is 20 % longer":                  {p95, 20, 24, none},
		"a tail that is 22 % longer":                  {p95, 20, 24.4, some},
		"no ANR":                                      {anrs, 0, 0, none},
		"an ANR in each repetition":                   {anrs, 0, 1, some},
		"one more collection of 100":                  {gcs, 100, 101, none},
		"eleven more collections of 100":              {gcs, 100, 111, some},
		"no janky frame":                              {janky, 0, 0, none},
		"two janky frames where none was":             {janky, 0, 2, some},
		"nine janky frames more of 100":               {janky, 100, 109, none},
		"eleven janky frames more of 100":             {janky, 100, 111, some},
		"a deadline missed by as much":                {overrun, -3, -3, none},
		"a deadline missed by more":                   {overrun, -3, -2, some},
		"CPU time of 4 ms by what it resolves":        {cpu, 4, 4.9, none},
		"CPU time of 4 ms by more than it resolves":   {cpu, 4, 5.1, some},
		"none of what the app counts itself":          {queries, 0, 0, none},
		"one of what the app counts itself":           {queries, 0, 1, some},
		"wakelocks of nothing by what means nothing":  {wakelock, 0, 900, none},
		"wakelocks of nothing by what means anything": {wakelock, 0, 1100, some},
	} {
		about(t, name, PairedOf(c.m, all(c.base), all(c.head)).Excludes(0.1), c.want)
	}
	// One of four is farther on the other side than all others: two of 16 orders lie as low.
	about(t, "one of four beyond", PairedOf(ms, all(10), []float64{10, 10, 10.1, 11.5}).Excludes(0.1), 2.0/16)
	// A ninth above in each, except for rounding: three of them show almost nothing.
	noise := PairedOf(ms, []float64{9.7, 10.3, 11.1, 7}, []float64{9.7 * 1.1, 10.3 * 1.1, 11.1 * 1.1, 7})
	about(t, "differences that are the effect itself", noise.Excludes(0.1), 1.0/2)
	about(t, "of nothing at all", PairedOf(ms, nil, nil).Excludes(0.1), 1)
}

func TestPairedWorsening(t *testing.T) {
	ms, _ := metric.Default().Lookup("frames.duration_ms")
	smooth, _ := metric.Default().Lookup("frames.smooth_ratio")
	p95, _ := metric.Default().Lookup("frames.duration_ms.p95")
	hits := metric.Metric{Name: "cache.hits", Ratio: true, Direction: metric.HigherIsBetter}
	anrs, _ := metric.Default().Lookup("anr.count")
	base := []float64{10, 12, 14}
	for name, c := range map[string]struct {
		p    Paired
		want float64
	}{
		"a fifth slower":              {PairedOf(ms, base, times(base, 1.2)), 0.2},
		"a fifth quicker":             {PairedOf(ms, base, times(base, 0.8)), -0.2},
		"less than what is resolved":  {PairedOf(ms, []float64{0.04, 0.04}, []float64{0.045, 0.045}), 0},
		"just what is resolved":       {PairedOf(ms, []float64{0.04, 0.04}, []float64{0.05, 0.05}), 0.25},
		"points of a ratio":           {PairedOf(hits, []float64{0.5, 0.5}, []float64{0.4, 0.4}), 0.1},
		"half as many bad frames":     {PairedOf(smooth, []float64{0.5, 0.5}, []float64{0.4, 0.4}), math.Pow(0.605/0.405, math.Log(1.1)/math.Log(1.5)) - 1},
		"a tail of 1.1 twice":         {PairedOf(p95, []float64{20, 20}, []float64{24.2, 24.2}), 0.1},
		"mean of what is rare":        {PairedOf(anrs, []float64{0, 0, 1, 0}, []float64{0, 1, 1, 0}), 1},
		"of nothing at all":           {PairedOf(ms, nil, nil), 0},
		"the middle, and not the end": {PairedOf(ms, []float64{10, 10, 10, 10, 10}, []float64{10, 10, 10, 10, 40}), 0},
	} {
		about(t, name, c.p.Worsening(), c.want)
	}
}

// A number that is worse by half of the effect or by the least change is not excluded, however sure
// it is that it is no worse.
func TestPairedBelow(t *testing.T) {
	ms, _ := metric.Default().Lookup("frames.duration_ms")
	hits := metric.Metric{Name: "cache.hits", Ratio: true, Direction: metric.HigherIsBetter}
	smooth, _ := metric.Default().Lookup("frames.smooth_ratio")
	for name, c := range map[string]struct {
		m           metric.Metric
		base, head  float64
		effect, min float64
		want        bool
	}{
		"4 % of 10":           {ms, 10, 10.4, 0.1, 0.05, true},
		"6 % of 10":           {ms, 10, 10.6, 0.1, 0.05, false},
		"better by as much":   {ms, 10, 9.4, 0.1, 0.05, true},
		"4 % of 10, any":      {ms, 10, 10.4, 0.1, 0, true},
		"6 % of 10, any":      {ms, 10, 10.6, 0.1, 0, false},
		"15 % of 20, from 20": {ms, 10, 11.5, 0.2, 0.2, true},
		"4 points":            {hits, 0.9, 0.86, 0.1, 0.05, true},
		"6 points":            {hits, 0.9, 0.84, 0.1, 0.05, false},
		"6 points better":     {hits, 0.84, 0.9, 0.1, 0.05, true},
		// Half of the way to 1.5 times the bad frames is the root of 1.5: 1.2247 times.
		"1.2 times as many":       {smooth, 0.9, 9 / 10.2, 0.1, 0.05, true},
		"1.25 times as many":      {smooth, 0.9, 9 / 10.25, 0.1, 0.05, false},
		"1.25 times fewer of few": {smooth, 9 / 10.25, 0.9, 0.1, 0.05, true},
	} {
		p := PairedOf(c.m, []float64{c.base, c.base}, []float64{c.head, c.head})
		if got := p.Below(c.effect, c.min); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if PairedOf(ms, nil, nil).Below(0.1, 0.05) {
		t.Error("nothing is below anything")
	}
}

// Of five rounds the largest and the smallest difference are the ends at 1/32 each; at 1 in 33
// there are none.
func TestPairedResult(t *testing.T) {
	smooth, _ := metric.Default().Lookup("frames.smooth_ratio")
	ms, _ := metric.Default().Lookup("frames.duration_ms")
	anrs, _ := metric.Default().Lookup("anr.count")
	at := Ends{Better: 1.0 / 32, Worse: 1.0 / 32}
	slower := PairedOf(ms, []float64{10, 10, 10, 10, 10}, []float64{11, 11.5, 12, 12.5, 13})
	got := slower.Result(at)
	if got.Rounds != 5 {
		t.Errorf("%d rounds", got.Rounds)
	}
	about(t, "base", got.Base, 10)
	about(t, "head", got.Head, 12)
	about(t, "shift", got.Shift, 10*got.Change)
	about(t, "low", *got.ChangeLow, 0.1)
	about(t, "high", *got.ChangeHigh, 0.3)
	about(t, "low in ms", *got.ShiftLow, 1)
	about(t, "high in ms", *got.ShiftHigh, 3)
	if x := slower.Result(Ends{Better: 1.0 / 33, Worse: 1.0 / 32}); x.ShiftLow != nil || x.ChangeLow != nil || x.ShiftHigh == nil {
		t.Errorf("of times %v to %v", x.ShiftLow, x.ShiftHigh)
	}
	rough := PairedOf(smooth, []float64{0.9, 0.9, 0.9, 0.9, 0.9}, []float64{0.8, 0.8, 0.79, 0.78, 0.77})
	if x := rough.Result(Ends{Better: 1.0 / 33, Worse: 1.0 / 32}); x.ShiftLow == nil || x.ShiftHigh != nil {
		t.Errorf("of what should be more %v to %v", x.ShiftLow, x.ShiftHigh)
	}
	if slower.better(at) || rough.better(at) || !PairedOf(ms, []float64{11, 11.5, 12, 12.5, 13}, []float64{10, 10, 10, 10, 10}).better(at) ||
		!PairedOf(smooth, []float64{0.8, 0.8, 0.79, 0.78, 0.77}, []float64{0.9, 0.9, 0.9, 0.9, 0.9}).better(at) {
		t.Error("what is better is told from what is worse by the whole interval")
	}
	if PairedOf(ms, []float64{11, 11.5, 12, 12.5, 10}, []float64{10, 10, 10, 10, 10.5}).better(at) {
		t.Error("an interval about nothing is no improvement")
	}
	if x := PairedOf(anrs, []float64{0, 0, 0, 0, 1}, []float64{1, 1, 1, 1, 1}).Result(at); x.ShiftLow != nil || x.ShiftHigh != nil || math.Abs(x.Shift-0.8) > 1e-9 {
		t.Errorf("of ANRs %+v", x)
	}
	if x := PairedOf(ms, nil, nil).Result(at); x.Rounds != 0 || x.ShiftLow != nil || x.Shift != 0 {
		t.Errorf("of nothing %+v", x)
	}
}

// Work that is counted in the hundreds is judged by its share, as a time is: 44 inflated layouts
// where there were 40 are a tenth more, log(44/40) in each round, and all of eight rounds are equal
// with a chance of 2⁻⁸.
func TestCountedWorkInRounds(t *testing.T) {
	inflations, _ := metric.Default().Lookup("work.inflations")
	base := []float64{40, 40, 40, 40, 40, 40, 40, 40}
	p := PairedOf(inflations, base, times(base, 1.1))
	about(t, "the chance", p.Worse(), 1.0/256)
	about(t, "the worsening", p.Worsening(), 0.1)
	said := p.Result(Ends{Better: 0.005, Worse: 0.005})
	about(t, "the shift", said.Shift, 4)
	about(t, "the change", said.Change, 0.1)
}
