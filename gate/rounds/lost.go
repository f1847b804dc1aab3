package rounds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// mostListed limits the list of missing metrics.
const mostListed = 3

// fewerFrames names the events of which the head build drew less than half of the base build's
// frames, where frames are not judged: a result on the frames that are left is no verdict on the
// others. It is "" where there is no such event. bases and heads are the paired iterations.
func (t *Trial) fewerFrames(bases, heads []run.Cells) string {
	base, head := map[run.Cell][]float64{}, map[run.Cell][]float64{}
	var cells []run.Cell
	for i, b := range bases {
		for cell, x := range b.All() {
			if !t.policy.RestsOn(cell, t.catalogue) {
				continue
			}
			if base[cell] == nil {
				cells = append(cells, cell)
			}
			y, _ := heads[i].Get(cell) // a missing value counts as zero
			base[cell], head[cell] = append(base[cell], x), append(head[cell], y)
		}
	}
	slices.SortFunc(cells, func(a, b run.Cell) int { return strings.Compare(a.Event, b.Event) })
	var listed []string
	for _, cell := range cells {
		m, _ := t.catalogue.Lookup(cell.Metric)
		was, is := stat.Median(base[cell]), stat.Median(head[cell])
		if was < gate.LeastFrames || 2*is >= was {
			continue
		}
		text := fmt.Sprintf("%s where the base has %s", m.Format(is), m.Format(was))
		if cell.Event != "" {
			text += " (after " + cell.Event + ")"
		}
		listed = append(listed, text)
	}
	if len(listed) == 0 {
		return ""
	}
	return "the head build drew " + gate.FewerThanHalf + " base build's frames: " + prose.Few(listed, mostListed)
}

// lacks reports whether a round of the head build lacks a number that the base build's has.
func lacks(bases, heads []run.Cells) bool {
	for i, b := range bases {
		for cell := range b.All() {
			if _, has := heads[i].Get(cell); !has {
				return true
			}
		}
	}
	return false
}

// missing names the judged numbers that most rounds of the base build have and most of the head's
// lack: a worsening of an unmeasured number is not excluded. It is "" where there is none.
func (t *Trial) missing(base run.Run, bases, heads []run.Cells) string {
	if !lacks(bases, heads) {
		return ""
	}
	summary := run.Summarize(base, t.policy.Centre, t.catalogue)
	mostHave := func(cell run.Cell, of []run.Cells) bool {
		n := 0
		for _, cells := range of {
			if _, has := cells.Get(cell); has {
				n++
			}
		}
		return 2*n > len(of)
	}
	var listed []string
	for cell := range summary.Cells.All() {
		if !t.policy.Judged(cell, summary, t.catalogue) || !mostHave(cell, bases) || mostHave(cell, heads) {
			continue
		}
		m, _ := t.catalogue.Lookup(cell.Metric)
		name := m.Title
		if cell.Event != "" {
			name += " after " + cell.Event
		}
		listed = append(listed, name)
	}
	if len(listed) == 0 {
		return ""
	}
	return "measured for the base build but not for the head build: " + prose.Few(listed, mostListed)
}
