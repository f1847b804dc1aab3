package memory_test

import (
	"context"
	"testing"
	"time"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/memory"
	"github.com/apkgate/apkgate/baseline/storetest"
)

func TestSuite(t *testing.T) {
	storetest.Suite(t, func(*testing.T) baseline.Store { return memory.New(nil) })
}

// clocked is a store that is used from computers with different clocks.
type clocked struct {
	*memory.Store
	now   func() time.Time
	clock *func() time.Time
}

func (c clocked) Mark(ctx context.Context, ids []string, m baseline.Mark) error {
	*c.clock = c.now
	return c.Store.Mark(ctx, ids, m)
}

func TestClocks(t *testing.T) {
	storetest.Clocks(t, func(*testing.T) storetest.Opener {
		clock := time.Now
		s := memory.New(func() time.Time { return clock() })
		return func(now func() time.Time) baseline.Store { return clocked{s, now, &clock} }
	})
}
