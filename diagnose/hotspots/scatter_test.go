package hotspots

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apkgate/apkgate/run"
)

// One run is compared with another of the same build, six hundred times. Each of ten methods
// differs by 3 or 10 % from run to run, which is not in the intervals, ±6 % for sampling. A method
// is named in at most one of twenty pairs; a change of the build is still found. The log has what
// would be named if the intervals were not widened.
func TestEqualBuildsNameNoMethod(t *testing.T) {
	t.Parallel()
	const pairs = 600
	for _, c := range []struct {
		scatter float64
		basis   string
	}{{0.03, run.Blocks}, {0.10, run.Blocks}, {0.03, run.Iterations}, {0.10, run.Iterations}} {
		scatter, widened := c.scatter, c.basis == run.Blocks
		random := rand.New(rand.NewPCG(1, 2))
		oneRun := func(id string, change float64) run.Run {
			methods := run.Methods{Samples: 10_000, Level: 0.95, Basis: c.basis}
			for i := range 10 {
				j := float64(1+i) * math.Exp(scatter*random.NormFloat64()+0.03*random.NormFloat64())
				if i == 4 {
					j *= change
				}
				methods.EnergyJ += j
				methods.List = append(methods.List, run.Method{
					Name: fmt.Sprintf("method%d", i), Local: run.Cost{Samples: 1000, EnergyJ: j, LowJ: 0.94 * j, HighJ: 1.06 * j}})
			}
			return run.Run{ID: id, Status: run.Complete, Energy: &run.Energy{Source: "rails", Methods: &methods}}
		}
		innocent, found := 0, 0
		for range pairs {
			equal, _ := Explain(oneRun("head", 1), []run.Run{oneRun("base", 1)})
			if len(equal.Explaining()) > 0 {
				innocent++
			}
			worse, _ := Explain(oneRun("head", 3), []run.Run{oneRun("base", 1)})
			if named := worse.Explaining(); len(named) > 0 && named[0].Name == "method4" {
				found++
			}
		}
		t.Logf("%g %% from run to run, intervals widened %t: %d of %d equal pairs name a method, %d of %d find the one that takes three times as much", 100*scatter, widened, innocent, pairs, found, pairs)
		if widened && innocent > pairs/20 || found < pairs*9/10 {
			t.Errorf("%g %% from run to run: %d named an innocent method, %d found the guilty one", 100*scatter, innocent, found)
		}
	}
}
