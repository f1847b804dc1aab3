package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand"
	"os"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
)

// listed is the declared messages that have decoders.
func listed(t testing.TB) []message {
	t.Helper()
	declared, err := os.ReadFile("../messages.txt")
	if err != nil {
		t.Fatal(err)
	}
	list, err := parse(string(declared))
	if err != nil {
		t.Fatal(err)
	}
	var out []message
	for _, m := range list {
		if m.decoder {
			out = append(out, m)
		}
	}
	return out
}

// TestDecodersReadWhatProtobufWrites compares each decoder with messages of random values that
// Go's package of the format writes.
func TestDecodersReadWhatProtobufWrites(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	for _, m := range listed(t) {
		described := descriptor(t, m)
		for range 50 {
			written := dynamicpb.NewMessage(described)
			for i := range m.fields {
				fill(random, written, described.Fields().Get(i))
			}
			raw, err := proto.Marshal(written)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, m, written, reflect.ValueOf(all[m.proto](raw)))
		}
	}
}

// descriptor describes a message to that package, with messages within it as bytes.
func descriptor(t *testing.T, m message) protoreflect.MessageDescriptor {
	t.Helper()
	type kind = descriptorpb.FieldDescriptorProto_Type
	types := map[string]kind{
		"int32": descriptorpb.FieldDescriptorProto_TYPE_INT32, "uint32": descriptorpb.FieldDescriptorProto_TYPE_UINT32,
		"int64": descriptorpb.FieldDescriptorProto_TYPE_INT64, "uint64": descriptorpb.FieldDescriptorProto_TYPE_UINT64,
		"bool": descriptorpb.FieldDescriptorProto_TYPE_BOOL, "enum": descriptorpb.FieldDescriptorProto_TYPE_INT32,
		"fixed64": descriptorpb.FieldDescriptorProto_TYPE_FIXED64, "float": descriptorpb.FieldDescriptorProto_TYPE_FLOAT,
		"double": descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, "string": descriptorpb.FieldDescriptorProto_TYPE_STRING,
		"bytes": descriptorpb.FieldDescriptorProto_TYPE_BYTES, "message": descriptorpb.FieldDescriptorProto_TYPE_BYTES,
	}
	one := &descriptorpb.DescriptorProto{Name: proto.String("M")}
	for _, f := range m.fields {
		label := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		var options *descriptorpb.FieldOptions
		if f.repeated || f.packed || f.raw {
			label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
		}
		if f.raw || f.packed && f.number%2 == 0 {
			options = &descriptorpb.FieldOptions{Packed: proto.Bool(true)}
		}
		one.Field = append(one.Field, &descriptorpb.FieldDescriptorProto{
			Name: proto.String(f.name), Number: proto.Int32(int32(f.number)), Type: types[f.kind].Enum(), Label: label.Enum(), Options: options,
		})
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("m.proto"), Syntax: proto.String("proto2"), MessageType: []*descriptorpb.DescriptorProto{one},
	}, nil)
	if err != nil {
		t.Fatalf("%s: %v", m.proto, err)
	}
	return file.Messages().Get(0)
}

// fill sets a field to a random value, or leaves it out.
func fill(random *rand.Rand, m *dynamicpb.Message, f protoreflect.FieldDescriptor) {
	value := func() protoreflect.Value {
		bits := random.Uint64() >> random.Intn(64)
		switch f.Kind() {
		case protoreflect.Int32Kind:
			return protoreflect.ValueOfInt32(int32(bits))
		case protoreflect.Uint32Kind:
			return protoreflect.ValueOfUint32(uint32(bits))
		case protoreflect.Int64Kind:
			return protoreflect.ValueOfInt64(int64(bits))
		case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
			return protoreflect.ValueOfUint64(bits)
		case protoreflect.BoolKind:
			return protoreflect.ValueOfBool(bits%2 == 0)
		case protoreflect.FloatKind:
			return protoreflect.ValueOfFloat32(random.Float32())
		case protoreflect.DoubleKind:
			return protoreflect.ValueOfFloat64(random.Float64())
		case protoreflect.StringKind:
			return protoreflect.ValueOfString("text"[:random.Intn(5)])
		}
		return protoreflect.ValueOfBytes(make([]byte, random.Intn(200)))
	}
	switch {
	case random.Intn(4) == 0:
	case f.IsList():
		for range random.Intn(4) {
			m.Mutable(f).List().Append(value())
		}
	default:
		m.Set(f, value())
	}
}

// compare compares a written message with what the decoder read.
func compare(t *testing.T, m message, written *dynamicpb.Message, read reflect.Value) {
	t.Helper()
	// The methods of repeated fields need an address.
	at := reflect.New(read.Type()).Elem()
	at.Set(read)
	for i, f := range m.fields {
		d := written.Descriptor().Fields().Get(i)
		want, got := written.Get(d), at.FieldByName(camel(f.name))
		if f.optional && at.FieldByName("Has"+camel(f.name)).Bool() != written.Has(d) {
			t.Errorf("%s.%s: it is there: %v", m.proto, f.name, written.Has(d))
		}
		if d.IsList() {
			list := values(f, got)
			if len(list) != want.List().Len() {
				t.Errorf("%s.%s: %d of %d", m.proto, f.name, len(list), want.List().Len())
				continue
			}
			for j := range list {
				if bits(want.List().Get(j)) != list[j] {
					t.Errorf("%s.%s: %v, want %v", m.proto, f.name, list[j], bits(want.List().Get(j)))
				}
			}
			continue
		}
		if said := bits(protoreflect.ValueOf(got.Interface())); said != bits(want) {
			t.Errorf("%s.%s: %v, want %v", m.proto, f.name, said, bits(want))
		}
	}
}

// bits returns a value in a comparable form: a text, or a number's bits.
func bits(v protoreflect.Value) any {
	switch one := v.Interface().(type) {
	case int32:
		return uint64(int64(one))
	case uint32:
		return uint64(one)
	case int64:
		return uint64(one)
	case bool:
		if one {
			return uint64(1)
		}
		return uint64(0)
	case float32:
		return uint64(math.Float32bits(one))
	case float64:
		return math.Float64bits(one)
	case []byte:
		return string(one)
	default:
		return one
	}
}

// values returns the values of a repeated field.
func values(f declared, got reflect.Value) []any {
	var out []any
	switch list := got.Addr().Interface().(type) {
	case *messages.Parts:
		for part := range list.Each {
			out = append(out, string(part))
		}
	case *messages.Numbers:
		for v := range list.Each {
			out = append(out, narrowed(f.kind, v))
		}
	case *[]byte:
		for rest := *list; len(rest) > 0; {
			v, n := protowire.ConsumeVarint(rest)
			out, rest = append(out, narrowed(f.kind, v)), rest[max(n, 1):]
		}
	}
	return out
}

// narrowed returns a number of a list within the range of its type.
func narrowed(kind string, v uint64) uint64 {
	switch kind {
	case "uint32":
		return uint64(uint32(v))
	case "int32", "enum":
		return uint64(int64(int32(v)))
	}
	return v
}

// FuzzDecoders compares a decoder with a plain loop over the fields of any bytes.
func FuzzDecoders(f *testing.F) {
	list := listed(f)
	for i := range list {
		f.Add(i, []byte{0x08, 0x07, 0x12, 0x01, 'a', 0x1a, 0x02, 0x01, 0x80, 0x80, 0x0b, 0x31, 1, 2, 3, 4, 5, 6, 7, 8, 0x22, 0xff, 0x01})
	}
	f.Fuzz(func(t *testing.T, which int, raw []byte) {
		m := list[int(uint(which)%uint(len(list)))]
		read := reflect.ValueOf(all[m.proto](raw))
		at := reflect.New(read.Type()).Elem()
		at.Set(read)
		for _, f := range m.fields {
			want := plain(f, raw)
			got := at.FieldByName(camel(f.name))
			if f.optional && at.FieldByName("Has"+camel(f.name)).Bool() != (len(want) > 0) {
				t.Fatalf("%s.%s of %x: it is there: %v", m.proto, f.name, raw, len(want) > 0)
			}
			if f.repeated || f.packed {
				list := values(f, got)
				if len(list) != len(want) {
					t.Fatalf("%s.%s of %x: %v, want %v", m.proto, f.name, raw, list, want)
				}
				for i := range list {
					if list[i] != want[i] {
						t.Fatalf("%s.%s of %x: %v, want %v", m.proto, f.name, raw, list, want)
					}
				}
				continue
			}
			var last any = uint64(0)
			if got.Kind() == reflect.Slice {
				last = ""
				if b := got.Bytes(); len(b) > 0 && !bytes.Contains(raw, b) {
					t.Fatalf("%s.%s of %x: %x is not in it", m.proto, f.name, raw, b)
				}
			}
			if len(want) > 0 {
				last = want[len(want)-1]
			}
			if said := bits(protoreflect.ValueOf(got.Interface())); said != last {
				t.Fatalf("%s.%s of %x: %v, want %v", m.proto, f.name, raw, said, last)
			}
		}
	})
}

// plain returns the values of a field of a message, in its order.
func plain(f declared, raw []byte) []any {
	var out []any
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeField(raw)
		if n < 0 {
			return out
		}
		_, _, tag := protowire.ConsumeTag(raw)
		value := raw[tag:n]
		raw = raw[n:]
		data, _ := protowire.ConsumeBytes(value)
		switch {
		case int(number) != f.number:
		case kind == protowire.BytesType && (wire(f.kind) == 2 || f.raw):
			out = append(out, string(data))
		case kind == protowire.BytesType && f.packed:
			for len(data) > 0 {
				v, n := firstNumber(f.kind, data)
				if n <= 0 {
					break
				}
				out, data = append(out, v), data[n:]
			}
		case int(kind) == wire(f.kind) && !f.raw:
			v, _ := firstNumber(f.kind, value)
			out = append(out, v)
		}
	}
	return out
}

// firstNumber returns the first number of some bytes, and its size.
func firstNumber(kind string, b []byte) (uint64, int) {
	switch {
	case wire(kind) == 1 && len(b) >= 8:
		return binary.LittleEndian.Uint64(b), 8
	case wire(kind) == 5 && len(b) >= 4:
		return uint64(binary.LittleEndian.Uint32(b)), 4
	case wire(kind) == 0:
		v, n := protowire.ConsumeVarint(b)
		if kind == "bool" && v != 0 {
			v = 1
		}
		return narrowed(kind, v), n
	}
	return 0, 0
}
