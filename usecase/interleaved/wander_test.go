package interleaved

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// slower is a run of mail on phone a whose repetitions take longer and longer, so many hours after
// the first.
func slower(hours int, change ...func(*run.Run)) run.Run {
	r := InRounds(fmt.Sprint("night ", hours), fmt.Sprint("night ", hours), 9, append([]func(*run.Run){Later(hours)}, change...)...)
	for i := range r.Iterations {
		r.Iterations[i].Metrics = map[string]float64{"frames.duration_ms": 10 + float64(i)/10}
	}
	return r
}

func accepted(t *testing.T, s Settler, ids ...string) {
	t.Helper()
	if err := s.Store.Mark(t.Context(), ids, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
}

// The correlation of successive repetitions is taken from the newest accepted runs of the scenario
// in the same context, up to the limit.
func TestNewestLike(t *testing.T) {
	var runs []run.Run
	for i := range mostNights + 2 {
		runs = append(runs, slower(i))
	}
	on := func(name, value string) func(*run.Run) {
		return func(r *run.Run) { r.Context = map[string]string{"model": "a", "sdk": "15"}; r.Context[name] = value }
	}
	runs = append(runs, slower(40, on("model", "b")), slower(41, on("network", "3g")), slower(42, func(r *run.Run) { r.Scenario = "write" }),
		slower(43, func(r *run.Run) { r.App.Package = "another" }), slower(44), slower(45, on("battery", "0-19%")))
	s, _ := going(t, runs...)
	var ids []string
	for i := range runs {
		if i != len(runs)-2 { // not accepted
			ids = append(ids, fmt.Sprint("r", i))
		}
	}
	accepted(t, s, ids...)
	got, err := s.newestLike(t.Context(), gate.RunVerdict{Scenario: "mail", Context: map[string]string{"model": "a", "sdk": "15"}})
	var sessions []string
	for _, r := range got {
		sessions = append(sessions, strings.TrimPrefix(r.Session, "night "))
	}
	if want := "45 13 12 11 10 9 8 7 6 5 4 3"; err != nil || strings.Join(sessions, " ") != want || len(got) != mostNights {
		t.Errorf("nights %v, want %s: %v", sessions, want, err)
	}
}

// If a phone gets slower from one repetition to the next, a turn has one repetition, whatever the
// set-up takes; if that is unknown, three. Unreadable runs are a warning.
func TestTurnsFollowTheHistory(t *testing.T) {
	broken := errors.New("the disk is gone")
	for name, c := range map[string]struct {
		accepted  bool
		list, get error
		want      int
		say       string
	}{
		"nothing is accepted":      {false, nil, nil, 3, ""},
		"it gets slower":           {true, nil, nil, 1, ""},
		"the list can't be read":   {true, broken, nil, 3, "warning: how repetitions follow on each other is not known: the disk is gone\n"},
		"a damaged entry":          {true, runstore.ErrDamaged, nil, 1, ""},
		"a run can't be read":      {true, nil, broken, 3, "warning: how repetitions follow on each other is not known: the disk is gone\n"},
		"a damaged run":            {true, nil, runstore.ErrDamaged, 1, ""},
		"one that was removed now": {true, nil, runstore.ErrNotFound, 1, ""},
	} {
		var runs []run.Run
		for i := range 9 {
			runs = append(runs, slower(i))
		}
		s, say := going(t, runs...)
		if c.accepted {
			accepted(t, s, "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8")
		}
		s.Store = Failing{Store: s.Store, ListError: c.list, GetError: c.get, Of: "r4"}
		s.Set.Policy.Budget = gate.Budget{Durations: map[string]gate.RoundDurations{"": {SetUp: 1, Repetition: 0.1}}}
		noisy := gate.Prior{Repetition: 0.05, DF: 9}
		trial, v := trialOf(t, noisy), undecided(noisy)
		v.Runs[0].Scenario, v.Runs[0].Context = "mail", map[string]string{"model": "a", "sdk": "15"}
		s.readWander(t.Context(), trial, v, []int{0})
		if got := s.agendaOf(trial, v).turns[0]; got != c.want || say.String() != c.say {
			t.Errorf("%s: %d a turn, and it says %q; want %d and %q", name, got, say, c.want, c.say)
		}
	}
	s, say := going(t)
	s.Store = nil
	if s.readWander(t.Context(), nil, gate.Verdict{}, []int{0}); say.String() != "" {
		t.Errorf("without a history: %q", say)
	}
}
