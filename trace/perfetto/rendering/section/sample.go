package section

import (
	"math"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
)

// maxKept limits how many of many values are examined.
const maxKept = 512

// thinned keeps some of many values, at even distances: every one of the first maxKept, then every
// second, every fourth.
type thinned[T any] struct {
	kept         []T
	stride, seen int
}

func (t *thinned[T]) add(v func() T) {
	t.stride = max(t.stride, 1)
	if t.seen%t.stride == 0 {
		if len(t.kept) == maxKept {
			for i := range maxKept / 2 {
				t.kept[i] = t.kept[2*i]
			}
			clear(t.kept[maxKept/2:])
			t.kept = t.kept[:maxKept/2]
			t.stride *= 2
		}
		if t.seen%t.stride == 0 {
			t.kept = append(t.kept, v())
		}
	}
	t.seen++
}

// sample is times in milliseconds: their sum is over all, quantiles are over those kept.
type sample struct {
	thinned[float64]
	sum, least, greatest float64
	each                 [run.MaxApart]float64 // sums of repetitions
}

// add adds a time of the repetition at this index.
func (s *sample) add(ms float64, place int) {
	if s.seen == 0 {
		s.least, s.greatest = ms, ms
	}
	s.least, s.greatest = min(s.least, ms), max(s.greatest, ms)
	s.sum += ms
	s.each[place] += ms
	s.thinned.add(func() float64 { return ms })
}

func (s *sample) median() float64 {
	if s.seen == 0 {
		return 0
	}
	q := s.spread(3).QuantilesMS
	return q[len(q)/2]
}

// spread returns the record of the times, with n quantiles.
func (s *sample) spread(n int) run.Spread {
	if s.seen == 0 {
		return run.Spread{}
	}
	out := run.SpreadOf(slices.Clone(s.kept), n)
	out.Count, out.MeanMS = s.seen, rounded(s.sum/float64(s.seen))
	out.QuantilesMS[0], out.QuantilesMS[len(out.QuantilesMS)-1] = rounded(s.least), rounded(s.greatest)
	return out
}

// repetitions returns the sums of the first n repetitions, nil for none.
func (s *sample) repetitions(n int) []float64 {
	var out []float64
	for _, sum := range s.each[:n] {
		out = append(out, rounded(sum))
	}
	return out
}

// mean is the mean of shares; negative ones are unknown.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(share float64) {
	if share >= 0 {
		m.sum += min(share, 1)
		m.n++
	}
}

func (m mean) value() *float64 {
	if m.n == 0 {
		return nil
	}
	return new(rounded(m.sum / float64(m.n)))
}

// rounded rounds to the precision of a trace's times.
func rounded(v float64) float64 { return math.Round(v*1000) / 1000 }

func ms(d time.Duration) float64 { return rounded(max(float64(d)/float64(time.Millisecond), 0)) }
