package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/familywise"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// The size of a deviation is the share lost where higher is better, and the logarithm of the factor
// where lower is.
func TestDeviationSize(t *testing.T) {
	size := func(metricName string, value, expected float64) float64 {
		m, _ := metric.Default().Lookup(metricName)
		return (&judgement{metric: m, Comparison: gate.Comparison{Value: value, Expected: expected, Change: value/expected - 1}}).size()
	}
	gatetest.About(t, "a third of the frames lost", size("frames.count", 400, 600), 1.0/3)
	gatetest.About(t, "twice the time", size("cpu.time_ms", 200, 100), math.Ln2)
	gatetest.About(t, "half the time", size("cpu.time_ms", 50, 100), math.Ln2)
	gatetest.About(t, "from less than nothing", size("cpu.time_ms", 5, -10), 1.5)
	gatetest.About(t, "to nothing", size("cpu.time_ms", 0, 10), 1)
}

// Where a worsening that counts is excluded, a number that looks worse by chance, as one in twenty
// does, is no suspect; otherwise each of them is.
func TestSuspectWhereWorseningIsExcluded(t *testing.T) {
	for name, c := range map[string]struct {
		missed, tail, p float64
		want            bool
	}{
		"open, and likely":             {0.1, 0.06, 0.06, false},
		"open, and unlikely by itself": {0.1, 0.05, 0.9, true},
		"excluded, and unlikely alone": {0.02, 0.001, 0.06, false},
		"excluded, and unlikely":       {0.02, 0.001, 0.05, true},
		"hardly open":                  {0.021, 0.05, 0.9, true},
	} {
		j := &judgement{tails: familywise.Tails{Worse: c.tail, Better: 1}}
		j.Missed, j.P = &c.missed, c.p
		if got := j.suspect(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A shown number is not tested in rounds, unless the history is almost sure of a regression, or is
// too short to show more than that it looks worse.
func TestShownNumbersNeedNoRounds(t *testing.T) {
	type is struct {
		direction gate.Direction
		screen    gate.Screen
	}
	nothing := is{gate.None, ""}
	for name, c := range map[string]struct {
		decides   bool
		direction gate.Direction
		screen    gate.Screen
		p         float64
		sessions  int
		want      is
	}{
		"open":                        {false, gate.None, gate.Open, 0.01, 5, nothing},
		"a suspect, surely":           {false, gate.Suspect, gate.Open, 0.05, 5, is{gate.Suspect, gate.Open}},
		"a suspect among many":        {false, gate.Suspect, gate.Open, 0.06, 5, nothing},
		"a suspect of a few sessions": {false, gate.Suspect, gate.Open, 1, 4, is{gate.Suspect, gate.Open}},
		"open, of a few sessions":     {false, gate.None, gate.Open, 1, 4, nothing},
		"a regression":                {false, gate.ToRegression, gate.Open, 0.2, 5, is{gate.ToRegression, gate.Open}},
		"cleared":                     {false, gate.None, gate.Cleared, 1, 5, is{gate.None, gate.Cleared}},
		"better":                      {false, gate.ToImprovement, gate.Cleared, 0.001, 5, is{gate.ToImprovement, gate.Cleared}},
		"open, and it decides":        {true, gate.None, gate.Open, 1, 5, is{gate.None, gate.Open}},
		"a suspect that decides":      {true, gate.Suspect, gate.Open, 1, 5, is{gate.Suspect, gate.Open}},
	} {
		j := judged("a", "tap", 0.01, c.sessions, true)
		j.Shown, j.Direction, j.Screen, j.P = !c.decides, c.direction, c.screen, c.p
		j.onlyShown(gatetest.Policy(t, gate.PresetDefault))
		if got := (is{j.Direction, j.Screen}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// CPU time is shown along with the time per frame, and fails only beyond doubt; it decides where no
// deciding number was measured.
func TestDecidingNumbersByDefault(t *testing.T) {
	const cpu = "cpu.time_ms"
	shaky := []float64{100, 112, 91, 104, 97, 109, 90, 101}
	of := func(id string, frames bool, ms float64) run.Run {
		totals := map[string]float64{cpu: ms}
		if frames {
			totals[perFrame] = 8
		}
		return gatetest.Run(id, totals)
	}
	for name, c := range map[string]struct {
		frames  bool
		named   []string
		cpu     float64
		shown   bool
		screen  gate.Screen
		verdict gate.Outcome
	}{
		"as it was, and nothing else": {false, nil, 100, false, gate.Open, gate.Inconclusive},
		"as it was, beside frames":    {true, nil, 100, true, "", gate.Pass},
		"a bit more, beside frames":   {true, nil, 112, true, "", gate.Pass},
		"twice, beside frames":        {true, nil, 200, true, gate.Open, gate.Regression},
		"as it was, and asked for":    {true, []string{cpu, perFrame}, 100, false, gate.Open, gate.Inconclusive},
	} {
		p := gatetest.Policy(t, gate.PresetDefault)
		p.Metrics = c.named
		var history []run.Run
		for i, ms := range shaky {
			history = append(history, of(fmt.Sprint(i), c.frames, ms))
		}
		v := checkOne(p, of("new", c.frames, c.cpu), history...)
		if d := comparisonOf(v, cpu); d.Shown != c.shown || d.Screen != c.screen || v.Verdict != c.verdict {
			t.Errorf("%s: shown %t, %q, %s: %s; want %t, %q, %s", name, d.Shown, d.Screen, v.Verdict, v.Reason, c.shown, c.screen, c.verdict)
		}
	}
}

// repeated returns a run of these values of a metric, one per repetition.
func repeated(id, name string, values ...float64) run.Run {
	r := gatetest.Run(id, nil)
	r.Iterations = nil
	for _, x := range values {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{name: x}})
	}
	return r
}

// Three ANRs in ten repetitions where ninety had none fail, without rounds; a single one needs
// rounds, and nothing clears it.
func TestRareEventsFail(t *testing.T) {
	const anrs = "anr.count"
	var never []run.Run
	for i := range 9 {
		never = append(never, repeated(fmt.Sprint("h", i), anrs, make([]float64, 10)...))
	}
	for n, want := range map[int]struct {
		verdict   gate.Outcome
		questions int
	}{0: {gate.Pass, 0}, 1: {gate.Inconclusive, 1}, 3: {gate.Regression, 0}} {
		now := make([]float64, 10)
		for i := range n {
			now[i] = 1
		}
		v := Check(gatetest.Policy(t, gate.PresetDefault), metric.Default(), []Subject{{Run: repeated("new", anrs, now...), References: gatetest.Summaries(gatetest.Policy(t, gate.PresetDefault), never...)}})
		if asked := len(rounds.Questions(v)); v.Verdict != want.verdict || asked != want.questions {
			t.Errorf("%d of ten: %s, %d questions: %s; want %s, %d", n, v.Verdict, asked, v.Runs[0].Reason, want.verdict, want.questions)
		}
		// Its prior for rounds.
		k := comparisonOf(v.Runs[0], anrs).Prior
		if math.Abs(k.Events-float64(n)) > 1e-9 || k.Repetitions != 10 || k.Counts.Repetitions() != 90 || k.Counts.Rate() != 0 || k.SD != 0 {
			t.Errorf("%d of ten: %+v", n, k)
		}
	}
	// The first in a thousand repetitions needs rounds too.
	var long []run.Run
	for i := range 100 {
		long = append(long, repeated(fmt.Sprint("h", i), anrs, make([]float64, 10)...))
	}
	once := repeated("new", anrs, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	if d := comparisonOf(checkOne(gatetest.Policy(t, gate.PresetDefault), once, long...), anrs); d.Screen != gate.Open {
		t.Errorf("the first of a thousand is %q, missed with %g", d.Screen, gatetest.End(d.Missed))
	}
}

// Four bad frames of a hundred where there was one are detected however smooth that still is, and
// an unchanged number is not.
func TestMoreBadFramesAreDetected(t *testing.T) {
	const trials, drawn = 200, 480
	p := gatetest.Policy(t, gate.PresetDefault)
	rng := rand.New(rand.NewPCG(19, 1))
	session := func(id string, bad float64) run.Run {
		odds := math.Log(bad/(1-bad)) + 0.04*rng.NormFloat64()
		var ratios []float64
		for range 5 {
			share := 1 / (1 + math.Exp(-odds-0.08*rng.NormFloat64()))
			n := 0
			for range drawn {
				if rng.Float64() < share {
					n++
				}
			}
			ratios = append(ratios, 1-float64(n)/drawn)
		}
		return repeated(id, smoothRatio, ratios...)
	}
	passed, failed, looked := 0, 0, 0
	for range trials {
		var history []run.Run
		for i := range 12 {
			history = append(history, session(fmt.Sprint(i), 0.01))
		}
		if v := checkOne(p, session("new", 0.04), history...); v.Verdict == gate.Pass {
			passed++
		} else if comparisonOf(v, smoothRatio).Direction != gate.None {
			looked++
		}
		if checkOne(p, session("new", 0.01), history...).Verdict == gate.Regression {
			failed++
		}
	}
	// One in a hundred is allowed, and five of 200 are three standard errors beyond that.
	if passed > 0 || looked < trials*95/100 || failed > 5 {
		t.Errorf("of %d with four bad frames %d pass, and %d look worse; of as many unchanged %d fail", trials, passed, looked, failed)
	}
}

// With few accepted runs a share of few frames is no suspect for a single late frame: of seventy,
// one and none lie ln(1.005/0.005) - ln(0.9907/0.0193) = 1.37 apart as odds, and twice the standard
// error of two such is 2.1. Of seven hundred, ten late ones have the same share, and twice the
// error is 0.34. A time that varies by as much is a suspect.
func TestOneLateFrameIsNoSuspect(t *testing.T) {
	of := func(id string, frames, late float64) run.Run {
		return gatetest.Run(id, map[string]float64{"frames.count": frames, smoothRatio: 1 - late/frames})
	}
	for name, c := range map[string]struct {
		now     run.Run
		history []run.Run
		want    gate.Direction
	}{
		"one of seventy":        {of("new", 70, 1), []run.Run{of("a", 70, 0), of("b", 70, 0)}, gate.None},
		"ten of seven hundred":  {of("new", 700, 10), []run.Run{of("a", 700, 0), of("b", 700, 0)}, gate.Suspect},
		"a time that varies":    {repeated("new", "cpu.time_ms", 100, 250), []run.Run{repeated("a", "cpu.time_ms", 99, 101), repeated("b", "cpu.time_ms", 100, 102)}, gate.Suspect},
		"a time that is slower": {repeated("new", "cpu.time_ms", 150, 151), []run.Run{repeated("a", "cpu.time_ms", 99, 101), repeated("b", "cpu.time_ms", 100, 102)}, gate.Suspect},
	} {
		metric := smoothRatio
		if _, timed := c.now.Iterations[0].Metrics["cpu.time_ms"]; timed {
			metric = "cpu.time_ms"
		}
		p := gatetest.Judging(t, gate.PresetDefault, metric)
		if d := comparisonOf(checkOne(p, c.now, c.history...), metric); d.Direction != c.want {
			t.Errorf("%s: %q, want %q", name, d.Direction, c.want)
		}
	}
}
