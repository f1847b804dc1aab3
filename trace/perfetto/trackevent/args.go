package trackevent

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Limits of the arguments of one event. Arguments beyond them are left out and counted in Args.Cut.
const (
	maxArgs     = 1_000
	maxArgDepth = 16
	maxArgText  = 4 << 10  // bytes of a value
	maxArgBytes = 64 << 10 // bytes of all keys and values
)

// Type is the type of an argument's value.
type Type uint8

// Types of arguments.
const (
	TypeInt Type = iota
	TypeUint
	TypeBool
	TypePointer
	TypeReal
	TypeString
	TypeJSON // text that is not parsed
)

// String returns Perfetto's name of the type.
func (t Type) String() string {
	return [...]string{"int", "uint", "bool", "pointer", "real", "string", "json"}[t]
}

// Arg is an argument of an event: a value by its path, as "debug.queue[2].length".
type Arg struct {
	Key  string
	Type Type
	Int  int64 // the bits of a uint or a pointer, 1 for true
	Real float64
	Text string
}

// Flat returns an argument's path without indices of lists.
func Flat(key string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(key, "[")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		_, key, _ = strings.Cut(rest, "]")
	}
}

// Args are the arguments of an event, its debug annotations.
type Args struct {
	List []Arg
	// Cut counts arguments that are not in the list: beyond a limit, of an unsupported kind (a
	// program's own messages), or whose names were lost.
	Cut int

	seq   *packets.Sequence
	bytes int
}

// Size returns the approximate number of bytes in the list.
func (a *Args) Size() int { return a.bytes + 80*len(a.List) }

// ReadArgs reads the debug annotations of a TrackEvent (debug_annotation.proto).
func ReadArgs(p packets.Packet) Args {
	a := Args{seq: p.Seq}
	e := messages.TrackEventOf(p.Data)
	for annotation := range e.DebugAnnotations.Each {
		a.entry("debug", messages.AnnotationOf(annotation), 0)
	}
	return a
}

// add adds an argument, if there is room.
func (a *Args) add(one Arg) {
	size := len(one.Key) + len(one.Text)
	if len(a.List) >= maxArgs || a.bytes+size > maxArgBytes {
		a.Cut++
		return
	}
	a.bytes += size
	a.List = append(a.List, one)
}

// entry reads a DebugAnnotation that has a name.
func (a *Args) entry(above string, m messages.Annotation, depth int) {
	name := m.Name
	if m.HasNameIID {
		name = a.interned(field.InternedDebugAnnotationNames, m.NameIID)
	}
	if name == nil {
		a.Cut++
		return
	}
	a.value(above+"."+argName(name), m, depth)
}

// argName returns a part of a path without the path's separators.
func argName(raw []byte) string { return parts.Replace(packets.Name(raw)) }

var parts = strings.NewReplacer(".", "_", "[", "_", "]", "_")

func text(raw []byte) string {
	return strings.ToValidUTF8(string(raw[:min(len(raw), maxArgText)]), "�")
}

// value reads the value of a DebugAnnotation.
func (a *Args) value(key string, m messages.Annotation, depth int) {
	if depth >= maxArgDepth || len(a.List) >= maxArgs {
		a.Cut++
		return
	}
	for entry := range m.DictEntries.Each {
		a.entry(key, messages.AnnotationOf(entry), depth+1)
	}
	at := 0
	for value := range m.ArrayValues.Each {
		a.value(place(key, at), messages.AnnotationOf(value), depth+1)
		at++
	}
	if m.NestedValue != nil {
		a.nested(key, m.NestedValue, depth+1)
	}
	if m.ProtoValue != nil {
		a.Cut++
	}
	a.scalar(key, m)
}

func place(key string, at int) string { return key + "[" + strconv.Itoa(at) + "]" }

// scalar reads a value that is no list and has no parts.
func (a *Args) scalar(key string, m messages.Annotation) {
	switch {
	case m.HasBoolValue:
		a.truth(key, m.BoolValue)
	case m.HasUintValue:
		a.add(Arg{Key: key, Type: TypeUint, Int: int64(m.UintValue)})
	case m.HasIntValue:
		a.add(Arg{Key: key, Type: TypeInt, Int: m.IntValue})
	case m.HasDoubleValue:
		a.add(Arg{Key: key, Type: TypeReal, Real: finite(m.DoubleValue)})
	case m.HasPointerValue:
		a.add(Arg{Key: key, Type: TypePointer, Int: int64(m.PointerValue)})
	case m.StringValue != nil:
		a.add(Arg{Key: key, Type: TypeString, Text: text(m.StringValue)})
	case m.LegacyJSONValue != nil:
		a.add(Arg{Key: key, Type: TypeJSON, Text: text(m.LegacyJSONValue)})
	case m.HasStringValueIID:
		if raw := a.interned(field.InternedDebugAnnotationStringValues, m.StringValueIID); raw != nil {
			a.add(Arg{Key: key, Type: TypeString, Text: text(raw)})
		} else {
			a.Cut++
		}
	}
}

func (a *Args) truth(key string, value bool) {
	one := Arg{Key: key, Type: TypeBool}
	if value {
		one.Int = 1
	}
	a.add(one)
}

// nested reads a NestedValue, the older form of lists and dictionaries.
func (a *Args) nested(key string, message []byte, depth int) {
	if depth >= maxArgDepth || len(a.List) >= maxArgs {
		a.Cut++
		return
	}
	m := messages.NestedOf(message)
	var names [][]byte
	for name := range m.DictKeys.Each {
		if len(names) == maxArgs {
			break
		}
		names = append(names, name)
	}
	part := 0
	for value := range m.DictValues.Each {
		if part >= len(names) {
			a.Cut++
			continue
		}
		a.nested(key+"."+argName(names[part]), value, depth+1)
		part++
	}
	at := 0
	for value := range m.ArrayValues.Each {
		a.nested(place(key, at), value, depth+1)
		at++
	}
	switch {
	case m.HasIntValue:
		a.add(Arg{Key: key, Type: TypeInt, Int: m.IntValue})
	case m.HasDoubleValue:
		a.add(Arg{Key: key, Type: TypeReal, Real: finite(m.DoubleValue)})
	case m.HasBoolValue:
		a.truth(key, m.BoolValue)
	case m.StringValue != nil:
		a.add(Arg{Key: key, Type: TypeString, Text: text(m.StringValue)})
	}
}

// interned returns the text of an entry of interned data; nil if unknown.
func (a *Args) interned(kind protowire.Number, id uint64) []byte {
	return messages.InternedStringOf(a.seq.Interned(kind, id)).Str
}
