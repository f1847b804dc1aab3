package repetition

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/target"
)

// busy is a workload that runs.
type busy struct {
	target      *target.Target
	began, told time.Duration
}

func begins(t *target.Target) *busy {
	now := t.Clock.Now()
	return &busy{t, now, now}
}

// busyEvery is how often it is said of a workload that it still runs: some CI systems
// end a job that is silent for ten minutes.
const busyEvery = 30 * time.Second

func (b *busy) tell() {
	if now := b.target.Clock.Now(); now-b.told >= busyEvery {
		b.told = now
		b.target.Journal.Report(journal.Busy, 0, 0, fmt.Sprintf("the workload has run for %v", (now-b.began).Round(time.Second)))
	}
}
