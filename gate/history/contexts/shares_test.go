package contexts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// find returns the share of the properties that differ together.
func find(t *testing.T, shares []Share, unlike ...string) Share {
	t.Helper()
	for _, s := range shares {
		if slices.Equal(s.Unlike, unlike) {
			return s
		}
	}
	t.Fatalf("no share of %v in %+v", unlike, shares)
	return Share{}
}

// In worlds whose truth is known: of two runs that differ in the network, twice the noise's
// variance is due to the runs, and the rest to the network. The interval contains it in nearly nine
// of ten labs.
func TestSharesOfKnownWorlds(t *testing.T) {
	for name, c := range map[string]struct {
		world
		network float64 // mean square of the effect of 3g
	}{
		"none":           {world{phones: 10, runs: 8, phone: 0.2, noise: 0.03}, 0},
		"phone by phone": {world{phones: 12, runs: 6, phone: 0.2, noise: 0.05, network: 0.1}, 0.01},
		"everywhere":     {world{phones: 10, runs: 6, phone: 0.2, noise: 0.05, shift: 0.2}, 0.04},
	} {
		random := rand.New(rand.NewPCG(3, 4))
		const labs = 200
		held, middle := 0, 0.0
		for range labs {
			contexts, groups, _, _ := c.lab(random)
			s := find(t, Of(contexts).Shares(groups), "network")
			if !s.Known || s.Pairs != c.phones || s.Values != 2 || len(s.Along) != 0 {
				t.Fatalf("%s: %+v", name, s)
			}
			truth := c.network / (c.network + 2*c.noise*c.noise)
			if s.Low <= truth+0.02 && truth <= s.High {
				held++
			}
			middle += s.Part / labs
			if s.Low > s.Part || s.Part > s.High || s.High > 1 || s.Low < 0 {
				t.Fatalf("%s: %+v", name, s)
			}
			if made := s.Part / (1 - s.Part) * 2; math.Abs(s.Worth-1/(s.High/(1-s.High)*2)) > 1e-9*s.Worth || made < 0 {
				t.Fatalf("%s: worth %g runs, want what High says: %+v", name, s.Worth, s)
			}
		}
		truth := c.network / (c.network + 2*c.noise*c.noise)
		if held < labs*85/100 || math.Abs(middle-truth) > 0.08 {
			t.Errorf("%s: %.2f on average, truly %.2f, which %d of %d intervals hold", name, middle, truth, held, labs)
		}
	}
}

// Phones of makers with Androids of their own: properties that differ together are reported
// together.
func TestSharesOfPropertiesThatDifferTogether(t *testing.T) {
	phone := func(model, maker, sdk, network string) devctx.Properties {
		return devctx.Properties{"model": model, "manufacturer": maker, "sdk": sdk, "network": network}
	}
	some := []float64{1, 1.1, 0.9}
	var contexts []devctx.Properties
	var groups [][]float64
	add := func(c devctx.Properties, by float64) {
		contexts = append(contexts, c)
		groups = append(groups, []float64{some[0] + by, some[1] + by, some[2] + by})
	}
	for i := range 6 {
		add(phone(fmt.Sprint(i), fmt.Sprint("maker", i%2), fmt.Sprint(30+i), "wifi"), float64(i))
	}
	shares := Of(contexts).Shares(groups)
	if len(shares) != 1 {
		t.Fatalf("%+v, want one of what differs together", shares)
	}
	s := find(t, shares, "manufacturer", "model", "sdk")
	if !s.Known || s.Values != 6 || s.Pairs != 15 || s.Part < 0.9 || s.Worth > 0.1 {
		t.Errorf("%+v", s)
	}
	// Three of them on 3g too: the network can be separated, and the rest as before, from pairs on
	// the same network.
	for i := range 3 {
		add(phone(fmt.Sprint(i), fmt.Sprint("maker", i%2), fmt.Sprint(30+i), "3g"), float64(i))
	}
	shares = Of(contexts).Shares(groups)
	if len(shares) != 2 || len(shares[0].Unlike) != 1 {
		t.Fatalf("%+v, want the network and what differs together", shares)
	}
	if n := find(t, shares, "network"); !n.Known || n.Pairs != 3 || n.Part > 0.5 || n.Worth < 0.1 {
		t.Errorf("%+v", n)
	}
	if s := find(t, shares, "manufacturer", "model", "sdk"); s.Pairs != 15+3 || len(s.Along) != 0 {
		t.Errorf("%+v", s)
	}
	// An Android that only differs where the model does is reported with the model.
	contexts, groups = nil, nil
	for i := range 5 {
		add(phone(fmt.Sprint(i), "one", "30", "wifi"), float64(i))
		add(phone(fmt.Sprint("x", i), "one", fmt.Sprint(30+i), "wifi"), float64(i))
	}
	shares = Of(contexts).Shares(groups)
	if s := find(t, shares, "sdk"); !slices.Equal(s.Along, []string{"model"}) {
		t.Errorf("%+v, want with the model", s)
	}
}

func TestSharesOfTooLittle(t *testing.T) {
	phone := func(model, network string) devctx.Properties {
		return devctx.Properties{"model": model, "network": network}
	}
	contexts := []devctx.Properties{phone("a", "wifi"), phone("a", "3g"), phone("b", "wifi")}
	if got := Of(contexts).Shares([][]float64{{1}, {1}, {1}}); got != nil {
		t.Errorf("by single runs: %+v", got)
	}
	if got := Of(contexts[:1]).Shares([][]float64{{1, 2}}); len(got) != 0 {
		t.Errorf("of one context: %+v", got)
	}
	for _, s := range Of(contexts).Shares([][]float64{{1, 1.1}, {1, 1.1}, {1, 1.1}}) {
		if s.Known || s.Pairs != 1 || s.Values != 2 {
			t.Errorf("by one pair: %+v", s)
		}
	}
	equal := []devctx.Properties{phone("a", "wifi"), phone("a", "3g"), phone("b", "wifi"), phone("b", "3g"), phone("c", "wifi"), phone("c", "3g")}
	same := []float64{7, 7}
	if s := find(t, Of(equal).Shares([][]float64{same, same, same, same, same, same}), "network"); !s.Known || s.High != 0 || !math.IsInf(s.Worth, 1) {
		t.Errorf("of what never differs: %+v", s)
	}
}

// Metrics of a history: times by their logarithms, joules of the most common source, and none that
// is not judged.
func TestSharesByMetric(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	var runs []run.Run
	for phone := range 6 {
		for _, network := range []string{"wifi", "3g"} {
			for i := range 4 {
				ms := math.Exp(float64(phone)/2) * (1 + 0.02*float64(i))
				r := gatetest.Run(fmt.Sprint(phone, network, i), map[string]float64{"frames.duration_ms": ms, "energy.total_j": 5 + ms, "no.such.metric": 1})
				from := "rails"
				if phone == 5 {
					from = "battery"
				}
				runs = append(runs, gatetest.In(r, map[string]string{"model": fmt.Sprint(phone), "network": network, metric.EnergyFrom: from}))
			}
		}
	}
	contexts, found := ByMetric(p, metric.Default(), gatetest.Summaries(p, runs...))
	var names []string
	for _, f := range found {
		names = append(names, fmt.Sprint(f.Metric, " ", f.Runs))
	}
	if got := strings.Join(names, ", "); contexts != 12 || got != "frames.duration_ms 48, energy.total_j 40" {
		t.Errorf("%d contexts: %s", contexts, got)
	}
	// One run that took no time has no logarithm, and the others count as they are.
	runs[0].Iterations[0].Metrics["frames.duration_ms"] = 0
	_, plain := ByMetric(p, metric.Default(), gatetest.Summaries(p, runs...))
	if model := find(t, plain[0].Shares, "model"); !model.Known || !(model.Part > 0.5) {
		t.Errorf("with a run that took no time the model makes %+v", model)
	}
	for _, f := range found {
		if model := find(t, f.Shares, "model"); !model.Known || model.Part < 0.9 {
			t.Errorf("%s: the model makes %+v", f.Metric, model)
		}
		if network := find(t, f.Shares, "network"); !network.Known || network.High > 0.5 || network.Worth < 1 {
			t.Errorf("%s: the network makes %+v", f.Metric, network)
		}
	}
}
