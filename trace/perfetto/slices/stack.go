package slices

import "time"

// open is a slice on its track's stack. It may have ended, and stays until a later one begins.
type open struct {
	row     int32 // index in Reader.Slices, None for one that is not kept
	name    int32 // index in Reader.Names
	of      int32 // its category, likewise
	at, dur time.Duration
}

// begin begins a slice on a track; dur is negative until it ends. It returns the slice's index,
// None if it has none.
func (r *Reader) begin(at, dur time.Duration, track int32, category, name string) int32 {
	if track == None || !r.settle(track, at, dur) {
		return None
	}
	stack := r.stacks[track]
	if len(stack) >= maxDepth {
		r.file.TooMany["nested slices"]++
		return None
	}
	one := open{row: None, at: at, dur: dur, name: r.intern(name), of: r.intern(category)}
	if (r.only == nil || r.only(name, &r.Tracks[track])) && r.file.Room("slices", r.Slices.Len(), r.Slices.Most(MaxRows)) {
		s := Slice{At: at, For: dur, Name: one.name, Category: one.of, Track: track, Depth: int16(len(stack)), Parent: None}
		if len(stack) > 0 {
			s.Parent = stack[len(stack)-1].row
		}
		one.row = r.Slices.Add(s)
	}
	r.stacks[track] = append(stack, one)
	return one.row
}

// end ends the innermost open slice on a track, with a name if that is not "". It returns the
// slice's index, None if it has none.
func (r *Reader) end(at time.Duration, track int32, name string) int32 {
	return r.endOf(at, track, "", name)
}

// endOf is end for a slice with a category, if that is not "".
func (r *Reader) endOf(at time.Duration, track int32, category, name string) int32 {
	if track == None || !r.settle(track, at, -1) {
		return None
	}
	stack := r.stacks[track]
	for i := len(stack) - 1; i >= 0; i-- {
		one := &stack[i]
		if one.dur >= 0 || !r.is(one, category, name) {
			continue
		}
		r.last(one, at-one.at)
		if i == len(stack)-1 {
			r.stacks[track] = stack[:i]
		}
		return one.row
	}
	return None
}

// is reports whether a slice has a category and a name, as far as these are not "". One without a
// name matches any.
func (r *Reader) is(one *open, category, name string) bool {
	own := r.Names[one.name]
	if name != "" && own != "" && own != name {
		return false
	}
	return category == "" || one.row != None && r.Names[one.of] == category
}

// last records the duration of a slice.
func (r *Reader) last(one *open, dur time.Duration) {
	one.dur = dur
	if one.row != None {
		if s := r.Slices.Row(one.row); s != nil {
			s.For = dur
			return
		}
		r.Slices.Edit(one.row, func(s *Slice) { s.For = dur })
	}
}

// settle removes from a track's stack what ended before something begins or ends there at this
// time. A slice that would outlast the enclosing one is cut. It returns false for a slice that
// begins in one and ends after it.
func (r *Reader) settle(track int32, at, dur time.Duration) bool {
	stack := r.stacks[track]
	running := false // a slice further in has not ended
	for i := len(stack) - 1; i >= 0; i-- {
		one := stack[i]
		end := one.at + one.dur
		switch {
		case one.dur < 0:
			running = true
		case running && at <= end:
		case running:
			for j := i + 1; j < len(stack); j++ {
				r.last(&stack[j], end-stack[j].at)
			}
			stack, running = stack[:i], false
		case end < at, end == at && (one.dur != 0 || dur != 0):
			stack = stack[:i]
		case dur >= 0 && at < end && at+dur > end:
			r.stacks[track] = stack
			r.file.TooMany["slices across the end of another"]++
			return false
		}
	}
	r.stacks[track] = stack
	return true
}
