package queue

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// virtual is a lab in virtual time: it carries out the orders of a queue, and checks its promises
// at each of them.
type virtual struct {
	t        *testing.T
	q        *Queue
	units    []Unit
	stations []Station
	bounds   Bounds
	r        *rand.Rand
	opens    float64            // how long a station takes to open
	deadly   map[int]bool       // units that kill every station
	dead     map[int]bool       // stations that never open
	breaks   float64            // the chance that a station is lost while it makes a unit
	diesIdle float64            // that an idle one is lost
	now      float64            // the time
	events   []event            // what is under way
	on       map[int]bool       // stations that are not shut
	made     map[int]int        // how often each unit ended
	begun    map[int][]int      // the stations on which each unit was started
	spent    map[string]float64 // the time that each profile has spent, including lost units
	dies     map[int]float64    // when a station begins to lose all that it makes
	stay     bool               // stations are left open
	inRow    map[int]int        // losses of a station since it last made a unit
	hopeless map[int]bool       // stations that a fresh start does not help
}

// event is the end of an order.
type event struct {
	at float64
	Order
}

func (v *virtual) run() {
	v.t.Helper()
	for steps := 0; ; steps++ {
		if steps > 1_000_000 {
			v.t.Fatal("it does not end")
		}
		orders := v.q.Orders()
		for _, o := range orders {
			v.begin(o)
		}
		if len(v.q.Orders()) > 0 {
			v.t.Fatal("an order is given twice")
		}
		if len(v.events) == 0 {
			break
		}
		if v.q.finished() {
			v.t.Fatal("it is finished while something is under way")
		}
		v.idleLoss()
		slices.SortStableFunc(v.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
		next := v.events[0]
		v.events = v.events[1:]
		v.now = next.at
		v.end(next)
	}
	v.check()
}

func (v *virtual) begin(o Order) {
	takes := 0.0
	switch o.Action {
	case Open:
		if v.on[o.Station] {
			v.t.Fatalf("station %d is opened twice", o.Station)
		}
		if v.givenUp(o.Station) {
			v.t.Fatalf("station %d is opened, which is given up", o.Station)
		}
		v.on[o.Station] = true
		v.checkBounds()
		takes = v.opens
	case Make:
		if !v.on[o.Station] || v.units[o.Unit].Profile != v.stations[o.Station].Profile {
			v.t.Fatalf("unit %d on station %d, which is not for it", o.Unit, o.Station)
		}
		if slices.Contains(v.begun[o.Unit], o.Station) && v.hasFresh(o.Unit) {
			v.t.Fatalf("unit %d goes back to station %d, though another has not lost it", o.Unit, o.Station)
		}
		v.begun[o.Unit] = append(v.begun[o.Unit], o.Station)
		takes = v.units[o.Unit].Cost
		if v.lives(o.Station) < takes {
			takes = v.lives(o.Station)
		}
		v.spent[v.units[o.Unit].Profile] += takes
	case Close:
		if !v.on[o.Station] {
			v.t.Fatalf("station %d is closed, and is not open", o.Station)
		}
		takes = v.opens / 4
	}
	v.events = append(v.events, event{v.now + takes, o})
}

// lose reports a loss to the queue.
func (v *virtual) lose(s int, final bool) {
	v.inRow[s]++
	v.hopeless[s] = v.hopeless[s] || final
	v.q.Lost(s, errBroken, final)
}

// givenUp reports whether a station had its fresh start.
func (v *virtual) givenUp(s int) bool { return v.hopeless[s] || v.inRow[s] >= 2 }

// hasFresh reports whether a station is left that has not lost the unit.
func (v *virtual) hasFresh(u int) bool {
	for s, station := range v.stations {
		if station.Profile == v.units[u].Profile && !v.givenUp(s) && !slices.Contains(v.begun[u], s) {
			return true
		}
	}
	return false
}

// lives is for how long the station still works.
func (v *virtual) lives(s int) float64 {
	if dies, mortal := v.dies[s]; mortal {
		return max(dies-v.now, 0)
	}
	return math.Inf(1)
}

func (v *virtual) checkBounds() {
	there := map[string]int{}
	for s, on := range v.on {
		if on {
			there[""]++
			if place := v.stations[s].Place; place != "" {
				there[place]++
			}
		}
	}
	for place, n := range there {
		most := v.bounds.Places[place]
		if place == "" {
			most = v.bounds.All
		}
		if most > 0 && n > most {
			v.t.Fatalf("%d stations at %q, want at most %d", n, place, most)
		}
	}
}

var errBroken = errors.New("broken")

func (v *virtual) end(e event) {
	s := e.Station
	switch e.Action {
	case Open:
		if v.dead[s] {
			v.lose(s, v.r.IntN(2) == 0)
			return
		}
		v.q.Opened(s)
	case Make:
		if v.deadly[e.Unit] || v.lives(s) <= 0 || v.r.Float64() < v.breaks {
			v.lose(s, false)
			return
		}
		v.inRow[s] = 0
		v.made[e.Unit]++
		v.q.Made(s)
	case Close:
		v.on[s] = false
		v.q.Closed(s)
	}
}

// idleLoss loses a station that is open and idle.
func (v *virtual) idleLoss() {
	for s := range v.stations {
		busy := slices.ContainsFunc(v.events, func(e event) bool { return e.Station == s })
		if v.on[s] && !busy && v.r.Float64() < v.diesIdle {
			v.lose(s, false)
			for _, o := range v.q.Orders() {
				v.begin(o)
			}
		}
	}
}

// check checks the promises at the end.
func (v *virtual) check() {
	v.t.Helper()
	if !v.q.finished() {
		v.t.Fatal("nothing is under way, and it is not finished")
	}
	missing := v.q.Missing()
	for u := range v.units {
		lost := v.q.Losses(u)
		switch gone := slices.Contains(missing, u); {
		case v.made[u] > 1 || v.made[u] == 1 && gone || v.made[u] == 0 && !gone:
			v.t.Fatalf("unit %d was made %d times, and missing is %v", u, v.made[u], gone)
		case gone && len(lost) == 0 && slices.ContainsFunc(v.stations, func(s Station) bool { return s.Profile == v.units[u].Profile }):
			v.t.Fatalf("unit %d is missing without a reason", u)
		case len(v.begun[u]) > 3 || len(lost) < len(v.begun[u])-v.made[u], !gone && len(lost) != len(v.begun[u])-1:
			v.t.Fatalf("unit %d was begun on %v, with %d reasons", u, v.begun[u], len(lost))
		}
	}
	for s := range v.stations {
		if v.on[s] && !v.stay {
			v.t.Fatalf("station %d is left open", s)
		}
	}
}

// newVirtual is a lab without stations and units.
func newVirtual(t *testing.T, r *rand.Rand, bounds Bounds) *virtual {
	return &virtual{
		t: t, r: r, bounds: bounds, deadly: map[int]bool{}, dead: map[int]bool{}, dies: map[int]float64{},
		on: map[int]bool{}, made: map[int]int{}, begun: map[int][]int{}, spent: map[string]float64{}, inRow: map[int]int{}, hopeless: map[int]bool{},
	}
}

// randomLab is a lab of a few profiles.
func randomLab(t *testing.T, r *rand.Rand, bounds Bounds) *virtual {
	v := newVirtual(t, r, bounds)
	for p := range 1 + r.IntN(5) {
		profile := fmt.Sprint("p", p)
		place := []string{"", "here"}[r.IntN(2)]
		for range r.IntN(5) {
			v.stations = append(v.stations, Station{profile, place})
		}
		for range r.IntN(12) {
			v.units = append(v.units, Unit{profile, 1 + 9*r.Float64()})
		}
	}
	v.stay = r.IntN(2) == 0
	v.q = New(v.units, v.stations, bounds, v.stay)
	return v
}

// labs is how many are tried: a twentieth in short mode.
func labs(n int) int {
	if testing.Short() {
		return n / 20
	}
	return n
}

// Whatever is lost, and when: each unit is made once or is missing with a reason, no limit is
// exceeded, and it ends.
func TestEachUnitIsMadeOnceOrIsMissing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 12))
	moved, gone := 0, 0
	for range labs(8000) {
		v := randomLab(t, r, Bounds{All: r.IntN(6), Places: map[string]int{"here": r.IntN(3)}})
		v.opens, v.breaks, v.diesIdle = 5*r.Float64(), 0.3*r.Float64(), 0.1*r.Float64()
		for s := range v.stations {
			v.dead[s] = r.IntN(10) == 0
		}
		for u := range v.units {
			v.deadly[u] = r.IntN(20) == 0
		}
		v.run()
		gone += len(v.q.Missing())
		for u := range v.units {
			if v.made[u] == 1 && len(v.begun[u]) > 1 {
				moved++
			}
		}
	}
	if moved < labs(500) || gone < labs(500) {
		t.Errorf("%d units were moved and %d went missing: too few to have shown anything", moved, gone)
	}
}

// finished reports whether every unit is made or missing, and nothing is under way.
func (q *Queue) finished() bool {
	return !slices.ContainsFunc(q.units, func(u unit) bool { return u.state == pending || u.state == underWay }) &&
		!slices.ContainsFunc(q.stations, func(s station) bool { return s.state == opening || s.state == failed || s.state == closing })
}
