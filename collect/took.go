package collect

import (
	"context"
	"time"

	"github.com/apkgate/apkgate/device"
)

// Took is how long the parts of a run took by the device's clock, 0 where there was none:
// what a build's turn is put right with (installing, compiling, warming up), and one
// repetition on average.
type Took struct{ SetUp, Repetition time.Duration }

// taking adds up how long parts take.
type taking struct {
	setUp, repetitions time.Duration
	made               int
}

// timed does a part of set-up.
func (t *taking) timed(clock device.Clock, do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		began := clock.Now()
		err := do(ctx)
		t.setUp += clock.Now() - began
		return err
	}
}

// repetition adds one that was made.
func (t *taking) repetition(clock device.Clock, began time.Duration) {
	t.repetitions += clock.Now() - began
	t.made++
}

func (t *taking) took() Took {
	out := Took{SetUp: t.setUp}
	if t.made > 0 {
		out.Repetition = t.repetitions / time.Duration(t.made)
	}
	return out
}
