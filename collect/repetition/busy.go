package repetition

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/target"
)

// busy reports progress of a running workload.
type busy struct {
	target          *target.Target
	began, reported time.Duration
}

func newBusy(t *target.Target) *busy {
	now := t.Clock.Now()
	return &busy{t, now, now}
}

// busyEvery is how often a running workload is reported: some CI systems end a job that is silent
// for ten minutes.
const busyEvery = 30 * time.Second

func (b *busy) report() {
	if now := b.target.Clock.Now(); now-b.reported >= busyEvery {
		b.reported = now
		b.target.Journal.Report(journal.Busy, 0, 0, fmt.Sprintf("the workload has run for %v", (now-b.began).Round(time.Second)))
	}
}
