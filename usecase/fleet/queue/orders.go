package queue

import (
	"math"
	"slices"
)

// Orders returns what is to be started now, each order once; none if something under way has to end
// first.
func (q *Queue) Orders() (out []Order) {
	for s := range q.stations {
		switch st := &q.stations[s]; st.state {
		case failed:
			out = append(out, q.close(s))
		case idle:
			if u, ok := q.next(s, nil); ok {
				st.state, st.unit = busy, u
				q.units[u].state = underWay
				out = append(out, Order{Make, s, u})
			}
		}
	}
	out = append(out, q.openings()...)
	if !q.stay {
		out = append(out, q.closings()...)
	}
	return out
}

func (q *Queue) close(s int) Order {
	q.stations[s].state = closing
	return Order{Action: Close, Station: s}
}

// next returns the next unit of the station, of those that are not assigned.
func (q *Queue) next(s int, spokenFor map[int]bool) (unit int, ok bool) {
	for u := range q.pending(q.stations[s].Profile) {
		if !spokenFor[u] && q.mayMake(s, u) {
			return u, true
		}
	}
	return 0, false
}

// mayMake reports whether the unit may be started on the station. A unit that was lost goes to a
// station that has not lost it, of those to one with the fewest losses: failing stations are free
// the soonest, and would lose it again. If all have lost it, any will do.
func (q *Queue) mayMake(s, u int) bool {
	if len(q.units[u].lost) == 0 {
		return true
	}
	its := q.fitness(s, u)
	return !slices.ContainsFunc(q.members[q.units[u].Profile], func(other int) bool {
		return q.stations[other].state != out && q.fitness(other, u) > its
	})
}

// fitness ranks the stations for a unit that was lost.
func (q *Queue) fitness(s, u int) int {
	if q.hasLost(s, u) {
		return math.MinInt
	}
	return -len(q.stations[s].lost)
}

func (q *Queue) hasLost(s, u int) bool {
	return slices.ContainsFunc(q.units[u].lost, func(l int) bool { return q.losses[l].Station == s })
}

// openings opens stations for units that no open station is free for, as many as there is room for.
// Without room, idle stations are closed.
func (q *Queue) openings() (out []Order) {
	wanted := map[int]bool{} // opened now, or as soon as there is room
	for {
		s, ok := q.wanted(wanted)
		if !ok {
			return out
		}
		wanted[s] = true
		switch {
		case q.room(s, q.isThere):
			q.stations[s].state = opening
			out = append(out, Order{Action: Open, Station: s})
		case q.room(s, func(i int) bool { return q.isToStay(i) || wanted[i] }): // once those are closed that are about to be
		default:
			if idle, ok := q.inTheWay(s, wanted); ok {
				out = append(out, q.close(idle))
			}
		}
	}
}

// wanted returns the shut station that is best opened next, in addition to others.
func (q *Queue) wanted(others map[int]bool) (best int, ok bool) {
	var least claim
	for _, profile := range q.profiles {
		s, found := q.lacking(profile, others)
		if !found {
			continue
		}
		if c := q.claimOf(profile, others); !ok || c.before(least) {
			best, least, ok = s, c, true
		}
	}
	return best, ok
}

// lacking returns a shut station for the next unit of the profile that no other station takes.
func (q *Queue) lacking(profile string, others map[int]bool) (station int, ok bool) {
	spokenFor := map[int]bool{}
	for _, s := range q.members[profile] {
		if q.stations[s].state == opening || others[s] {
			if u, ok := q.next(s, spokenFor); ok {
				spokenFor[u] = true
			}
		}
	}
	for _, s := range q.members[profile] {
		if q.stations[s].state == shut && !others[s] {
			if _, ok := q.next(s, spokenFor); ok {
				return s, true
			}
		}
	}
	return 0, false
}

// claim is a profile's claim to the next station that can be opened.
type claim struct {
	open int     // stations that it has already
	left float64 // the least time that its units take, on all of its stations
}

// before reports whether the claim has priority. A profile without any station comes first: work
// that can be shared among several stations can also be shared later, and fills the remaining room
// at the end.
func (c claim) before(other claim) bool {
	if c.open != other.open {
		return c.open < other.open
	}
	return c.left > other.left
}

func (q *Queue) claimOf(profile string, others map[int]bool) claim {
	var c claim
	for _, s := range q.members[profile] {
		if state := q.stations[s].state; state == opening || state == busy || others[s] {
			c.open++
		}
	}
	sum, longest := 0.0, 0.0
	for u := range q.pending(profile) {
		sum, longest = sum+q.units[u].Cost, max(longest, q.units[u].Cost)
	}
	c.left = max(sum/float64(max(q.living(profile), 1)), longest)
	return c
}

// room reports whether the station may be opened in addition to those that take room.
func (q *Queue) room(s int, takesRoom func(s int) bool) bool {
	all, there, place := 0, 0, q.stations[s].Place
	for i := range q.stations {
		if i == s || !takesRoom(i) {
			continue
		}
		all++
		if q.stations[i].Place == place {
			there++
		}
	}
	most := q.bounds.Places[place]
	return (q.bounds.All == 0 || all < q.bounds.All) && (place == "" || most == 0 || there < most)
}

// isThere reports whether a station takes room now.
func (q *Queue) isThere(s int) bool { return q.stations[s].state != shut && q.stations[s].state != out }

// isToStay reports whether a station takes room once the pending closings are done, regardless of
// what is opened then.
func (q *Queue) isToStay(s int) bool {
	state := q.stations[s].state
	return state == opening || state == idle || state == busy
}

// inTheWay returns an idle station whose closing makes room for the other, in addition to those
// that are wanted.
func (q *Queue) inTheWay(of int, wanted map[int]bool) (s int, ok bool) {
	for i := range q.stations {
		if q.stations[i].state == idle && q.room(of, func(s int) bool { return s != i && (q.isToStay(s) || wanted[s]) }) {
			return i, true
		}
	}
	return 0, false
}

// closings closes the stations whose profile has nothing left.
func (q *Queue) closings() (out []Order) {
	for s := range q.stations {
		if q.stations[s].state == idle && !q.worksOn(q.stations[s].Profile) {
			out = append(out, q.close(s))
		}
	}
	return out
}

// worksOn reports whether a unit of the profile is to be made, or may come back.
func (q *Queue) worksOn(profile string) bool {
	return slices.ContainsFunc(q.ranked[profile], func(u int) bool {
		return q.units[u].state == pending || q.units[u].state == underWay
	})
}
