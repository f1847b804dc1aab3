package shown

import (
	"slices"
	"time"
)

// maker makes a layer's buffers of its events, which come by time.
type maker struct {
	buffers []Buffer
	latest  map[uint32]int // by number, the last one that bore it
	taken   int            // the last that was taken, -1 for none
}

// add takes an event. A number that comes back after it was taken, or shown, is of a new layer
// of the same name, which counts from 1 again, unless it is that of the last one taken: a
// layer that refreshes by itself is taken again with the buffer that it has.
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

func first(at *time.Duration, told time.Duration) {
	if *at == None {
		*at = told
	}
}

// layer is what became of the buffers. One that was taken and of which nothing tells when it
// was shown was so after as long as the others of the layer are, in the middle; where nothing
// tells it of any, as where the display has no fences, the times at which they were taken
// stand for it, which are as far apart.
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
