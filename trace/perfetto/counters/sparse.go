package counters

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// sparse keeps only changes of counters that are all reported at once: the last time of the
// previous value, and the first of the new. A counter that a packet does not mention is unchanged.
type sparse struct {
	reader  *Reader
	packets int
	at      time.Duration // of the packet
	before  time.Duration // of the packet before
	last    map[Track]sparseValue
}

type sparseValue struct {
	value   float64
	written int // the packet in which a value was last kept
}

// next begins a packet.
func (s *sparse) next(at time.Duration) {
	s.packets++
	s.before, s.at = s.at, at
}

// all adds the values of a packet.
func (s *sparse) all(values map[Track]uint64) {
	for _, t := range slices.SortedFunc(maps.Keys(values), func(a, b Track) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Which, b.Which))
	}) {
		s.put(t, float64(values[t]))
	}
}

func (s *sparse) put(t Track, value float64) {
	last, known := s.last[t]
	switch {
	case known && last.value == value:
		return
	case known && last.written < s.packets-1:
		s.keep(s.before, t, last.value)
	case !known && !s.reader.file.Room("counters", len(s.last), maxTracks):
		return
	}
	s.last[t] = sparseValue{value, s.packets}
	s.keep(s.at, t, value)
}

func (s *sparse) keep(at time.Duration, t Track, value float64) {
	s.reader.file.Defer(at, 0, func() { s.reader.put(at, value, t) })
}
