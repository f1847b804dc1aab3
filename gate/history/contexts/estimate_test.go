package contexts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	devctx "github.com/apkgate/apkgate/context"
)

// world is a lab whose truth is known: phones of a model, a maker and an Android each, on two
// networks, and how much they differ. All are standard deviations of logarithms, except shift.
type world struct {
	phones, runs int
	phone        float64 // between phones
	shift        float64 // effect of 3g, the same everywhere
	network      float64 // effect of 3g, by phone
	odd          float64 // share of the phones on which 3g takes half as long again
	noise        float64 // between runs of one context
	uneven       bool    // the noise is from a third of it to three times, by phone
}

// lab returns the contexts of a world, their runs, their true levels, and the noise of each. All
// phones were measured on both networks.
func (w world) lab(random *rand.Rand) (contexts []devctx.Properties, groups [][]float64, levels, noises []float64) {
	for i := range w.phones {
		level, noise := w.phone*random.NormFloat64(), w.noise
		if w.uneven {
			noise *= math.Exp(math.Log(3) * (2*random.Float64() - 1))
		}
		for _, network := range []string{"wifi", "3g"} {
			at := level
			if network == "3g" {
				at += w.shift + w.network*random.NormFloat64()
				if random.Float64() < w.odd {
					at -= math.Log(1.5)
				}
			}
			contexts = append(contexts, devctx.Properties{
				"model": fmt.Sprint("m", i), "manufacturer": fmt.Sprint("maker", i%3), "sdk": fmt.Sprint(26 + i%4), "network": network,
			})
			var runs []float64
			for range w.runs {
				runs = append(runs, at+noise*random.NormFloat64())
			}
			groups, levels, noises = append(groups, runs), append(levels, at), append(noises, noise)
		}
	}
	return contexts, groups, levels, noises
}

// clearing is the result of judging a new run of a phone on 3g that has few runs there, by these
// and by the estimate from other contexts, over many labs of a world.
type clearing struct {
	weighted float64 // share of the labs with an estimate from others
	sd       float64 // standard error of the estimate, on average
	cleared  float64 // share of unchanged builds for which a worsening of 10 % is excluded
	missed   float64 // share of builds that are 10 % worse for which the same is excluded
}

// clear has that many own runs. A build is cleared where it lies so far below what one that is 10 %
// worse would show that at most 2 of 100 such builds do.
func (w world) clear(labs, own int) clearing {
	const twoOfAHundred = 2.0537
	random := rand.New(rand.NewPCG(1, 1))
	var c clearing
	for range labs {
		contexts, groups, levels, noises := w.lab(random)
		noise := noises[1]
		groups[1] = groups[1][:own]
		level, weight := 0.0, 0.0
		take := func(centre, sd float64) {
			level, weight = level+centre/sd/sd, weight+1/sd/sd
		}
		if estimated, ok := Of(contexts).Estimate(1, groups); ok {
			c.weighted, c.sd = c.weighted+1/float64(labs), c.sd+estimated.SD/float64(labs)
			take(estimated.Centre, estimated.SD)
		}
		for _, v := range groups[1] {
			take(v, noise)
		}
		level /= weight
		now := levels[1] + noise*random.NormFloat64()
		bound := level + math.Log(1.1) - twoOfAHundred*math.Sqrt(1/weight+noise*noise)
		if now < bound {
			c.cleared += 1 / float64(labs)
		}
		if now+math.Log(1.1) < bound {
			c.missed += 1 / float64(labs)
		}
	}
	c.sd /= c.weighted
	return c
}

// Ten phones on which the network makes no difference: a run on wifi counts for 3g nearly as if it
// had been measured there. Where it does make one, the same for all, different for each phone, or
// large for a few, others count for little, and a build that is 10 % worse is never cleared more
// often than allowed.
func TestEstimateFromOtherContexts(t *testing.T) {
	lab := world{phones: 10, runs: 8, phone: 0.2, noise: 0.03}
	with := func(change func(*world)) world {
		w := lab
		change(&w)
		return w
	}
	for name, c := range map[string]struct {
		world
		least, most float64 // of the estimate, in noise of one run
	}{
		"the network makes nothing":           {lab, 0, 1},
		"nor do phones":                       {with(func(w *world) { w.phone = 0 }), 0, 0.7},
		"phones with noise of their own":      {with(func(w *world) { w.uneven = true }), 0, 1.1},
		"four phones":                         {with(func(w *world) { w.phones = 4 }), 0, 2.5},
		"15 % more on 3g everywhere":          {with(func(w *world) { w.shift = 0.14 }), 5, math.Inf(1)},
		"10 % more or less on 3g by phone":    {with(func(w *world) { w.network = 0.1 }), 3, math.Inf(1)},
		"3g halves it on one phone of ten":    {with(func(w *world) { w.odd = 0.1 }), 3, math.Inf(1)},
		"3g halves it on one phone of twenty": {with(func(w *world) { w.phones, w.odd = 20, 0.05 }), 1.5, math.Inf(1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			labs := 400
			if testing.Short() {
				labs = 80
			}
			for _, own := range []int{1, 3} {
				got := c.clear(labs, own)
				t.Logf("%d own: %.2f are told something, %.1f times the noise off; of unchanged builds %.2f are cleared, of worse ones %.3f", own, got.weighted, got.sd/c.noise, got.cleared, got.missed)
				if got.weighted < 1-1e-9 || got.sd < c.least*c.noise || got.sd > c.most*c.noise {
					t.Errorf("%d own: %.2f are told something, %.1f times the noise off; want all, %g to %g times", own, got.weighted, got.sd/c.noise, c.least, c.most)
				}
				if most := 0.02 + 2.5*math.Sqrt(0.02*0.98/float64(labs)); got.missed > most {
					t.Errorf("%d own: %.3f of the builds that are 10 %% worse are cleared, want at most 0.02 (%.3f of so few labs)", own, got.missed, most)
				}
			}
		})
	}
}

// The estimate is worth something: of unchanged builds with one run of their own, a sixth more are
// cleared than by that run alone, whose noise is known here.
func TestEstimateClearsMore(t *testing.T) {
	lab := world{phones: 10, runs: 8, phone: 0.2, noise: 0.03}
	with, without := lab.clear(300, 1), world{phones: 2, runs: 8, noise: 0.03}.clear(300, 1)
	if without.weighted > 0 || with.cleared < 1.15*without.cleared {
		t.Errorf("with others %.2f of unchanged builds are cleared, without %.2f (told %.2f)", with.cleared, without.cleared, without.weighted)
	}
}

func TestEstimateUnknown(t *testing.T) {
	phone := func(model, network string) devctx.Properties {
		return devctx.Properties{"model": model, "network": network}
	}
	some, wifi := []float64{1, 1.1, 0.9}, []devctx.Properties{phone("a", "wifi"), phone("b", "wifi"), phone("c", "wifi"), phone("d", "wifi")}
	for name, c := range map[string]struct {
		contexts []devctx.Properties
		own      int
		groups   [][]float64
	}{
		"a context that was never met":  {wifi, -1, [][]float64{some, some, some, some}},
		"one without a run that has it": {wifi, 0, [][]float64{nil, some, some, some}},
		"by contexts of one run each":   {wifi, 0, [][]float64{{1}, {1.1}, {0.9}, {1}}},
		"by four phones":                {wifi, 0, [][]float64{some, some, some, some}},
		"by no other context":           {wifi[:1], 0, [][]float64{some}},
		"by two phones on two networks": {[]devctx.Properties{phone("a", "wifi"), phone("a", "3g"), phone("b", "wifi"), phone("b", "3g")}, 0, [][]float64{some, some, some, some}},
		"by numbers that are none":      {append(wifi, phone("e", "wifi")), 0, [][]float64{some, some, some, {math.Inf(1), 1}, some}},
	} {
		if estimated, ok := Of(c.contexts).Estimate(c.own, c.groups); ok {
			t.Errorf("%s: %+v", name, estimated)
		}
	}
}

// The estimate reports which contexts it is from and how they differ.
func TestEstimateNamesItsSources(t *testing.T) {
	var contexts []devctx.Properties
	var groups [][]float64
	for i := range 3 {
		for _, network := range []string{"wifi", "3g"} {
			contexts = append(contexts, devctx.Properties{"model": fmt.Sprint(i), "network": network})
			groups = append(groups, []float64{float64(i), float64(i) + 0.01, float64(i) - 0.01})
		}
	}
	groups[1] = groups[1][:1]
	estimated, ok := Of(contexts).Estimate(1, groups)
	if !ok || estimated.Contexts != 1 || estimated.Runs != 3 || len(estimated.Unlike) != 1 || estimated.Unlike[0] != "network" || math.Abs(estimated.Centre) > 1e-12 || estimated.SD > 0.05 {
		t.Errorf("%+v, %t; want the three runs on wifi, unlike in the network", estimated, ok)
	}
	// Whichever of the two comes first.
	contexts[2], contexts[3], groups[2], groups[3] = contexts[3], contexts[2], groups[3], groups[2]
	if again, ok := Of(contexts).Estimate(1, groups); !ok || again.SD != estimated.SD || again.Runs != 3 {
		t.Errorf("%+v, %t, where another phone's 3g comes first; want %+v", again, ok, estimated)
	}
}

// Five other phones of three runs each are the source for a sixth: each context counts once.
func TestEstimateCountsContextsOnce(t *testing.T) {
	var contexts []devctx.Properties
	var groups [][]float64
	for i := range 6 {
		contexts = append(contexts, devctx.Properties{"model": fmt.Sprint(i)})
		groups = append(groups, []float64{1, 1.01, 0.99})
	}
	if estimated, ok := Of(contexts).Estimate(0, groups); !ok || estimated.Contexts != 5 || estimated.Runs != 15 || math.Abs(estimated.Centre-1) > 1e-12 {
		t.Errorf("%+v, %t; want 1 by 15 runs of five phones", estimated, ok)
	}
}

// One other phone, measured on wifi only, shows nothing of the effect of a phone; for five phones
// each on a network of its own it is no more than their differences.
func TestEstimateFromPhonesUnlikeInMore(t *testing.T) {
	contexts := []devctx.Properties{{"model": "a", "network": "wifi"}, {"model": "b", "network": "wifi"}}
	groups := [][]float64{{1, 1.01, 0.99}, {1.1, 1.11, 1.09}}
	if estimated, ok := Of(contexts).Estimate(0, groups); ok {
		t.Errorf("%+v by one phone", estimated)
	}
	for i, at := range []float64{0.9, 1, 1.1} {
		contexts = append(contexts, devctx.Properties{"model": fmt.Sprint(i), "network": fmt.Sprint(i)})
		groups = append(groups, []float64{at, at + 0.01, at - 0.01})
	}
	estimated, ok := Of(contexts).Estimate(0, groups)
	if !ok || estimated.SD < 0.1 || estimated.SD > 0.6 || math.Abs(estimated.Centre-1.1) > 1e-12 || !slices.Equal(estimated.Unlike, []string{"model"}) {
		t.Errorf("%+v, %t; want the other phone on wifi, about as far off as the five differ, at the most that is likely", estimated, ok)
	}
}

// Many pairs are thinned evenly, few are unchanged.
func TestPairsAreThinned(t *testing.T) {
	var ds []difference
	for i := range 6 * mostPairs {
		ds = append(ds, difference{square: float64(i)})
	}
	if got := thinned(ds); len(got) != mostPairs || got[0].square != 0 || got[mostPairs-1].square != 6*(mostPairs-1) {
		t.Errorf("%d pairs, from %g", len(got), got[0].square)
	}
	if got := thinned(ds[:3]); len(got) != 3 {
		t.Errorf("%d pairs of three", len(got))
	}
}
