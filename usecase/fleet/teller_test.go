package fleet

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
)

// The queue of reports is limited, and neither a warning nor a result is dropped. progressTo is a
// Progress that calls a function.
type progressTo func(journal.Event)

func (f progressTo) Report(e journal.Event) { f(e) }

func TestTellerIsBounded(t *testing.T) {
	t.Parallel()
	blocked, release := make(chan struct{}), make(chan struct{})
	var got []string
	tell := newTeller(progressTo(func(e journal.Event) {
		if len(got) == 0 {
			close(blocked)
			<-release
		}
		got = append(got, fmt.Sprint(e.Phase, " ", e.Message))
	}), func(_ int, r collect.Result) { got = append(got, "result of "+r.Device) })
	tell.Report(journal.Event{Phase: journal.SetUp})
	<-blocked
	tell.Report(journal.Event{Phase: journal.Warned, Message: "hot"})
	tell.finish(0, collect.Result{Device: "pixel"})
	for i := range 10 * maxQueued {
		tell.Report(journal.Event{Phase: journal.Settle, Message: fmt.Sprint(i)})
	}
	tell.mu.Lock()
	waiting := len(tell.queue)
	tell.mu.Unlock()
	close(release)
	tell.close()
	if waiting > maxQueued || len(got) != 1+waiting {
		t.Errorf("%d wait, %d were told; want at most %d", waiting, len(got), maxQueued)
	}
	if want := []string{"set-up ", "warning hot", "result of pixel"}; !slices.Equal(got[:3], want) {
		t.Errorf("told %q first, want %q", got[:3], want)
	}
	if last, want := got[len(got)-1], fmt.Sprint("settle ", 10*maxQueued-1); last != want {
		t.Errorf("told %q last, want %q", last, want)
	}
}
