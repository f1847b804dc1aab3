package pullrequest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/apkgate/apkgate/gate"
)

func TestDebug(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("D"))
	if n == 0 {
		t.Skip()
	}
	p, _ := gate.PolicyOf(gate.PresetDefault)
	k, _ := strconv.Atoi(os.Getenv("NOISE"))
	cell := map[string]int{}
	open := map[string]int{}
	eff := map[string]float64{}
	scen := 0
	for i := range n {
		c := Changes()[0]
		for _, x := range Changes() {
			if x.Name == os.Getenv("C") {
				c = x
			}
		}
		w := World{Noise: Noises()[k], Scenarios: 6, Change: c, Nights: 9, Repetitions: 5, Lasts: gate.Lasts{SetUp: 0.6, Repetition: 0.3}}
		w.Minutes = 60 - 6*(0.6+0.3*float64(w.repetitions()))
		ph := phone{w, rand.New(rand.NewPCG(7, uint64(i)))}
		out, v := w.first(ph, p)
		for _, r := range v.Runs {
			any := false
			for _, c := range r.Comparisons {
				if c.Screen == gate.Open {
					any = true
					nm := c.Metric
					if c.Event != "" {
						nm = "event " + nm
					}
					if c.Common > 0 {
						nm += " common"
					}
					cell[nm]++
				}
				if c.Event == "" {
					eff[c.Metric] += c.Effect / float64(n*6)
				} else if !c.Shown {
					eff["event decides "+c.Metric] += 1 / float64(n*6)
				}
			}
			if any {
				scen++
			}
		}
		v2, o := w.settleV(ph, p, v, out)
		if o.Verdict != gate.Pass || os.Getenv("ALL") != "" {
			for _, r := range v2.Runs {
				for _, c := range r.Comparisons {
					if c.Screen == gate.Open && (c.Rounds == nil || c.Rounds.Says != gate.SaysExcluded) {
						s := "never"
						if c.Rounds != nil {
							s = string(c.Rounds.Says)
						}
						open[c.Metric+" "+s]++
						if i < 6 {
							fmt.Printf("%d %s %s/%s says %s effect %.3f known %+v missed %v rounds %+v\n", i, r.Scenario, c.Event, c.Metric, s, c.Effect, c.Known, c.Missed != nil, c.Rounds != nil)
							if c.Rounds != nil {
								fmt.Println(c.Rounds.Rounds, c.Rounds.Change)
							}
						}
					}
				}
				if r.Verdict != gate.Pass && i < 6 {
					fmt.Println("   ", r.Verdict, r.Reason)
				}
			}
		}
	}
	fmt.Println("open", cell, "scenarios open", float64(scen)/float64(n))
	fmt.Println("undecided", open)
	for k, v := range eff {
		fmt.Printf("%s %.3f\n", k, v)
	}
}
