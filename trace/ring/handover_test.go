package ring

import (
	"os"
	"runtime"
	"testing"

	"github.com/apkgate/apkgate/trace/art"
)

// One goroutine writes entries and another stops it and decodes what is there, again and again: no
// entry is torn, none is written while it is stopped, and none of before is missing. The writer is
// away now and then, as where it waits for input. With APKGATE_FULL=1 it is a thousand million
// entries, which CI runs each night under the race detector.
func TestHandOver(t *testing.T) {
	t.Parallel()
	entries := 2_000_000
	if os.Getenv("APKGATE_FULL") != "" {
		entries = 1_000_000_000
	}
	r := New(8<<10, Mode64)
	var h Handover
	h.Start()
	due := make(chan bool, 1) // it is time to stop the writer; closed when it has ended
	written := 0
	go func() {
		defer close(due)
		defer func() { h.Leave(r.next) }()
		for n := uint64(1); written < entries; n++ {
			if h.On() {
				if n%2 == 0 {
					r.EnterWide(n, n<<32)
				} else {
					r.Enter(n, FirstMethod+uint32(n%1000))
					r.Exit(n, art.Exit)
				}
				h.Ended(r.next)
				written++
			}
			if n%(1<<14) == 0 || !h.On() {
				h.Leave(r.next)
				if n%(1<<14) == 0 {
					due <- true // and does not wait for it, but for the one before
				}
				runtime.Gosched()
				h.Return()
			}
		}
	}()
	stops := 0
	for range due {
		stops++
		if next := h.Stop(); next != r.next {
			t.Fatalf("the writer is at %d, and said %d", r.next, next)
		}
		checkWhole(t, r)
		h.Start()
	}
	if stops < entries>>14 || written != entries {
		t.Errorf("%d entries were written and stopped %d times, want %d and %d at least", written, stops, entries, entries>>14)
	}
}

// checkWhole decodes the ring of TestHandOver: times rise, even ones are of wide methods,
// and odd ones have their exit behind them.
func checkWhole(t *testing.T, r *Ring) {
	t.Helper()
	last, lastAction := uint64(0), art.Exit
	for e := range r.Snapshot(r.last).Entries() {
		switch {
		case e.Action == art.Exit && (e.Ticks != last && last != 0 || e.Ticks%2 == 0 || lastAction == art.Exit && last != 0):
			t.Fatalf("an exit at %d stands behind an entry at %d", e.Ticks, last)
		case e.Action == art.Enter && (e.Ticks <= last || e.Method != e.Ticks<<32 && e.Method != FirstMethod+e.Ticks%1000):
			t.Fatalf("an entry at %d of method %d stands behind %d", e.Ticks, e.Method, last)
		}
		last, lastAction = e.Ticks, e.Action
	}
}

// A writer that is away is stopped without it, and writes nothing when it is back.
func TestStopOfAWriterThatIsAway(t *testing.T) {
	t.Parallel()
	var h Handover
	h.Start()
	if !h.On() {
		t.Fatal("it does not write after Start")
	}
	if h.Ended(7) {
		t.Fatal("it ends, and nobody stopped it")
	}
	h.Leave(7)
	if at := h.Stop(); at != 7 || h.On() {
		t.Errorf("stopped at %d, want 7; it writes: %v", at, h.On())
	}
	h.Return()
	if h.On() {
		t.Error("it writes when it is back, and is stopped")
	}
	h.Start()
	if !h.On() || h.Ended(8) {
		t.Error("it does not write after the second Start")
	}
}

// A Stop that finds the writer back leaves the stop to it: the writer's next entry is the last.
func TestWriterThatIsBackStopsItself(t *testing.T) {
	t.Parallel()
	var h Handover
	h.Start()
	h.Leave(3)
	h.Return()
	h.stop.Store(1)
	h.stopAway()
	if !h.On() {
		t.Fatal("a writer that is back was stopped without it")
	}
	if !h.Ended(5) {
		t.Fatal("it does not see the stop")
	}
	if h.On() || h.stop.Load() != 5+2 {
		t.Errorf("it writes: %v; stop is %d, want 7", h.On(), h.stop.Load())
	}
}

// A writer that has set stop, and not yet reset start, has not stopped: its next store would undo a
// Start.
func TestStopWaitsForBothWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		start, stop uint64
		want        bool
	}{{1, 0, false}, {1, 1, false}, {1, 9, false}, {0, 1, false}, {0, 2, true}, {0, 9, true}} {
		var h Handover
		h.start.Store(c.start)
		h.stop.Store(c.stop)
		if next, stopped := h.stopped(); stopped != c.want || stopped && next != c.stop-2 {
			t.Errorf("start %d, stop %d: stopped is %v at %d, want %v", c.start, c.stop, stopped, next, c.want)
		}
	}
}
