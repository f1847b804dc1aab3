package evaluation

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// began is the time of the first run of a history; each later one is a day later.
var began = time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)

// cell returns the cell of the k-th source of a phone in its runs. A metric of the catalogue can
// occur once; several are declared under names of their own.
func (s scene) cell(p phone, k int) run.Cell {
	switch {
	case s.events:
		return run.Cell{Event: fmt.Sprint("event ", k+1), Metric: declared}
	case len(p.cells) > 1:
		return run.Cell{Metric: fmt.Sprint(declared, ".", k+1)}
	}
	return run.Cell{Metric: p.cells[k].metric.Name}
}

// record returns a run of a phone with these repetitions of each of its cells.
func (s scene) record(p phone, id string, day int, values [][]float64) run.Run {
	r := run.Run{
		Format: run.Format, ID: id, Started: began.AddDate(0, 0, day), App: run.App{Package: "app"},
		Source: run.Source{Commit: fmt.Sprintf("%040x", day+1)}, Scenario: "scenario", Session: id, Status: run.Complete,
		Context: map[string]string{"model": p.model, "screen": "of " + p.model, "sdk": "34"}, Warnings: []run.Warning{},
	}
	known := map[string]bool{}
	for k, c := range p.cells {
		at := s.cell(p, k)
		if _, builtin := metric.Default().Lookup(at.Metric); builtin || known[at.Metric] {
			continue
		}
		known[at.Metric] = true
		d := run.Declared{Name: at.Metric, Unit: c.metric.Unit, Better: c.metric.Direction.String()}
		if c.metric.Log {
			d.Scale = run.Log
		}
		r.Declared = append(r.Declared, d)
	}
	for i := range values[0] {
		it := run.Iteration{Metrics: map[string]float64{}}
		for k := range p.cells {
			at := s.cell(p, k)
			if at.Event == "" {
				it.Metrics[at.Metric] = values[k][i]
				continue
			}
			it.Events = append(it.Events, run.Bucket{Name: at.Event, Metrics: map[string]float64{at.Metric: values[k][i]}})
		}
		r.Iterations = append(r.Iterations, it)
	}
	return r
}

// accepted returns the runs of a phone's history.
func (s scene) accepted(p phone) []run.Run {
	var out []run.Run
	for i := range p.cells[0].history {
		values := make([][]float64, len(p.cells))
		for k, c := range p.cells {
			values[k] = c.history[i]
		}
		out = append(out, s.record(p, fmt.Sprint(p.model, ", night ", i+1), i, values))
	}
	return out
}

// fresh returns the new run of a phone, its first cell worse by the shift where the phone is the
// shifted one.
func (s scene) fresh(p phone, shift float64) run.Run {
	values := make([][]float64, len(p.cells))
	for k, c := range p.cells {
		values[k] = p.shiftedBy(k, c.fresh, shift)
	}
	return s.record(p, p.model+", new", MaxHistory, values)
}

func (p phone) shiftedBy(k int, values []float64, shift float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v
		if p.shifted && k == 0 {
			out[i] = p.cells[k].worsened(v, shift)
		}
	}
	return out
}

// session gives rounds of a phone, as many as requested, the first ones again each time.
type session struct {
	scene      scene
	phone      phone
	shift      float64
	rng        *rand.Rand
	from       [][]float64 // by cell, what repetitions are drawn from
	base, head [][]float64 // by cell
}

// sessionOf returns the session of a phone's new run; false where it has a single repetition, from
// which no round can be drawn.
func (s scene) sessionOf(p phone, shift float64, rng *rand.Rand, widen bool) (*session, bool) {
	out := &session{scene: s, phone: p, shift: shift, rng: rng, base: make([][]float64, len(p.cells)), head: make([][]float64, len(p.cells))}
	for _, c := range p.cells {
		if len(c.session) < 2 {
			return nil, false
		}
		from := c.session
		if widen {
			from = c.widened()
		}
		out.from = append(out.from, from)
	}
	return out, true
}

// rounds returns two builds' runs of n rounds.
func (s *session) rounds(n int) (base, head run.Run) {
	for len(s.base[0]) < n {
		for k, from := range s.from {
			s.base[k] = append(s.base[k], from[s.rng.IntN(len(from))])
			s.head[k] = append(s.head[k], s.phone.shiftedBy(k, []float64{from[s.rng.IntN(len(from))]}, s.shift)...)
		}
	}
	base = s.scene.record(s.phone, s.phone.model+", base alternately", MaxHistory, s.base)
	head = s.scene.record(s.phone, s.phone.model+", head alternately", MaxHistory, s.head)
	base.Session, head.Session = "alternately", "alternately"
	return base, head
}
