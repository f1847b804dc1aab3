// Package queue decides which device makes which run: the order in which runs are started, which
// devices are open for them, and what happens to the runs of a device that is lost.
//
// It owns only the order. It has no clock and starts nothing: its driver (package fleet) carries
// out its orders and reports their results.
//
// A run is made completely on one device: its repetitions share a session, and are never split. The
// longest run is started first, and if not all devices can be open at once, those of the profile
// with the most work are. A lost device gets one fresh start; lost again before it has made
// anything, it is given up. Its run goes to a device that has not lost it, twice at most: what
// three devices lose probably causes the loss itself. Each run ends exactly once, or is missing
// with every reason.
package queue

import (
	"cmp"
	"iter"
	"slices"
)

// Unit is one run to be made.
type Unit struct {
	Profile string  // of the stations that can make it
	Cost    float64 // how long it takes, in any measure that all units share
}

// Station is a device that makes the units of its profile, one after another.
type Station struct {
	Profile string
	// Place is what it shares with other stations, such as a computer that has room for so many
	// (Bounds); "" for nothing.
	Place string
}

// Bounds are how many stations may be open at once; 0 is all.
type Bounds struct {
	All    int
	Places map[string]int
}

// Action is the kind of an order.
type Action int

// The actions.
const (
	Open  Action = iota // prepare the station for its first unit
	Make                // make the unit on the station, which is open
	Close               // stop the station
)

// Order is something to be started now. Its end is reported by Opened, Made, Closed, or Lost.
type Order struct {
	Action  Action
	Station int
	Unit    int // of Make
}

// Loss is one reason why a unit was not made, or a station was given up.
type Loss struct {
	Station int
	Why     error
}

const (
	mostMoves = 2 // of a unit to another station
	mostInRow = 2 // losses of a station, until it is given up
)

// state is what a station is doing.
type state int

const (
	shut state = iota
	opening
	idle
	busy
	failed // lost, and not yet closed
	closing
	out // given up
)

type station struct {
	Station
	state state
	unit  int   // while busy
	row   int   // losses since it last made a unit
	final bool  // a fresh start would not help
	lost  []int // of Queue.losses
}

type unit struct {
	Unit
	state unitState
	lost  []int // of Queue.losses, while stations made it
}

type unitState int

const (
	pending unitState = iota
	underWay
	done
	missing
)

// Queue is the work of several stations. It is for one goroutine.
type Queue struct {
	units    []unit
	stations []station
	bounds   Bounds
	stay     bool
	losses   []Loss
	profiles []string // in the order of their first units
	// ranked are the units of each profile in the order of starting, and members its stations.
	ranked, members map[string][]int
}

// New returns a queue of the units. Stations are closed once nothing is left for their profile;
// with stay they are left open, and closed only if another station needs the room.
func New(units []Unit, stations []Station, bounds Bounds, stay bool) *Queue {
	q := &Queue{bounds: bounds, stay: stay, ranked: map[string][]int{}, members: map[string][]int{}}
	for i, s := range stations {
		q.stations = append(q.stations, station{Station: s})
		q.members[s.Profile] = append(q.members[s.Profile], i)
	}
	for i, u := range units {
		q.units = append(q.units, unit{Unit: u})
		if q.ranked[u.Profile] == nil {
			q.profiles = append(q.profiles, u.Profile)
		}
		q.ranked[u.Profile] = append(q.ranked[u.Profile], i)
	}
	for profile, its := range q.ranked {
		if len(q.members[profile]) > 1 { // a single one takes as long in any order: it keeps the caller's
			slices.SortStableFunc(its, func(a, b int) int { return cmp.Compare(units[b].Cost, units[a].Cost) })
		}
	}
	q.giveUp()
	return q
}

// Opened reports that a station is ready.
func (q *Queue) Opened(s int) { q.stations[s].state = idle }

// Made reports that the station's unit has ended, with any result, and that the station is well.
func (q *Queue) Made(s int) {
	st := &q.stations[s]
	q.units[st.unit].state = done
	st.state, st.row = idle, 0
}

// Idle reports whether a station is open and makes nothing.
func (q *Queue) Idle(s int) bool { return q.stations[s].state == idle }

// Lost reports that a station that is not shut is lost, whatever it is doing, and why: it will be
// closed. final reports that a fresh start would end the same way.
func (q *Queue) Lost(s int, why error, final bool) {
	st, loss := &q.stations[s], len(q.losses)
	q.losses = append(q.losses, Loss{s, why})
	if st.state == busy {
		u := &q.units[st.unit]
		u.state, u.lost = pending, append(u.lost, loss)
	}
	st.state, st.final, st.lost = failed, final, append(st.lost, loss)
	st.row++
	q.giveUp()
}

// Closed reports that a station is stopped.
func (q *Queue) Closed(s int) {
	st := &q.stations[s]
	st.state = shut
	if st.final || st.row >= mostInRow {
		st.state = out
	}
	q.giveUp()
}

// giveUp finds the units that no station can make any more.
func (q *Queue) giveUp() {
	for i := range q.units {
		u := &q.units[i]
		if u.state == pending && (len(u.lost) > mostMoves || q.living(u.Profile) == 0) {
			u.state = missing
		}
	}
}

// living returns how many stations of the profile are not given up.
func (q *Queue) living(profile string) (n int) {
	for _, s := range q.members[profile] {
		if q.stations[s].state != out {
			n++
		}
	}
	return n
}

// Missing returns the units that no station could make, in their order.
func (q *Queue) Missing() (units []int) {
	for i, u := range q.units {
		if u.state == missing {
			units = append(units, i)
		}
	}
	return units
}

// Losses returns why stations lost the unit, sorted by time; for a unit that is missing because no
// station of its profile is left, also why each was given up.
func (q *Queue) Losses(unit int) (out []Loss) {
	u := q.units[unit]
	its := slices.Clone(u.lost)
	if u.state == missing && len(u.lost) <= mostMoves {
		for _, s := range q.members[u.Profile] {
			its = append(its, q.stations[s].lost...)
		}
	}
	slices.Sort(its)
	for _, l := range slices.Compact(its) {
		out = append(out, q.losses[l])
	}
	return out
}

// Ahead returns how many units the station has before it, including one that it makes now: its
// present share of what its profile has left.
func (q *Queue) Ahead(s int) int {
	profile := q.stations[s].Profile
	n, left := max(q.living(profile), 1), 0
	if q.stations[s].state == busy {
		left++
	}
	for range q.pending(profile) {
		left++
	}
	return (left + n - 1) / n
}

// pending yields the units of the profile that are to be started, in their order.
func (q *Queue) pending(profile string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, u := range q.ranked[profile] {
			if q.units[u].state == pending && !yield(u) {
				return
			}
		}
	}
}
