package unmix

import (
	"sort"
	"time"

	"gonum.org/v1/gonum/mat"
)

// A sensor follows the power in its own way: some report the mean since the last reading, some the
// instantaneous value at its end, which is a coarser estimate of the same, some are late, and some
// smooth over many readings, as fuel gauges' registers of the average current do (the MAX17047 over
// 0.7 s and more; the bq27500 updates every second). All of these are tried.
var (
	lates   = []float64{0, 0.25, 0.5, 0.75, 1}                   // in readings
	smooths = []float64{0, 0.2, 0.4, 0.55, 0.7, 0.8, 0.88, 0.94} // of the reading before, in the next
)

// response is one of these ways: the readings with the CPU time during them, for a sensor with some
// delay, and how much it keeps.
type response struct {
	rows []row
	keep float64
}

// design returns the design matrix: the floor, the running threads, and those of each source. watts
// are the new parts of each reading after the one before, and so are the columns; a reading without
// a predecessor has no row. follows reports for each row whether the row before is of the reading
// before.
func (s response) design() (out *mat.Dense, watts []float64, follows []bool) {
	k := 2 + len(s.rows[0].of)
	var columns []float64
	for i, r := range s.rows {
		if !r.follows {
			continue
		}
		fresh := 1 - s.keep
		watts = append(watts, r.watts-s.keep*s.rows[i-1].watts)
		follows = append(follows, s.rows[i-1].follows)
		columns = append(columns, fresh, fresh*r.running)
		for _, v := range r.of {
			columns = append(columns, fresh*v)
		}
	}
	if len(watts) < MinReadings {
		return nil, nil, nil
	}
	return mat.NewDense(len(watts), k, columns), watts, follows
}

// leftovers computes the residual of each reading.
func (m *Model) leftovers(by response) {
	said := 0.0
	for _, r := range by.rows {
		if r.follows {
			power := m.unknowns[0] + m.unknowns[1]*r.running
			for j, v := range r.of {
				power += m.unknowns[2+j] * v
			}
			said = (1-by.keep)*power + by.keep*said
		} else {
			said = r.watts
		}
		m.left = append(m.left, leftover{r.recording, r.from, r.to, r.watts - said})
	}
}

// LeftW returns the model's residual at an instant of a recording, W; 0 if there is no reading.
func (m *Model) LeftW(recording int, at time.Duration) float64 {
	i := sort.Search(len(m.left), func(i int) bool {
		l := m.left[i]
		return l.recording > recording || l.recording == recording && l.to > at
	})
	if i == len(m.left) || m.left[i].recording != recording || m.left[i].from > at {
		return 0
	}
	return m.left[i].watts
}
