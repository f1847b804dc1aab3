package slices

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
)

// Arg is an argument of a slice.
type Arg struct {
	Slice int32  // in Reader.Slices
	Key   int32  // in Reader.Names: its path, as "debug.queue[2].length"
	Type  string // of package trackevent
	// Bits are the value: an integer, the bits of a real number, or of a text its place in
	// Reader.Names.
	Bits int64
}

// Real is the value of an argument of type real.
func (a Arg) Real() float64 { return math.Float64frombits(uint64(a.Bits)) }

// span are the arguments of a slice that it began with, in Reader.Args.
type span struct{ from, n int32 }

// KeepArgs asks for the arguments of slices, before anything is read.
func (r *Reader) KeepArgs() { r.args = map[int32]span{} }

// addArgs gives arguments to a slice, which may have some from its beginning: one with the
// same path counts as it is said last, and lists go on.
func (r *Reader) addArgs(slice int32, args []trackevent.Arg, done bool) {
	if r.args == nil || slice == None {
		return
	}
	had := r.args[slice]
	if had.n > 0 {
		args = r.goOn(had, args)
	}
	from := int32(len(r.Args))
	for _, one := range args {
		r.addArg(slice, had, one)
	}
	switch n := int32(len(r.Args)) - from; {
	case done:
		delete(r.args, slice)
	case n > 0:
		r.args[slice] = span{from, n}
	}
}

func (r *Reader) addArg(slice int32, had span, one trackevent.Arg) {
	a := Arg{Slice: slice, Key: r.intern(one.Key), Type: one.Type, Bits: one.Int}
	switch one.Type {
	case trackevent.TypeReal:
		a.Bits = int64(math.Float64bits(one.Real))
	case trackevent.TypeString, trackevent.TypeJSON:
		a.Bits = int64(r.intern(one.Text))
	}
	for i := had.from; i < had.from+had.n; i++ {
		if r.Args[i].Key == a.Key {
			r.Args[i] = a
			return
		}
	}
	if r.file.Room("arguments of slices", len(r.Args), MaxRows) {
		r.Args = packets.Add(r.Args, a, MaxRows)
	}
}

// goOn moves the places of lists behind those that a slice has already. Only the outermost
// list goes on: what is in a new entry of it is new.
func (r *Reader) goOn(had span, args []trackevent.Arg) []trackevent.Arg {
	next := map[string]int{} // place by list
	for i := had.from; i < had.from+had.n; i++ {
		if list, at, _, ok := inList(r.Names[r.Args[i].Key]); ok {
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

// inList takes a path apart at the first list in it; false where there is none.
func inList(key string) (list string, at int, rest string, ok bool) {
	list, rest, _ = strings.Cut(key, "[")
	number, rest, ok := strings.Cut(rest, "]")
	at, err := strconv.Atoi(number)
	return list, at, rest, ok && err == nil
}
