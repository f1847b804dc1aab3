package layout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// checks returns what each scenario came to on each device, the gravest first: of a device that was
// measured in several sessions, the gravest of them. Devices on which the same is worst share a line.
func checks(in Input) []document.Check {
	type key struct {
		scenario string
		outcome  gate.Outcome
		what     string // the worst finding, or the reason
	}
	groups := map[key][]int{}
	var order []key
	worst := make([]*finding, len(in.Verdict.Runs))
	of := map[[3]string]key{} // a scenario on a device in a network
	for _, i := range gravestFirst(in.Verdict.Runs) {
		r := in.Verdict.Runs[i]
		k := key{r.Scenario, r.Verdict, ""}
		if worst[i] = worstOfRun(in, r); worst[i] != nil {
			k.what = worst[i].what()
		} else if r.Verdict == gate.Inconclusive || r.Verdict == gate.Invalid {
			k.what = reasonOf(r)
		}
		at := [3]string{r.Scenario, device(r), r.Context["network"]}
		if graver, known := of[at]; known && graver != k {
			continue
		}
		of[at] = k
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], i)
	}
	var out []document.Check
	for _, k := range order {
		runs := groups[k]
		c := document.Check{Outcome: document.Outcome(k.outcome), Title: placesOf(in.Verdict, runs), Text: k.what}
		if f := worst[runs[0]]; f != nil {
			for _, i := range runs[1:] {
				f.Hits = append(f.Hits, worst[i].Hits...)
			}
			c.Text += " " + change(f.Metric, f.middle())
		}
		out = append(out, c)
	}
	return out
}

// worstOfRun returns the finding of one run that changed most in the direction of its outcome; nil
// where it has none.
func worstOfRun(in Input, r gate.RunVerdict) *finding {
	direction := map[gate.Outcome]gate.Direction{
		gate.Regression: gate.ToRegression, gate.Improvement: gate.ToImprovement, gate.Inconclusive: gate.Suspect,
	}[r.Verdict]
	if direction == "" {
		return nil
	}
	found := with(findings(gate.Verdict{Runs: []gate.RunVerdict{r}}, in.catalogue()), direction)
	if len(found) == 0 {
		return nil
	}
	return &found[0]
}

// placesOf names the devices of some of the runs of a scenario: "Google Pixel 6 (Android 16)", "all
// 8 devices", "2 of 5 devices (…)". With several scenarios, the scenario comes first.
func placesOf(v gate.Verdict, runs []int) string {
	first := v.Runs[runs[0]]
	prefix := ""
	if severalScenarios(v) {
		prefix = wording.Brief(first.Scenario) + " on "
	}
	named := func(names []string, r gate.RunVerdict) []string {
		if d := device(r); !slices.Contains(names, d) {
			return append(names, d)
		}
		return names
	}
	var names, all []string
	for _, i := range runs {
		names = named(names, v.Runs[i])
	}
	for _, r := range v.Runs {
		if r.Scenario == first.Scenario {
			all = named(all, r)
		}
	}
	switch {
	case len(names) == 1:
		return prefix + names[0]
	case len(names) == len(all):
		return prefix + fmt.Sprintf("all %d devices", len(all))
	}
	return prefix + fmt.Sprintf("%d of %d devices (%s)", len(names), len(all), strings.TrimSpace(prose.Few(names, 3)))
}
