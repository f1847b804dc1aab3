package interleaved

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// going is a settler whose history has these runs, and its output.
func going(t *testing.T, runs ...run.Run) (Settler, *strings.Builder) {
	t.Helper()
	store := memory.New(nil)
	for i, r := range runs {
		r.ID = fmt.Sprint("r", i)
		if _, err := store.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	say := &strings.Builder{}
	return Settler{Console: terminal.Console{Stdout: io.Discard, Stderr: say}, Config: withRounds(), Base: Base{APK: "base.apk", Source: run.Source{Commit: "old"}}, Store: store}, say
}

// asked is a verdict on mail on phones a and b.
func asked() gate.Verdict {
	return gate.Verdict{Runs: []gate.RunVerdict{
		{Scenario: "mail", Context: map[string]string{"model": "a", "sdk": "15", "network": "wifi"}},
		{Scenario: "mail", Context: map[string]string{"model": "b", "sdk": "15"}},
	}}
}

// counts formats how many rounds of base and head the parts of each place have.
func counts(parts map[int][]part) string {
	var out []string
	for place := range asked().Runs {
		for _, p := range parts[place] {
			out = append(out, fmt.Sprintf("%d: %d+%d", place, len(p.base.Iterations), len(p.head.Iterations)))
		}
	}
	return strings.Join(out, ", ")
}

// Only rounds of the same two commits, scenario and phone are resumed, sorted by time, and only if
// both builds were measured.
func TestEarlierParts(t *testing.T) {
	const rounds = "pr rounds"
	scenario := func(r *run.Run) { r.Scenario = "map" }
	phone := func(r *run.Run) { r.Context = map[string]string{"model": "b", "sdk": "15"} }
	android := func(r *run.Run) { r.Context = map[string]string{"model": "a", "sdk": "16"} }
	lost := func(r *run.Run) { r.Status = run.Partial }
	for name, c := range map[string]struct {
		runs []run.Run
		want string
	}{
		"none":                            {nil, ""},
		"one job's":                       {[]run.Run{InRounds("old", rounds, 4), InRounds("new", rounds, 5)}, "0: 4+5"},
		"of a session without a name":     {[]run.Run{InRounds("old", "rounds-20260101", 4), InRounds("new", "rounds-20260101", 5)}, "0: 4+5"},
		"of sessions that are not rounds": {[]run.Run{InRounds("old", "pr", 4), InRounds("new", "pr", 5)}, ""},
		"of a name that ends likewise":    {[]run.Run{InRounds("old", "playgrounds", 4), InRounds("new", "playgrounds", 5)}, ""},
		"of a name that begins likewise":  {[]run.Run{InRounds("old", "roundsman", 4), InRounds("new", "roundsman", 5)}, ""},
		"of another commit":               {[]run.Run{InRounds("old", rounds, 4), InRounds("newer", rounds, 5)}, ""},
		"of one build":                    {[]run.Run{InRounds("old", rounds, 4)}, ""},
		"of the other build":              {[]run.Run{InRounds("new", rounds, 4)}, ""},
		"of a build without a repetition": {[]run.Run{InRounds("old", rounds, 4), InRounds("new", rounds, 0, lost)}, ""},
		"of two sessions":                 {[]run.Run{InRounds("old", rounds, 4), InRounds("new", "night rounds", 5)}, ""},
		"of another scenario":             {[]run.Run{InRounds("old", rounds, 4, scenario), InRounds("new", rounds, 5, scenario)}, ""},
		"of another Android":              {[]run.Run{InRounds("old", rounds, 4, android), InRounds("new", rounds, 5, android)}, ""},
		"of both phones":                  {[]run.Run{InRounds("old", rounds, 4), InRounds("new", rounds, 4), InRounds("old", rounds, 6, phone), InRounds("new", rounds, 6, phone)}, "0: 4+4, 1: 6+6"},
		"of two jobs, by time":            {[]run.Run{InRounds("old", "b rounds", 2, Later(9)), InRounds("new", "b rounds", 2, Later(9)), InRounds("old", "a rounds", 1, Later(1)), InRounds("new", "a rounds", 1, Later(1))}, "0: 1+1, 0: 2+2"},
		"twice in a session":              {[]run.Run{InRounds("old", rounds, 1), InRounds("new", rounds, 2), InRounds("old", rounds, 3, Later(1)), InRounds("new", rounds, 4, Later(1))}, "0: 1+2, 0: 3+4"},
	} {
		s, say := going(t, c.runs...)
		if got := counts(s.earlierParts(t.Context(), asked(), []int{0, 1}, run.Source{Commit: "new"})); got != c.want || say.Len() > 0 {
			t.Errorf("%s: %q, want %q; it says %q", name, got, c.want, say)
		}
	}
}

// Of nine jobs eight are resumed.
func TestEarlierPartsLimit(t *testing.T) {
	var runs []run.Run
	for i := range 9 {
		session := fmt.Sprint(i, " rounds")
		runs = append(runs, InRounds("old", session, 1, Later(i)), InRounds("new", session, 1, Later(i)))
	}
	s, _ := going(t, runs...)
	if got := s.earlierParts(t.Context(), asked(), []int{0}, run.Source{Commit: "new"})[0]; len(got) != 8 || got[0].base.Session != "0 rounds" {
		t.Errorf("%d parts, want the first eight", len(got))
	}
}

// Without both commits, with equal commits, or without a history there are no earlier rounds of the
// same two builds.
func TestEarlierPartsOfUnknownBuilds(t *testing.T) {
	runs := []run.Run{InRounds("old", "pr rounds", 4), InRounds("new", "pr rounds", 4), InRounds("", "pr rounds", 4, Later(1))}
	for name, c := range map[string]struct{ base, head string }{
		"no commit of the base": {"", "new"}, "no commit of the head": {"old", ""}, "one commit": {"old", "old"},
	} {
		s, _ := going(t, runs...)
		s.Base.Source.Commit = c.base
		if got := s.earlierParts(t.Context(), asked(), []int{0}, run.Source{Commit: c.head}); len(got) != 0 {
			t.Errorf("%s: %s", name, counts(got))
		}
	}
	s, _ := going(t)
	s.Store = nil
	if got := s.earlierParts(t.Context(), asked(), []int{0}, run.Source{Commit: "new"}); len(got) != 0 {
		t.Errorf("no history: %s", counts(got))
	}
}

// A run that is damaged, or was removed meanwhile, is skipped; if the history can't be read, that
// is a warning, and rounds start from zero.
func TestEarlierPartsOfADamagedHistory(t *testing.T) {
	full := errors.New("the disk is gone")
	for name, c := range map[string]struct {
		list, get error
		want, say string
	}{
		"all can be read":       {nil, nil, "0: 1+1, 0: 2+2", ""},
		"a damaged entry":       {runstore.ErrDamaged, nil, "0: 1+1, 0: 2+2", ""},
		"no entry":              {full, nil, "", "warning: earlier rounds are not resumed: the disk is gone\n"},
		"a damaged run":         {nil, runstore.ErrDamaged, "0: 2+2", ""},
		"a run that is removed": {nil, runstore.ErrNotFound, "0: 2+2", ""},
		"a run that is not got": {nil, full, "", "warning: earlier rounds are not resumed: the disk is gone\n"},
	} {
		s, say := going(t, InRounds("old", "a rounds", 1), InRounds("new", "a rounds", 1), InRounds("old", "b rounds", 2, Later(1)), InRounds("new", "b rounds", 2, Later(1)))
		store := Failing{Store: s.Store, ListError: c.list}
		if c.get != nil {
			store.GetError, store.Of = c.get, "r0"
		}
		s.Store = store
		if got := counts(s.earlierParts(t.Context(), asked(), []int{0}, run.Source{Commit: "new"})); got != c.want || say.String() != c.say {
			t.Errorf("%s: %q, want %q; it says %q", name, got, c.want, say)
		}
	}
}

// The plan counts the maximum of parts and of complete rounds of any place, as far as both builds
// go.
func TestMostOf(t *testing.T) {
	of := func(turn, base, head int) part {
		in := func(r *run.Run) { r.Turn = turn }
		return part{InRounds("old", "rounds", base, in), InRounds("new", "rounds", head, in)}
	}
	for name, c := range map[string]struct {
		earlier       map[int][]part
		parts, rounds int
	}{
		"nothing":                   {nil, 0, 0},
		"of one place":              {map[int][]part{2: {of(1, 4, 4), of(0, 3, 3)}}, 2, 7},
		"of two places":             {map[int][]part{0: {of(1, 9, 9)}, 1: {of(1, 1, 1), of(1, 1, 1)}}, 2, 9},
		"where one has less":        {map[int][]part{0: {of(1, 5, 3), of(1, 2, 8)}}, 2, 5},
		"in turns of two":           {map[int][]part{0: {of(2, 8, 8)}}, 1, 4},
		"alternately, not in whole": {map[int][]part{0: {of(3, 7, 8)}}, 1, 2},
	} {
		if parts, rounds := mostOf(c.earlier); parts != c.parts || rounds != c.rounds {
			t.Errorf("%s: %d parts, %d rounds; want %d and %d", name, parts, rounds, c.parts, c.rounds)
		}
	}
}

func TestResumedRoundsCountForTheTrial(t *testing.T) {
	trial := trialOf(t, gate.Prior{Repetition: 0.05, DF: 9})
	resume(trial, 0, []part{{InRounds("old", "a rounds", 3), InRounds("new", "a rounds", 3)}, {InRounds("old", "b rounds", 2), InRounds("new", "b rounds", 2)}})
	if got := trial.Before(0); got != 5 {
		t.Errorf("%d rounds, want the five of both parts", got)
	}
}

// Each place is looked up once, in the order of the questions.
func TestPlacesOf(t *testing.T) {
	if got := placesOf(slices.Concat(roundsQuestions(2), roundsQuestions(0, 2, 1))); !slices.Equal(got, []int{2, 0, 1}) {
		t.Errorf("places %v, want 2, 0 and 1", got)
	}
}
