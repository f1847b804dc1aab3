package past

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// session is what the runs of one session show of a number together, on the judged scale: they
// share its conditions, and are no independent evidence.
type session struct {
	Number
	first *run.Summary // of its runs, by time
}

// numbered returns for each run the number of its session among those of its context, and the
// number of sessions of each context. A run that names no session is a session of its own.
func numbered(refs []*run.Summary, groups []int, contexts int) (numbers, counts []int) {
	type named struct {
		group int
		name  string
	}
	numbers, counts = make([]int, len(refs)), make([]int, contexts)
	known := make(map[named]int)
	for i, r := range refs {
		key := named{groups[i], r.Session}
		number, seen := known[key]
		if !seen {
			number = counts[key.group]
			counts[key.group]++
			if key.name != "" {
				known[key] = number
			}
		}
		numbers[i] = number
	}
	return numbers, counts
}

// joining collects the sessions of one context from their runs.
type joining struct {
	sessions []session
	places   []int // by the number of a session its place among them, from 1 on; 0: none yet
}

func newJoining(sessions int) joining {
	return joining{make([]session, 0, sessions), make([]int, sessions)}
}

// add adds a run of the session of that number.
func (j *joining) add(number int, one session) {
	if at := j.places[number]; at > 0 {
		j.sessions[at-1] = j.sessions[at-1].and(one)
		return
	}
	j.sessions = append(j.sessions, one)
	j.places[number] = len(j.sessions)
}

// inTime returns the sessions in the order of time.
func (j *joining) inTime() []session {
	if newestFirst(j.sessions) { // as stores return them
		slices.Reverse(j.sessions)
		return j.sessions
	}
	slices.SortStableFunc(j.sessions, func(a, b session) int { return a.first.Started.Compare(b.first.Started) })
	return j.sessions
}

// newestFirst reports whether each session is older than the one before it.
func newestFirst(sessions []session) bool {
	for i := 1; i < len(sessions); i++ {
		if !sessions[i].first.Started.Before(sessions[i-1].first.Started) {
			return false
		}
	}
	return true
}

// sessions returns the sessions of the own context, in the order of time.
func (v Values) sessions(p gate.Policy, c run.Cell, m metric.Metric) []session {
	if v.past.Own < 0 {
		return nil
	}
	own := newJoining(v.past.sessionsIn[v.past.Own])
	cell := run.NewColumn(c)
	for i, group := range v.groups {
		if group == v.past.Own {
			own.add(v.sessionOf(i), v.runOf(i, p, cell, m))
		}
	}
	return own.inTime()
}

// elsewhereBySession returns the sessions of the other contexts, by context and in the order of
// time.
func (v Values) elsewhereBySession(p gate.Policy, c run.Cell, m metric.Metric) [][]session {
	groups := make([]joining, v.past.count)
	cell := run.NewColumn(c)
	for i, group := range v.groups {
		if group == v.past.Own {
			continue
		}
		if groups[group].places == nil {
			groups[group] = newJoining(v.past.sessionsIn[group])
		}
		groups[group].add(v.sessionOf(i), v.runOf(i, p, cell, m))
	}
	out := make([][]session, len(groups))
	for g := range groups {
		out[g] = groups[g].inTime()
	}
	return out
}

// sessionOf returns the number of the session of the run of the i-th value.
func (v Values) sessionOf(i int) int { return v.past.sessionOf[v.ref(i)] }

// runOf returns the value of the cell in the run of the i-th value.
func (v Values) runOf(i int, p gate.Policy, cell *run.Column, m metric.Metric) session {
	r := v.past.Refs[v.ref(i)]
	return session{v.numberOf(r.Cells, p, cell, m, v.Numbers[i]), r}
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
	if o.first.Started.Before(s.first.Started) {
		s.first = o.first
	}
	return s
}

// numberOf returns a run's number of a cell: x is its value on the judged scale. A run without
// known repetitions counts as one repetition. Where a policy summarizes repetitions by their mean,
// that is their centre.
func (s Scale) numberOf(r run.Cells, p gate.Policy, cell *run.Column, m metric.Metric, x float64) Number {
	repeated, _ := cell.Repeated(r)
	repeated = s.repeated(repeated, r, cell.Cell())
	if repeated.N < 1 {
		return Number{Centre: x, N: 1}
	}
	n := Number{Centre: repeated.Centre, SD: repeated.SD, N: repeated.N}
	if p.Centre == run.Mean || m.Mean {
		n.Centre = x
	}
	return n
}

// repeated returns a run's repetitions of its cell on the scale; none where some can't be on it.
//
// Repetitions with no bad frame at all look as if nothing varied: a share of so many frames varies
// at least as frames that are drawn by chance do.
func (s Scale) repeated(r run.Repeated, of run.Cells, c run.Cell) run.Repeated {
	r, _ = r.On(s.Kind == metric.Log)
	if s.Kind != metric.Odds {
		return r
	}
	sd := r.SD
	if frames := framesOf(of, c); frames > 0 {
		bad := math.Max(math.Min(r.Centre, 1-r.Centre), 1/(2*frames))
		sd = math.Max(sd, math.Sqrt(bad*(1-bad)/frames))
	}
	return run.Repeated{N: r.N, Centre: s.On(r.Centre), SD: sd * s.metric.Slope(s.Kind, r.Centre)}
}

// framesOf returns how many frames the cell's event has in a repetition; 0 where unknown.
func framesOf(of run.Cells, c run.Cell) float64 {
	n, _ := of.Get(run.Cell{Event: c.Event, Metric: "frames.count"})
	return n
}

// NumberOf returns the new run's number of a cell whose value is x.
func (s Scale) NumberOf(r run.Summary, p gate.Policy, c run.Cell, m metric.Metric, x float64) Number {
	return s.numberOf(r.Cells, p, run.NewColumn(c), m, s.On(x))
}
