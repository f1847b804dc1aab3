package trend

import (
	"math"
	"slices"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

func (r Run) accepted() bool { return r.Outcome == "" }

// beside are the runs that are not accepted, oldest first.
type beside struct {
	runs    []Run
	builds  []int // of each run, its place in Scenario.Judged
	devices []int // of each run, -1 where none was accepted on its device
}

// byBuild finds the builds of the runs that are not accepted. It leaves out those from before the
// first night, and the oldest beyond MostJudged.
func (h *history) byBuild() {
	h.Judged = []Judged{}
	h.beside.runs = slices.DeleteFunc(h.beside.runs, func(r Run) bool { return r.Started.Before(h.Nights[0].Started) })
	groups, first := grouped(h.beside.runs)
	cut := max(0, len(first)-MostJudged)
	for _, r := range first[cut:] {
		j := Judged{Started: r.Started, Commit: r.Commit, Ref: r.Ref, Outcome: r.Outcome}
		for i, n := range h.Nights {
			if !n.Started.After(r.Started) {
				j.Night = i
			}
		}
		h.Judged = append(h.Judged, j)
	}
	kept := beside{}
	for i, r := range h.beside.runs {
		if groups[i] < cut {
			continue
		}
		j := &h.Judged[groups[i]-cut]
		j.Runs, j.Outcome = append(j.Runs, r.ID), gate.Graver(j.Outcome, r.Outcome)
		device, known := h.places[devctx.Key(devctx.Telling(r.Context, h.policy.Use))]
		if !known {
			device = -1
		}
		kept.runs, kept.builds, kept.devices = append(kept.runs, r), append(kept.builds, groups[i]-cut), append(kept.devices, device)
	}
	h.beside = kept
}

// judged returns what builds that are not accepted show, each device compared with its own level.
func (h *history) judged(v values, p polished, m metric.Metric, cell run.Cell) []Beside {
	column := run.NewColumn(cell)
	sums, counts := make([]float64, len(h.Judged)), make([]float64, len(h.Judged))
	for i, r := range h.beside.runs {
		x, has := column.In(r.Cells)
		way, known := v.ways[m.Way(r.Context)]
		own, measured := p.own[[2]int{h.beside.devices[i], way}]
		y := m.On(v.scale, x)
		if !has || !known || !measured || math.IsNaN(y) || math.IsInf(y, 0) {
			continue
		}
		sums[h.beside.builds[i]] += y - own
		counts[h.beside.builds[i]]++
	}
	out := []Beside{}
	for i, n := range counts {
		if n > 0 {
			out = append(out, Beside{i, gate.Finite(m.Back(v.scale, p.middle+sums[i]/n))})
		}
	}
	return out
}
