package trackevent

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Limits on the arguments of one event. What is beyond them is left out, and Args.Cut says
// so.
const (
	maxArgs     = 1_000
	maxArgDepth = 16
	maxArgText  = 4 << 10  // bytes of a value
	maxArgBytes = 64 << 10 // bytes of all keys and values
)

// Type is what kind of value an argument has.
type Type uint8

// Types of arguments.
const (
	TypeInt Type = iota
	TypeUint
	TypeBool
	TypePointer
	TypeReal
	TypeString
	TypeJSON // text that is not taken apart
)

// String is the type as Perfetto names it.
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

// Flat is an argument's path without places in lists.
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
	// Cut counts arguments that are not in the list: beyond a limit, of a kind that is not
	// read (messages of a program's own), or named by what the trace lost.
	Cut int

	seq   *packets.Sequence
	bytes int
}

// Size is how many bytes the list holds, about.
func (a *Args) Size() int { return a.bytes + 80*len(a.List) }

// ReadArgs reads the debug annotations of a TrackEvent (debug_annotation.proto).
func ReadArgs(p packets.Packet) Args {
	a := Args{seq: p.Seq}
	for f := packets.FieldsOf(p.Data); f.Next(); {
		if f.Number == field.TrackEventDebugAnnotations {
			a.entry("debug", f.Bytes, 0)
		}
	}
	return a
}

// add keeps an argument, where there is room.
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
func (a *Args) entry(above string, message []byte, depth int) {
	name, told := "", false
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.AnnotationNameIID:
			raw, known := a.interned(field.InternedDebugAnnotationNames, f.Value)
			name, told = argName(raw), known
		case field.AnnotationName:
			name, told = argName(f.Bytes), true
		}
	}
	if !told {
		a.Cut++
		return
	}
	a.value(above+"."+name, message, depth)
}

// argName is a part of a path: what parts a path is not in it.
func argName(raw []byte) string { return parts.Replace(packets.Name(raw)) }

var parts = strings.NewReplacer(".", "_", "[", "_", "]", "_")

func text(raw []byte) string {
	return strings.ToValidUTF8(string(raw[:min(len(raw), maxArgText)]), "�")
}

// value reads what a DebugAnnotation holds.
func (a *Args) value(key string, message []byte, depth int) {
	if depth >= maxArgDepth || len(a.List) >= maxArgs {
		a.Cut++
		return
	}
	at := 0
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.AnnotationDictEntries:
			a.entry(key, f.Bytes, depth+1)
		case field.AnnotationArrayValues:
			a.value(place(key, at), f.Bytes, depth+1)
			at++
		case field.AnnotationNestedValue:
			a.nested(key, f.Bytes, depth+1)
		case field.AnnotationStringValueIID:
			if raw, known := a.interned(field.InternedDebugAnnotationStringValues, f.Value); known {
				a.add(Arg{Key: key, Type: TypeString, Text: text(raw)})
			} else {
				a.Cut++
			}
		case field.AnnotationProtoValue:
			a.Cut++
		default:
			a.scalar(key, &f)
		}
	}
}

func place(key string, at int) string { return key + "[" + strconv.Itoa(at) + "]" }

// scalar reads a value that is no list and has no parts.
func (a *Args) scalar(key string, f *packets.Fields) {
	one := Arg{Key: key}
	switch f.Number {
	case field.AnnotationBoolValue:
		one.Type, one.Int = TypeBool, int64(min(f.Value, 1))
	case field.AnnotationUintValue:
		one.Type, one.Int = TypeUint, int64(f.Value)
	case field.AnnotationIntValue:
		one.Type, one.Int = TypeInt, int64(f.Value)
	case field.AnnotationPointerValue:
		one.Type, one.Int = TypePointer, int64(f.Value)
	case field.AnnotationDoubleValue:
		one.Type, one.Real = TypeReal, float(f.Value)
	case field.AnnotationStringValue:
		one.Type, one.Text = TypeString, text(f.Bytes)
	case field.AnnotationLegacyJSONValue:
		one.Type, one.Text = TypeJSON, text(f.Bytes)
	default:
		return
	}
	a.add(one)
}

// nested reads a NestedValue, the older form of lists and parts.
func (a *Args) nested(key string, message []byte, depth int) {
	if depth >= maxArgDepth || len(a.List) >= maxArgs {
		a.Cut++
		return
	}
	var names [][]byte
	at, part := 0, 0
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number == field.NestedDictKeys && len(names) < maxArgs {
			names = append(names, f.Bytes)
		}
	}
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.NestedDictValues:
			if part >= len(names) {
				a.Cut++
				continue
			}
			a.nested(key+"."+argName(names[part]), f.Bytes, depth+1)
			part++
		case field.NestedArrayValues:
			a.nested(place(key, at), f.Bytes, depth+1)
			at++
		case field.NestedIntValue:
			a.add(Arg{Key: key, Type: TypeInt, Int: int64(f.Value)})
		case field.NestedDoubleValue:
			a.add(Arg{Key: key, Type: TypeReal, Real: float(f.Value)})
		case field.NestedBoolValue:
			a.add(Arg{Key: key, Type: TypeBool, Int: int64(min(f.Value, 1))})
		case field.NestedStringValue:
			a.add(Arg{Key: key, Type: TypeString, Text: text(f.Bytes)})
		}
	}
}

// interned is the text of an entry of interned data; false where it is not known.
func (a *Args) interned(kind protowire.Number, id uint64) ([]byte, bool) {
	for f := packets.FieldsOf(a.seq.Interned(kind, id)); f.Next(); {
		if f.Number == field.InternedStringStr {
			return f.Bytes, true
		}
	}
	return nil, false
}
