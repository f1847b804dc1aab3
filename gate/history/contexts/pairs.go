package contexts

import "sync"

// pair is two contexts that differ in some properties.
type pair struct {
	difference
	exactly bool   // they differ in these only
	a, b    string // their values of the properties
}

// pairs are those of a history that differ in the properties, and possibly in more.
type pairs []pair

func pairsOf(means []mean, kind unlike) pairs {
	levels := make([]string, len(means))
	for i, m := range means {
		levels[i] = level(m.code, kind)
	}
	var out pairs
	for i, a := range means {
		for j, b := range means[:i] {
			if u := between(a.code, b.code); u&kind == kind {
				d := a.centre - b.centre
				out = append(out, pair{difference{d * d, a.variance + b.variance}, u == kind, levels[i], levels[j]})
			}
		}
	}
	return out
}

// spreads returns a function of two values: how much contexts with them differ; nil where too few
// contexts show it. The difference of any two is computed once, however many values are queried.
func (ps pairs) spreads() func(a, b string) *spread {
	general := sync.OnceValue(ps.general)
	return func(a, b string) *spread {
		if s := ps.alike(a, b); s != nil {
			return s
		}
		return general()
	}
}

// alike returns how much contexts with exactly these two values differ that agree in everything
// else: each pair of them is of a different phone. It is nil where there are too few.
func (ps pairs) alike(a, b string) *spread {
	var of []difference
	for _, p := range ps {
		if p.exactly && (p.a == a && p.b == b || p.a == b && p.b == a) {
			of = append(of, p.difference)
		}
	}
	if len(of) < leastAlike {
		return nil
	}
	s := spreadOf(thinned(of), float64(len(of)))
	return &s
}

// general returns how much any two contexts differ that differ in the properties. Those that differ
// in more are used where too few differ in these only: they differ by no less. It is nil where too
// few values were seen.
func (ps pairs) general() *spread {
	for _, exactly := range []bool{true, false} {
		levels, ds := map[string]bool{}, []difference(nil)
		for _, p := range ps {
			if p.exactly || !exactly {
				levels[p.a], levels[p.b] = true, true
				ds = append(ds, p.difference)
			}
		}
		if len(levels) >= leastLevels {
			s := spreadOf(thinned(ds), float64(len(levels)-1))
			return &s
		}
	}
	return nil
}

// thinned returns an even choice of them.
func thinned(ds []difference) []difference {
	if len(ds) <= mostPairs {
		return ds
	}
	out := make([]difference, mostPairs)
	for i := range out {
		out[i] = ds[i*len(ds)/mostPairs]
	}
	return out
}
