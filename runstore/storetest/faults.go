package storetest

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/runstore"
)

// Fault is something that goes wrong where a history is stored, or on the connection to it.
type Fault struct {
	// Begin starts the fault, for the opened history, and returns a function that ends it.
	Begin func(t *testing.T, f *Faulty) (end func())
	// Writes and Reads are whether these succeed despite the fault, and Recovers whether they do
	// after one failed attempt, as only one connection was affected.
	Writes, Reads, Recovers bool
	// Says is part of the error, and Waits of the message while waiting; "" for none.
	Says, Waits string
}

// Faulty is a history for one fault.
type Faulty struct {
	// Open opens it, each time as another process would, with short timeouts.
	Open func(t *testing.T, waiting runstore.Waiting) (runstore.Store, error)
	// At is where it is stored, for the fault, and Proxy is in front of it.
	At    string
	Proxy *Proxy
	// Within is the deadline of every operation.
	Within time.Duration
}

// Faults tests that every fault ends in time and with a reason, that waiting is reported, that no
// acknowledged change is lost, and that nothing is stored twice after a retry. Its log is the table
// of docs/faults.md.
func Faults(t *testing.T, history func(t *testing.T) *Faulty, faults map[string]Fault) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := history(t)
			c := &faultCase{t: t, f: f, fault: fault}
			c.store = c.open()
			add(t, c.store, newRun("before", day(1), nil, 10), newRun("other", day(2), nil, 11))
			mark(t, c.store, runstore.Mark{State: runstore.Accepted}, "before")
			c.say()
			end := sync.OnceFunc(fault.Begin(t, f))
			defer end()
			c.ask("add a run", fault.Writes, func() error {
				_, err := c.store.Add(t.Context(), newRun("meanwhile", day(3), nil, 12))
				c.added = err == nil
				return err
			})
			c.ask("accept a run", fault.Writes || fault.Recovers, func() error {
				err := c.store.Mark(t.Context(), []string{"other"}, runstore.Mark{State: runstore.Accepted})
				c.marked = err == nil
				return err
			})
			c.ask("open and list", fault.Reads, func() error {
				s, err := f.Open(t, c.told)
				if err != nil {
					return err
				}
				defer s.Close()
				return c.listed(s)
			})
			if said := c.say(); fault.Waits == "" != (said == "") || !strings.Contains(said, fault.Waits) {
				t.Errorf("while it waited it said %q, want %q", said, fault.Waits)
			}
			end()
			c.again()
		})
	}
}

// faultCase is one fault of one history.
type faultCase struct {
	t     *testing.T
	f     *Faulty
	fault Fault
	store runstore.Store
	// added and marked are whether these were acknowledged.
	added, marked bool

	mu   sync.Mutex
	said []string
}

func (c *faultCase) told(what string, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, what+": "+why.Error())
}

// say returns the messages since the last call.
func (c *faultCase) say() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := strings.Join(c.said, "\n")
	c.said = nil
	return said
}

func (c *faultCase) open() runstore.Store {
	c.t.Helper()
	s, err := c.f.Open(c.t, c.told)
	if err != nil {
		c.t.Fatalf("open: %v", err)
	}
	c.t.Cleanup(func() { s.Close() })
	return s
}

// ask does something during the fault.
func (c *faultCase) ask(what string, succeeds bool, do func() error) {
	c.t.Helper()
	began := time.Now()
	err := do()
	took := time.Since(began)
	if took > c.f.Within {
		c.t.Errorf("%s: it took %v, want %v at most", what, took, c.f.Within)
	}
	if succeeds {
		if err != nil {
			c.t.Errorf("%s: %v, want that it succeeds", what, err)
		}
		c.t.Logf("%s: done after %v", what, took.Round(10*time.Millisecond))
		return
	}
	var advised *runstore.Error
	if err == nil || !strings.Contains(err.Error(), c.fault.Says) || !errors.As(err, &advised) || advised.Advice == "" {
		c.t.Errorf("%s: %v, want an error with %q, and what to do", what, err, c.fault.Says)
		return
	}
	c.t.Logf("%s: given up after %v: %v (%s)", what, took.Round(10*time.Millisecond), err, advised.Advice)
}

// listed compares the list with what was acknowledged.
func (c *faultCase) listed(s runstore.Store) error {
	c.t.Helper()
	want := []string{"before accepted", "other "}
	if c.added {
		want = []string{"before accepted", "meanwhile ", "other "}
	}
	if c.marked {
		want[len(want)-1] = "other accepted"
	}
	var got []string
	for e, err := range s.List(c.t.Context(), runstore.Filter{}) {
		if err != nil {
			return err
		}
		got = append(got, e.Run.ID+" "+string(e.Mark.State))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		c.t.Errorf("the list has %q, want %q", got, want)
	}
	return nil
}

// again repeats the requests, and checks that everything is stored once.
func (c *faultCase) again() {
	c.t.Helper()
	s := c.open()
	for range 2 {
		add(c.t, s, newRun("meanwhile", day(3), nil, 12))
	}
	mark(c.t, s, runstore.Mark{State: runstore.Accepted}, "other")
	c.added, c.marked = true, true
	if err := c.listed(s); err != nil {
		c.t.Errorf("list: %v", err)
	}
	if damage, err := s.Verify(c.t.Context()); err != nil || len(damage) > 0 {
		c.t.Errorf("Verify: %v, %v", damage, err)
	}
}
