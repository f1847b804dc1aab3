package applog

import (
	"time"

	"github.com/apkgate/apkgate/collect/recorders"
)

// How much is kept of one repetition: saving a trace takes the device's time and memory, which the
// app then lacks.
const (
	maxKept   = recorders.MaxKept
	keptApart = 20 * time.Second
)

// policy decides when one more trace of a repetition may be kept, by the device's clock.
type policy struct {
	n    int
	last time.Duration
}

func (p *policy) allows(now time.Duration) bool {
	return p.n < maxKept && (p.n == 0 || now-p.last >= keptApart)
}

func (p *policy) kept(now time.Duration) { p.n, p.last = p.n+1, now }
