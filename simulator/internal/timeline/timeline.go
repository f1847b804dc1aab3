// Package timeline is what happened on a simulated phone: who ran where, what windows
// there were, and each of their frames from the vsync to the screen.
//
// It owns the record and nothing else. Others write it as time passes (frames, threads),
// once for each thing that happened, and everything that a phone prints is a view of it:
// a view may lose and round, and works nothing out.
//
// All times are CLOCK_MONOTONIC of the phone.
package timeline

import (
	"slices"
	"time"
)

// Interval is a time from one instant to another.
type Interval struct{ From, To time.Duration }

// Timeline is the record of one phone, by time.
type Timeline struct {
	Threads  []Thread
	Runs     []Run
	Speeds   []Speed
	Slices   []*Slice // by From
	Layers   []*Layer // by when they opened
	Displays []DisplayFrame
	// Transactions are those of binder, by when they were received.
	Transactions []Transaction
	Sleeps       []Sleep // by From

	token int64 // the last one given
	layer int   // the last number of a layer
}

// tokensPerVsync is how many tokens an app's vsync takes: one for each time at which its
// frame could be presented (Choreographer's frame timelines).
const tokensPerVsync = 7

// AppToken is the token of a vsync that an app begins a frame for.
func (t *Timeline) AppToken() int64 {
	t.token += tokensPerVsync
	return t.token - tokensPerVsync + 1
}

// DisplayToken is that of a vsync that SurfaceFlinger begins a frame for.
func (t *Timeline) DisplayToken() int64 {
	t.token++
	return t.token
}

// Open adds the layer of a window that opens.
func (t *Timeline) Open(l *Layer) *Layer {
	const first = 120 // the system's own layers come before
	t.layer++
	l.ID = first + t.layer
	t.Layers = append(t.Layers, l)
	return l
}

// Forget drops what was over before a time.
func (t *Timeline) Forget(before time.Duration) {
	layers := t.Layers[:0]
	for _, l := range t.Layers {
		if l.Closed == 0 || l.Closed >= before {
			layers = append(layers, l)
		}
	}
	clear(t.Layers[len(layers):])
	t.Layers = layers
	t.Threads = slices.DeleteFunc(t.Threads, func(one Thread) bool { return one.Ended > 0 && one.Ended < before })
	t.Displays = later(t.Displays, before, func(f DisplayFrame) time.Duration { return f.Traced })
	t.ForgetRuns(before)
}

// ForgetRuns drops who ran where before a time.
func (t *Timeline) ForgetRuns(before time.Duration) {
	t.Runs = later(t.Runs, before, func(r Run) time.Duration { return r.To })
	t.Transactions = later(t.Transactions, before, func(one Transaction) time.Duration { return one.Received })
	t.Sleeps = later(t.Sleeps, before, func(one Sleep) time.Duration { return one.Woken })
	t.Speeds = later(t.Speeds, before, func(s Speed) time.Duration { return s.At })
	t.Slices = later(t.Slices, before, func(s *Slice) time.Duration {
		if s.To == 0 {
			return before
		}
		return s.To
	})
}

// later are the items of a list by time that end at a time or after it.
func later[T any](list []T, from time.Duration, end func(T) time.Duration) []T {
	i := 0
	for i < len(list) && end(list[i]) < from {
		i++
	}
	if i == 0 {
		return list
	}
	return append(list[:0], list[i:]...)
}
