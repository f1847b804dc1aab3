package repetition

import (
	"context"
)

// energy does the slow part of preparing to measure energy.
type energy struct{ nothing }

func (energy) before(ctx context.Context, a *attempt) error {
	if a.energy == nil {
		return nil
	}
	return a.energy.PreTest(ctx)
}

// joules reads the power just before and just after the workload, while all recorders run.
type joules struct{ nothing }

func (joules) before(ctx context.Context, a *attempt) error {
	if a.energy == nil {
		return nil
	}
	return a.energy.StartUp(ctx)
}

func (joules) after(ctx context.Context, a *attempt) error {
	if a.energy == nil {
		return nil
	}
	return a.energy.ShutDown(ctx)
}
