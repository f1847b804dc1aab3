// Package timeline records everything that happened on a simulated phone: the threads' runs,
// the windows, and each of their frames from the vsync to the screen.
//
// It owns only the record. Others add to it as time passes (frames, threads), once for each
// event, and everything that a phone prints is a view of it: a view may lose and round data,
// and computes nothing.
//
// All times are CLOCK_MONOTONIC of the phone.
package timeline

import (
	"slices"
	"time"
)

// Interval is a span between two instants.
type Interval struct{ From, To time.Duration }

// Timeline is the record of one phone, by time.
type Timeline struct {
	Threads  []Thread
	Runs     []Run
	Speeds   []Speed
	Slices   []*Slice // by From
	Layers   []*Layer // by Opened
	Displays []DisplayFrame
	// Transactions are binder's, by the time of receipt.
	Transactions []Transaction
	Sleeps       []Sleep // by From
	// Tasks are asynchronous tasks, also those that are not scheduled yet.
	Tasks []Task

	token int64 // the last one assigned
	layer int   // the last layer number
}

// tokensPerVsync is how many tokens an app's vsync uses: one for each possible presentation
// time of its frame (Choreographer's frame timelines).
const tokensPerVsync = 7

// AppToken returns the token of a vsync for an app's frame.
func (t *Timeline) AppToken() int64 {
	t.token += tokensPerVsync
	return t.token - tokensPerVsync + 1
}

// DisplayToken returns the token of a vsync for a display frame.
func (t *Timeline) DisplayToken() int64 {
	t.token++
	return t.token
}

// Open adds the layer of a new window.
func (t *Timeline) Open(l *Layer) *Layer {
	const first = 120 // after the system's own layers
	t.layer++
	l.ID = first + t.layer
	t.Layers = append(t.Layers, l)
	return l
}

// Forget drops what ended before a time.
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
	t.Tasks = slices.DeleteFunc(t.Tasks, func(one Task) bool { return max(one.Scheduled, one.Done, one.Removed) < before })
	t.Displays = later(t.Displays, before, func(f DisplayFrame) time.Duration { return f.Traced })
	t.ForgetRuns(before)
}

// ForgetRuns drops the threads' runs before a time.
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

// later returns the items of a sorted list that end at a time or after it.
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
