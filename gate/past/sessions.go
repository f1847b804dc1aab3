package past

import (
	"math"
	"slices"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// session is what the runs of one session say of a number together, on the judged scale:
// they share its heat and its hour, and are no independent evidence.
type session struct {
	Number
	at time.Time
	id string // of the first run
}

// sessions are those of the own context, in the order of time. Runs that name no session
// are one each.
func (v Values) sessions(p gate.Policy, c run.Cell, m metric.Metric) []session {
	var out []session
	places := map[string]int{}
	for i, group := range v.groups {
		if group != v.past.Own {
			continue
		}
		r := v.past.Refs[v.ref(i)]
		one := session{v.numberOf(*r, p, c, m, v.Numbers[i]), r.Started, r.ID}
		at, known := places[r.Session]
		if r.Session == "" || !known {
			places[r.Session] = len(out)
			out = append(out, one)
			continue
		}
		out[at] = out[at].and(one)
	}
	slices.SortStableFunc(out, func(a, b session) int { return a.at.Compare(b.at) })
	return out
}

// and joins two parts of one session.
func (s session) and(o session) session {
	n, k := float64(s.N), float64(o.N)
	df := max(n-1, 0) + max(k-1, 0)
	if df > 0 {
		s.SD = math.Sqrt(((n-1)*s.SD*s.SD + (k-1)*o.SD*o.SD) / df)
	}
	s.Centre = (n*s.Centre + k*o.Centre) / (n + k)
	s.N += o.N
	if o.at.Before(s.at) {
		s.at, s.id = o.at, o.id
	}
	return s
}

// numberOf is what a run says of a cell: x is its value on the judged scale. A run whose
// repetitions are not known is one of them. Where a policy sums repetitions up by their
// mean, that is their centre.
func (s Scale) numberOf(r run.Summary, p gate.Policy, c run.Cell, m metric.Metric, x float64) Number {
	told, known := r.Repeated(c)
	if known {
		told, known = told.On(s.Log)
	}
	if !known || told.N < 1 {
		return Number{Centre: x, N: 1}
	}
	n := Number{Centre: told.Centre, SD: told.SD, N: told.N}
	if p.Centre == run.Mean || m.Mean {
		n.Centre = x
	}
	return n
}

// NumberOf is what the new run says of a cell whose value is x.
func (s Scale) NumberOf(r run.Summary, p gate.Policy, c run.Cell, m metric.Metric, x float64) Number {
	return s.numberOf(r, p, c, m, s.On(x))
}
