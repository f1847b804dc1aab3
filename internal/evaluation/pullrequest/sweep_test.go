package pullrequest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/apkgate/apkgate/gate"
)

func TestSweep(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	if n == 0 {
		t.Skip()
	}
	p, _ := gate.PolicyOf(gate.PresetDefault)
	reps := 5
	if s := os.Getenv("REPS"); s != "" {
		reps, _ = strconv.Atoi(s)
	}
	for _, noise := range Noises()[:3] {
		for _, c := range Changes() {
			if os.Getenv("C") != "" && os.Getenv("C") != c.Name {
				continue
			}
			w := World{Noise: noise, Scenarios: 6, Change: c, Nights: 9, Repetitions: reps, Lasts: gate.Lasts{SetUp: 0.6, Repetition: 0.3}}
			w.Minutes = 60 - 6*(0.6+0.3*float64(w.repetitions()))
			got := map[gate.Outcome]int{}
			var minutes []float64
			rounds := 0
			for i := range n {
				o := w.Check(p, rand.New(rand.NewPCG(7, uint64(i))))
				got[o.Verdict]++
				rounds += o.Rounds
				minutes = append(minutes, o.Minutes)
			}
			slices.Sort(minutes)
			pc := func(o ...gate.Outcome) float64 {
				k := 0
				for _, x := range o {
					k += got[x]
				}
				return 100 * float64(k) / float64(n)
			}
			fmt.Printf("%-20s %-22s fail %5.1f  inc %5.1f  pass %5.1f  median %4.0f min, 90%% %4.0f, rounds %.0f\n", noise.Name, c.Name, pc(gate.Regression), pc(gate.Inconclusive), pc(gate.Pass, gate.Improvement), minutes[n/2], minutes[n*9/10], float64(rounds)/float64(n))
		}
	}
}
