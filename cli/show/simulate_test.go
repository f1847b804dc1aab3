package show

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/settings"
)

// The repetitions from which simulated rounds are drawn are summed up once, and each look at them
// is computed once, however often the trial looks: a repetition of the rounds takes some 50
// allocations (1,700 if each look recomputes the earlier ones, and 3,800 if it sums them up too).
func TestSimulatedRoundsAllocations(t *testing.T) {
	cfg := config.Default()
	set := settings.Settings{Config: &cfg, Policy: cfg.Gate.Policy(cfg.Context), Catalogue: metric.Default()}
	random := rand.New(rand.NewPCG(1, 2))
	r := run.Run{ID: "new", App: run.App{Package: "a"}, Scenario: "s", Status: run.Complete, Context: map[string]string{"model": "a"}, Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for range 10 {
		it := run.Iteration{Metrics: map[string]float64{"frames.duration_ms": 8 + 4*random.Float64()}}
		for e := range 6 {
			it.Events = append(it.Events, run.Bucket{Name: fmt.Sprint("event", e), Metrics: map[string]float64{"frames.duration_ms": 8 + 4*random.Float64(), "cpu.time_ms": 100 + 50*random.Float64()}})
		}
		r.Iterations = append(r.Iterations, it)
	}
	checker := history.NewChecker(set.Policy, set.Catalogue, 1)
	checker.Add(0, history.Subject{Run: r})
	first := checker.Verdict()
	rounds := 0
	allocated := testing.AllocsPerRun(1, func() {
		then := inTurns(first, []run.Run{r}, set)
		rounds = repetitionsOf(then)
	})
	if first.Verdict != gate.Inconclusive {
		t.Fatalf("%s: nothing is asked of rounds", first.Verdict)
	}
	if rounds < 50 || allocated > 200*float64(rounds) {
		t.Errorf("%d repetitions take %.0f allocations, want 200 each at most", rounds, allocated)
	}
}
