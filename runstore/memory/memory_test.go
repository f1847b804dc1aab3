package memory_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
	"github.com/apkgate/apkgate/runstore/storetest"
)

func TestSuite(t *testing.T) {
	storetest.Suite(t, func(*testing.T) runstore.Store { return memory.New(nil) })
}

// clocked is a store that is used from computers with different clocks.
type clocked struct {
	*memory.Store
	now   func() time.Time
	clock *func() time.Time
}

func (c clocked) Mark(ctx context.Context, ids []string, m runstore.Mark) error {
	*c.clock = c.now
	return c.Store.Mark(ctx, ids, m)
}

func TestClocks(t *testing.T) {
	storetest.Clocks(t, func(*testing.T) storetest.Opener {
		clock := time.Now
		s := memory.New(func() time.Time { return clock() })
		return func(now func() time.Time) runstore.Store { return clocked{s, now, &clock} }
	})
}

// Of makes a history whose runs are marked, judged and addressed as they were elsewhere.
func TestOf(t *testing.T) {
	judged := run.Judged{Outcome: "pass", At: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}
	entry := func(id string, m runstore.Mark, j *run.Judged) runstore.Entry {
		return runstore.Entry{Mark: m, Run: run.Run{Format: run.Format, ID: id, Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), App: run.App{Package: "a"},
			Scenario: "s", Status: run.Complete, Judged: j, Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": 1}}}}}
	}
	accepted := runstore.Mark{State: runstore.Accepted, At: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC), Note: "a night"}
	s, err := memory.Of(nil, entry("run-1", accepted, &judged), entry("run-2", runstore.Mark{}, nil), entry("run-1", accepted, &judged))
	if err != nil {
		t.Fatal(err)
	}
	one, err := s.Get(t.Context(), "run-1")
	if err != nil || one.Mark != accepted || one.Run.Judged == nil || *one.Run.Judged != judged {
		t.Errorf("%+v, %v", one, err)
	}
	found, err := s.References(t.Context(), runstore.Query{Package: "a", Scenario: "s"})
	if err != nil || len(found) != 1 || found[0].ID != "run-1" {
		t.Errorf("references %+v, %v", found, err)
	}
	other := entry("run-1", accepted, nil)
	other.Run.Scenario = "t"
	if _, err := memory.Of(nil, entry("run-1", accepted, nil), other); !errors.Is(err, runstore.ErrConflict) {
		t.Errorf("two runs of one id: %v", err)
	}
}
