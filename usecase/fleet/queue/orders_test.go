package queue

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func wantOrders(t *testing.T, q *Queue, when string, want ...Order) {
	t.Helper()
	if diff := cmp.Diff(want, q.Orders()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

func open(s int) Order        { return Order{Action: Open, Station: s} }
func makes(s, u int) Order    { return Order{Make, s, u} }
func shuts(s int) Order       { return Order{Action: Close, Station: s} }
func of(p string) Station     { return Station{Profile: p} }
func at(p, at string) Station { return Station{p, at} }

// No more stations are opened than there is work for.
func TestStationsAreOpenedAsTheyAreNeeded(t *testing.T) {
	t.Parallel()
	q := New([]Unit{{"a", 1}, {"a", 3}}, []Station{of("a"), of("b"), of("a"), of("a")}, Bounds{}, false)
	wantOrders(t, q, "two units", open(0), open(2))
	q.Opened(2)
	wantOrders(t, q, "the longest first", makes(2, 1))
	q.Opened(0)
	if q.Idle(2) || !q.Idle(0) {
		t.Error("who is idle?")
	}
	wantOrders(t, q, "the other", makes(0, 0))
	q.Made(0)
	wantOrders(t, q, "while a unit may come back, its stations stay")
	q.Made(2)
	wantOrders(t, q, "nothing is left", shuts(0), shuts(2))
}

// A single station keeps the caller's order, in which networks follow each other.
func TestSingleStationKeepsTheOrder(t *testing.T) {
	t.Parallel()
	q := New([]Unit{{"a", 1}, {"a", 3}, {"a", 2}}, []Station{of("a")}, Bounds{}, true)
	wantOrders(t, q, "first", open(0))
	q.Opened(0)
	for u := range 3 {
		wantOrders(t, q, "in order", makes(0, u))
		q.Made(0)
	}
	wantOrders(t, q, "it stays")
	if !q.finished() {
		t.Error("it is not finished")
	}
}

// If not all may be open, a profile without any station comes first, then the one that takes
// longest on all of its stations.
func TestOrderOfOpening(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		units []Unit
		want  []Order
	}{
		"most work":                  {[]Unit{{"a", 4}, {"b", 5}, {"c", 2}, {"c", 4}}, []Order{open(4), open(2)}},
		"work that two can share":    {[]Unit{{"a", 4}, {"a", 4}, {"b", 5}, {"c", 3}}, []Order{open(2), open(0)}},
		"one long unit of a profile": {[]Unit{{"a", 9}, {"a", 1}, {"b", 8}, {"c", 7}}, []Order{open(0), open(2)}},
		"none has one yet":           {[]Unit{{"a", 40}, {"a", 40}, {"c", 3}}, []Order{open(0), open(4)}},
		"a second one":               {[]Unit{{"a", 1}, {"a", 1}}, []Order{open(0), open(1)}},
	} {
		q := New(c.units, []Station{of("a"), of("a"), of("b"), of("b"), of("c")}, Bounds{All: 2}, false)
		wantOrders(t, q, name, c.want...)
	}
}

// Stations that share a place wait only for each other.
func TestPlaceHasItsOwnBound(t *testing.T) {
	t.Parallel()
	q := New([]Unit{{"a", 1}, {"b", 2}, {"c", 3}, {"c", 3}},
		[]Station{at("a", "here"), at("b", "here"), of("c")}, Bounds{Places: map[string]int{"here": 1}}, true)
	wantOrders(t, q, "one here, one elsewhere", open(2), open(1))
	q.Opened(1)
	wantOrders(t, q, "b is made", makes(1, 1))
	q.Made(1)
	wantOrders(t, q, "b makes room for a", shuts(1))
	wantOrders(t, q, "once")
	q.Closed(1)
	wantOrders(t, q, "there is room", open(0))
}

// A station is closed for another only if that helps it.
func TestStationIsClosedOnlyToMakeRoom(t *testing.T) {
	t.Parallel()
	q := New([]Unit{{"idle", 1}, {"here", 5}, {"here", 5}, {"also", 1}},
		[]Station{of("idle"), at("here", "here"), at("also", "here")}, Bounds{Places: map[string]int{"here": 1}}, true)
	wantOrders(t, q, "all that may", open(1), open(0))
	q.Opened(0)
	q.Opened(1)
	wantOrders(t, q, "both", makes(0, 0), makes(1, 1))
	q.Made(0)
	wantOrders(t, q, "the idle one is in nobody's way")
}

// A unit goes to a station that has not lost it; the one that did has a fresh start, and makes
// others.
func TestLostUnitMoves(t *testing.T) {
	t.Parallel()
	q := New([]Unit{{"a", 5}, {"a", 1}}, []Station{of("a"), of("a")}, Bounds{All: 1}, false)
	wantOrders(t, q, "one", open(0))
	q.Opened(0)
	wantOrders(t, q, "the longest", makes(0, 0))
	q.Lost(0, errors.New("died"), false)
	wantOrders(t, q, "it is stopped first", shuts(0))
	q.Closed(0)
	wantOrders(t, q, "a fresh one", open(0))
	q.Opened(0)
	wantOrders(t, q, "not the unit that it has lost", makes(0, 1))
	q.Made(0)
	wantOrders(t, q, "it can't help, and makes room", shuts(0))
	q.Closed(0)
	wantOrders(t, q, "the other", open(1))
	q.Opened(1)
	wantOrders(t, q, "the unit that was lost", makes(1, 0))
	q.Made(1)
	if lost := q.Losses(0); len(lost) != 1 || lost[0].Station != 0 || lost[0].Why.Error() != "died" {
		t.Errorf("%+v", lost)
	}
	if lost := q.Losses(1); len(lost) != 0 || len(q.Missing()) != 0 {
		t.Errorf("%+v, missing %v", lost, q.Missing())
	}
}

// A lost unit waits for a sound station rather than go to one that was just lost.
func TestLostUnitWaitsForASoundStation(t *testing.T) {
	t.Parallel()
	q := New([]Unit{{"a", 9}, {"a", 8}, {"a", 7}}, []Station{of("a"), of("a"), of("a")}, Bounds{}, true)
	wantOrders(t, q, "all", open(0), open(1), open(2))
	for s := range 3 {
		q.Opened(s)
	}
	wantOrders(t, q, "each", makes(0, 0), makes(1, 1), makes(2, 2))
	for s := range 2 {
		q.Lost(s, errors.New("died"), false)
	}
	wantOrders(t, q, "both", shuts(0), shuts(1))
	q.Closed(0)
	q.Closed(1)
	wantOrders(t, q, "both wait for the sound one")
	q.Made(2)
	wantOrders(t, q, "one of them", makes(2, 0))
	q.Made(2)
	wantOrders(t, q, "the other", makes(2, 1))
}

// A station that can't be opened is tried once more, unless that is useless; then its units are
// missing, with all reasons sorted by time.
func TestStationThatCantBeOpened(t *testing.T) {
	t.Parallel()
	q := New([]Unit{{"a", 1}}, []Station{of("a"), of("a")}, Bounds{All: 1}, false)
	for _, step := range []struct {
		station int
		why     string
		final   bool
	}{{0, "no licence", true}, {1, "port taken", false}, {1, "port taken still", false}} {
		wantOrders(t, q, step.why, open(step.station))
		q.Lost(step.station, errors.New(step.why), step.final)
		wantOrders(t, q, step.why, shuts(step.station))
		q.Closed(step.station)
	}
	wantOrders(t, q, "nobody is left")
	var reasons []string
	for _, l := range q.Losses(0) {
		reasons = append(reasons, l.Why.Error())
	}
	if diff := cmp.Diff([]string{"no licence", "port taken", "port taken still"}, reasons); diff != "" || !q.finished() || len(q.Missing()) != 1 {
		t.Errorf("finished %v, missing %v, reasons (-want +got):\n%s", q.finished(), q.Missing(), diff)
	}
}

// A unit that three stations have lost is given up, and no other station is blamed for it.
func TestUnitLostByThreeStations(t *testing.T) {
	t.Parallel()
	q := New([]Unit{{"a", 1}}, []Station{of("a"), of("a"), of("a"), of("a")}, Bounds{}, false)
	wantOrders(t, q, "the first", open(0))
	for s := range 3 {
		q.Opened(s)
		wantOrders(t, q, "its turn", makes(s, 0))
		q.Lost(s, errors.New("killed"), false)
		if s < 2 {
			wantOrders(t, q, "the next", shuts(s), open(s+1))
		} else {
			wantOrders(t, q, "no more", shuts(s))
		}
		q.Closed(s)
	}
	if lost := q.Losses(0); len(lost) != 3 || !q.finished() || len(q.Missing()) != 1 {
		t.Errorf("%d reasons, finished %v, missing %v", len(lost), q.finished(), q.Missing())
	}
}

// Ahead divides what is left of a profile among its stations.
func TestAhead(t *testing.T) {
	t.Parallel()
	q := New([]Unit{{"a", 1}, {"a", 1}, {"a", 1}, {"b", 1}}, []Station{of("a"), of("a"), of("b")}, Bounds{All: 1}, false)
	wantOrders(t, q, "one", open(0))
	q.Opened(0)
	if got := q.Ahead(0); got != 2 {
		t.Errorf("%d of three units for two stations, want 2", got)
	}
	wantOrders(t, q, "one", makes(0, 0))
	if got := q.Ahead(0); got != 2 {
		t.Errorf("%d of one that is made and two more, want 2", got)
	}
	q.Made(0)
	wantOrders(t, q, "the next", makes(0, 1))
	if got := q.Ahead(0); got != 1 {
		t.Errorf("%d of one that is made and one more, want 1", got)
	}
}
