package fleet

import (
	"sync"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
)

// teller reports the events of many devices, one at a time, from a goroutine of its own: the
// receiver may take long, as a store that hangs, and no device waits for it.
type teller struct {
	progress journal.Progress          // nil: discarded
	finished func(int, collect.Result) // nil: discarded

	mu      sync.Mutex
	queue   []report
	more    *sync.Cond
	closed  bool
	emptied chan struct{} // closed once all is reported
}

// report is one report: an event, or a result if there is one.
type report struct {
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

// maxQueued limits the queued events. Beyond it the oldest progress event is dropped: warnings,
// which are few, and results are kept.
const maxQueued = 1000

// Report never blocks.
func (t *teller) Report(e journal.Event) {
	if t.progress != nil {
		t.add(report{event: e})
	}
}

// finish reports the result of the job with that index.
func (t *teller) finish(job int, r collect.Result) {
	if t.finished != nil {
		t.add(report{result: &r, job: job})
	}
}

func (t *teller) add(what report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = append(t.queue, what)
	if len(t.queue) > maxQueued {
		for i, old := range t.queue {
			if old.result == nil && old.event.Phase != journal.Warned {
				t.queue = append(t.queue[:i], t.queue[i+1:]...)
				break
			}
		}
	}
	t.more.Signal()
}

// close returns when all is reported.
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

// next waits for the next report; false if there are no more.
func (t *teller) next() (report, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) == 0 && !t.closed {
		t.more.Wait()
	}
	if len(t.queue) == 0 {
		return report{}, false
	}
	what := t.queue[0]
	t.queue = t.queue[1:]
	return what, true
}
