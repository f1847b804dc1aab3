package shown

import (
	"slices"
	"time"
)

// maker builds a layer's buffers from its events, which come in chronological order.
type maker struct {
	buffers []Buffer
	latest  map[uint32]int // the last taken, -1 for none
	taken   int            // the last taken, -1 for none
}

// add adds an event. A number that recurs after it was taken, or shown, is of a new layer with the
// same name, which counts from 1 again, unless it is that of the last one taken: a layer that
// refreshes by itself is taken again with the buffer that it has.
func (m *maker) add(e timed) {
	if m.latest == nil {
		m.latest, m.taken = map[uint32]int{}, -1
	}
	place, known := m.latest[e.number]
	if known {
		b := &m.buffers[place]
		over := b.Taken != None || b.Shown != None
		if e.kind == queued && over || e.kind == latched && b.Taken != None && place != m.taken {
			known = false
		}
	}
	if !known {
		place = len(m.buffers)
		m.buffers = append(m.buffers, Buffer{Number: e.number, Queued: None, Drawn: None, Taken: None, Shown: None})
		m.latest[e.number] = place
	}
	b := &m.buffers[place]
	switch e.kind {
	case queued:
		first(&b.Queued, e.at)
	case acquired:
		first(&b.Drawn, e.at)
	case latched:
		first(&b.Taken, e.at)
		m.taken = place
	case present:
		first(&b.Shown, e.at)
	}
}

func first(at *time.Duration, value time.Duration) {
	if *at == None {
		*at = value
	}
}

// layer returns the layer. For a buffer that was taken without a known time of display, the median
// delay of the layer's other buffers is assumed; if no buffer has one, as on a display without
// fences, the times at which they were taken are used, which are as far apart.
func (m *maker) layer(name string) Layer {
	var takes []time.Duration
	for _, b := range m.buffers {
		if b.Taken != None && b.Shown >= b.Taken {
			takes = append(takes, b.Shown-b.Taken)
		}
	}
	usual := time.Duration(0)
	if len(takes) > 0 {
		slices.Sort(takes)
		usual = takes[len(takes)/2]
	}
	newer := false // one that came after it was taken
	for i := len(m.buffers) - 1; i >= 0; i-- {
		b := &m.buffers[i]
		switch {
		case b.Shown != None:
			newer = true
		case b.Taken != None:
			b.Shown, b.Guessed, newer = b.Taken+usual, true, true
		default:
			b.Passed = newer
		}
	}
	return Layer{Name: name, Buffers: m.buffers}
}
