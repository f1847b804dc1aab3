package slices

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/trace/perfetto/spill"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
)

// Arg is an argument of a slice.
type Arg struct {
	Slice int32 // index in Reader.Slices
	Key   int32 // index in Reader.Names: its path, as "debug.queue[2].length"
	Type  trackevent.Type
	// Bits are the value: an integer, the bits of a real number, or for a text its index in
	// Reader.ArgTexts, where it has Bytes bytes.
	Bits  int64
	Bytes int32
}

// Real returns the value of an argument of type real.
func (a Arg) Real() float64 { return math.Float64frombits(uint64(a.Bits)) }

// Text returns the place of the value of an argument of type string or JSON.
func (a Arg) Text() spill.Text { return spill.Text{At: a.Bits, Size: a.Bytes} }

// span is the arguments with which a slice began, in Reader.Args.
type span struct{ from, n int32 }

// maxSpans limits the slices that arguments may be added to.
const maxSpans = 400_000

// KeepArgs requests the arguments of slices, before anything is read.
func (r *Reader) KeepArgs() { r.args, r.shared = map[int32]span{}, map[string]spill.Text{} }

// addArgs adds arguments to a slice, which may have some from its beginning: of a repeated path the
// last value counts, and lists continue.
func (r *Reader) addArgs(slice int32, args []trackevent.Arg, done bool) {
	if r.args == nil || slice == None {
		return
	}
	had := r.had(slice)
	args = r.goOn(had, args)
	from := int32(r.Args.Len())
	for _, one := range args {
		r.addArg(slice, had, one)
	}
	n := int32(r.Args.Len()) - from
	switch _, again := r.args[slice]; {
	case done:
		delete(r.args, slice)
	case n > 0 && (again || r.file.Room("slices whose further arguments are awaited", len(r.args), maxSpans)):
		r.args[slice] = span{from, n}
	}
}

// had returns the indices in Args of the arguments with which a slice began, by their paths.
func (r *Reader) had(slice int32) map[int32]int32 {
	of := r.args[slice]
	if of.n == 0 {
		return nil
	}
	const together = 16
	out, c := map[int32]int32{}, r.Args.Cursor(together)
	for i := of.from; i < of.from+of.n; i++ {
		if one := c.At(i); one != nil {
			if _, twice := out[one.Key]; !twice {
				out[one.Key] = i
			}
		}
	}
	return out
}

func (r *Reader) addArg(slice int32, had map[int32]int32, one trackevent.Arg) {
	a := Arg{Slice: slice, Key: r.intern(one.Key), Type: one.Type, Bits: one.Int}
	switch one.Type {
	case trackevent.TypeReal:
		a.Bits = int64(math.Float64bits(one.Real))
	case trackevent.TypeString, trackevent.TypeJSON:
		if !r.file.Room("texts of arguments", r.ArgTexts.Len()+len(one.Text), r.ArgTexts.Most(maxTexts)) {
			return
		}
		text := r.text(one.Text)
		a.Bits, a.Bytes = text.At, text.Size
	}
	if place, again := had[a.Key]; again {
		r.Args.Edit(place, func(old *Arg) { *old = a })
	} else if r.file.Room("arguments of slices", r.Args.Len(), r.Args.Most(MaxRows)) {
		r.Args.Add(a)
	}
}

// text stores a text, and reuses recent ones: many are repeated.
func (r *Reader) text(said string) spill.Text {
	const most, each = 4 << 20, 64 // bytes of all, and overhead of a map entry
	place, known := r.shared[said]
	if !known {
		if r.sharing += len(said) + each; r.sharing > most {
			clear(r.shared)
			r.sharing = 0
		}
		place = r.ArgTexts.Add(said)
		r.shared[said] = place
	}
	return place
}

// goOn renumbers the list entries of args after those that a slice already has. Only the outermost
// list continues: a new entry's content is new.
func (r *Reader) goOn(had map[int32]int32, args []trackevent.Arg) []trackevent.Arg {
	if len(had) == 0 {
		return args
	}
	next := map[string]int{} // place by list
	for key := range had {
		if list, at, _, ok := inList(r.Names[key]); ok {
			next[list] = max(next[list], at+1)
		}
	}
	out := make([]trackevent.Arg, len(args))
	for i, one := range args {
		if list, at, rest, ok := inList(one.Key); ok {
			one.Key = fmt.Sprintf("%s[%d]%s", list, at+next[list], rest)
		}
		out[i] = one
	}
	return out
}

// inList splits a path at its first list; false if there is none.
func inList(key string) (list string, at int, rest string, ok bool) {
	list, rest, _ = strings.Cut(key, "[")
	number, rest, ok := strings.Cut(rest, "]")
	at, err := strconv.Atoi(number)
	return list, at, rest, ok && err == nil
}
