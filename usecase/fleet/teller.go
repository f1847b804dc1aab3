package fleet

import (
	"sync"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
)

// teller passes on what happens on many devices, one thing at a time, from a
// goroutine of its own: whoever is told may take long, as a store that hangs, and
// no device waits for that.
type teller struct {
	progress journal.Progress          // nil: not told
	finished func(int, collect.Result) // nil: not told

	mu      sync.Mutex
	queue   []told
	more    *sync.Cond
	closed  bool
	emptied chan struct{} // closed once all is told
}

// told is one thing to tell: an event, or a result where there is one.
type told struct {
	event  journal.Event
	result *collect.Result
	job    int // of the result
}

func newTeller(progress journal.Progress, finished func(int, collect.Result)) *teller {
	t := &teller{progress: progress, finished: finished, emptied: make(chan struct{})}
	t.more = sync.NewCond(&t.mu)
	go t.run()
	return t
}

// maxUntold bounds the events that wait. Beyond it the oldest is dropped that only
// says what is being done: warnings, which a run has few of, and results are kept.
const maxUntold = 1000

// Report never waits.
func (t *teller) Report(e journal.Event) {
	if t.progress != nil {
		t.add(told{event: e})
	}
}

// finish tells the result of the job at a place.
func (t *teller) finish(job int, r collect.Result) {
	if t.finished != nil {
		t.add(told{result: &r, job: job})
	}
}

func (t *teller) add(what told) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = append(t.queue, what)
	if len(t.queue) > maxUntold {
		for i, old := range t.queue {
			if old.result == nil && old.event.Phase != journal.Warned {
				t.queue = append(t.queue[:i], t.queue[i+1:]...)
				break
			}
		}
	}
	t.more.Signal()
}

// close returns when all is told.
func (t *teller) close() {
	t.mu.Lock()
	t.closed = true
	t.more.Signal()
	t.mu.Unlock()
	<-t.emptied
}

func (t *teller) run() {
	defer close(t.emptied)
	for {
		what, ok := t.next()
		switch {
		case !ok:
			return
		case what.result != nil:
			t.finished(what.job, *what.result)
		default:
			t.progress.Report(what.event)
		}
	}
}

// next waits for something to tell; false where nothing more comes.
func (t *teller) next() (told, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) == 0 && !t.closed {
		t.more.Wait()
	}
	if len(t.queue) == 0 {
		return told{}, false
	}
	what := t.queue[0]
	t.queue = t.queue[1:]
	return what, true
}
