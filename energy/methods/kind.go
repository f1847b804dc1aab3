package methods

import (
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/trace/simpleperf"
)

type kindCount struct {
	kind    simpleperf.Kind
	samples int
}

// ran counts how the method's code ran.
func (m *method) ran(kind simpleperf.Kind) {
	for i := range m.kinds {
		if m.kinds[i].kind == kind {
			m.kinds[i].samples++
			return
		}
	}
	m.kinds = append(m.kinds, kindCount{kind, 1})
}

// kind is how the method's code ran most often.
func (m *method) kind() simpleperf.Kind {
	if len(m.kinds) == 0 {
		return simpleperf.Unknown
	}
	return slices.MaxFunc(m.kinds, func(a, b kindCount) int { return cmp.Compare(a.samples, b.samples) }).kind
}
