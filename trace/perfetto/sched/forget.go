package sched

import "time"

// Forget drops the turns and states that ended before a time, so that a reader can run without
// bound after using them. The indices of the others change.
func (r *Reader) Forget(before time.Duration) {
	meant := map[int32]bool{}
	for _, c := range r.cpus {
		meant[c.turn] = true
	}
	for _, tasks := range []map[int32]turn{r.tasks.running, r.tasks.cut} {
		for _, one := range tasks {
			meant[one.row] = true
		}
	}
	turns := places(len(r.Turns.Rows), func(i int) bool { return meant[int32(i)] || r.Turns.Rows[i].At+max(r.Turns.Rows[i].For, 0) >= before })
	for i, to := range turns {
		if to != None {
			r.Turns.Rows[to] = r.Turns.Rows[i]
		}
	}
	r.Turns.Rows = r.Turns.Rows[:count(turns)]
	for i := range r.cpus {
		r.cpus[i].turn = moved(turns, r.cpus[i].turn)
	}
	for _, tasks := range []map[int32]turn{r.tasks.running, r.tasks.cut} {
		for at, one := range tasks {
			one.row = moved(turns, one.row)
			tasks[at] = one
		}
	}
	clear(meant)
	for _, l := range r.last {
		meant[l.state], meant[l.blocked] = true, true
	}
	states := places(len(r.States.Rows), func(i int) bool {
		return meant[int32(i)] || r.States.Rows[i].At+max(r.States.Rows[i].For, 0) >= before
	})
	for i, to := range states {
		if to != None {
			r.States.Rows[to] = r.States.Rows[i]
		}
	}
	r.States.Rows = r.States.Rows[:count(states)]
	for i := range r.last {
		l := &r.last[i]
		l.state, l.blocked = moved(states, l.state), moved(states, l.blocked)
	}
}

// places returns the new indices of rows after those that stay move together, None for the others.
func places(n int, stays func(int) bool) []int32 {
	out := make([]int32, n)
	next := int32(0)
	for i := range out {
		out[i] = None
		if stays(i) {
			out[i] = next
			next++
		}
	}
	return out
}

func count(places []int32) int {
	for i := len(places) - 1; i >= 0; i-- {
		if places[i] != None {
			return int(places[i]) + 1
		}
	}
	return 0
}

func moved(places []int32, place int32) int32 {
	if place < 0 {
		return place
	}
	return places[place]
}
