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
	at   time.Time
	id   string // of the first run
	name string // "" where the runs name none
}

// joining are sessions that are put together of their runs.
type joining struct {
	sessions []session
	places   map[string]int // of those that have a name
}

// add adds a run of the session of that name. Runs that name no session are one each.
func (j *joining) add(name string, one session) {
	if at, known := j.places[name]; known {
		j.sessions[at] = j.sessions[at].and(one)
		return
	}
	if name != "" {
		if j.places == nil {
			j.places = map[string]int{}
		}
		j.places[name] = len(j.sessions)
	}
	j.sessions = append(j.sessions, one)
}

// inTime are the sessions in the order of time.
func (j *joining) inTime() []session {
	slices.SortStableFunc(j.sessions, func(a, b session) int { return a.at.Compare(b.at) })
	return j.sessions
}

// sessions are those of the own context, in the order of time.
func (v Values) sessions(p gate.Policy, c run.Cell, m metric.Metric) []session {
	var own joining
	for i, group := range v.groups {
		if group == v.past.Own {
			own.add(v.runOf(i, p, c, m))
		}
	}
	return own.inTime()
}

// elsewhereBySession are the sessions of the other contexts, by the number of these and in
// the order of time.
func (v Values) elsewhereBySession(p gate.Policy, c run.Cell, m metric.Metric) [][]session {
	of := make([]joining, v.past.count)
	for i, group := range v.groups {
		if group != v.past.Own {
			of[group].add(v.runOf(i, p, c, m))
		}
	}
	out := make([][]session, len(of))
	for g := range of {
		out[g] = of[g].inTime()
	}
	return out
}

// runOf is what the run of the i-th value says of it, and the name of its session.
func (v Values) runOf(i int, p gate.Policy, c run.Cell, m metric.Metric) (name string, one session) {
	r := v.past.Refs[v.ref(i)]
	return r.Session, session{v.numberOf(*r, p, c, m, v.Numbers[i]), r.Started, r.ID, r.Session}
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
		told, known = s.repeated(told, framesOf(r, c))
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

// repeated is what repetitions say on the scale; false where they can't be there.
//
// Repetitions with no bad frame at all look as if nothing varied: a share of so many frames
// varies at least as frames that are drawn by chance do.
func (s Scale) repeated(r run.Repeated, frames float64) (run.Repeated, bool) {
	if s.Kind != metric.Odds {
		return r.On(s.Kind == metric.Log)
	}
	r, known := r.On(false)
	sd := r.SD
	if frames > 0 {
		bad := math.Max(math.Min(r.Centre, 1-r.Centre), 1/(2*frames))
		sd = math.Max(sd, math.Sqrt(bad*(1-bad)/frames))
	}
	return run.Repeated{N: r.N, Centre: s.On(r.Centre), SD: sd * s.metric.Slope(s.Kind, r.Centre)}, known
}

// framesOf is how many frames the cell's event has in a repetition; 0 where that is not known.
func framesOf(r run.Summary, c run.Cell) float64 {
	n, _ := r.Cells.Get(run.Cell{Event: c.Event, Metric: "frames.count"})
	return n
}

// NumberOf is what the new run says of a cell whose value is x.
func (s Scale) NumberOf(r run.Summary, p gate.Policy, c run.Cell, m metric.Metric, x float64) Number {
	return s.numberOf(r, p, c, m, s.On(x))
}
