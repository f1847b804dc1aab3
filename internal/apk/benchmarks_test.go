package apk

import (
	"encoding/binary"
	"slices"
	"testing"
)

// dexClass is a class of a dex file that a test makes.
type dexClass struct {
	name, super string
	flags       uint32
	field       string // the type of its one field, "" for none
	annotation  string // the type of its one annotation, "" for none
}

// dexOf writes a dex file in the Dalvik executable format, except for what is not read here: its
// checksum, its map, and the order of its lists.
func dexOf(classes ...dexClass) []byte {
	var types []string
	index := func(name string) uint32 {
		if !slices.Contains(types, name) {
			types = append(types, name)
		}
		return uint32(slices.Index(types, name))
	}
	for _, c := range classes {
		for _, name := range []string{c.name, c.super, c.field, c.annotation} {
			index(name)
		}
	}
	le := binary.LittleEndian
	var fields, defs, data []byte
	n := len(types)
	fieldCount := 0
	for _, c := range classes {
		if c.field != "" {
			fieldCount++
			fields = le.AppendUint32(le.AppendUint16(le.AppendUint16(fields, uint16(index(c.name))), uint16(index(c.field))), 0)
		}
	}
	stringsAt, typesAt := dexHeader, dexHeader+4*n
	fieldsAt := typesAt + 4*n
	defsAt := fieldsAt + len(fields)
	dataAt := defsAt + 32*len(classes)
	here := func() uint32 { return uint32(dataAt + len(data)) }
	var stringIDs, typeIDs []byte
	for i, name := range types {
		stringIDs, typeIDs = le.AppendUint32(stringIDs, here()), le.AppendUint32(typeIDs, uint32(i))
		data = append(append(binary.AppendUvarint(data, uint64(len(name))), name...), 0)
	}
	for _, c := range classes {
		annotations := uint32(0)
		if c.annotation != "" {
			item := here()
			data = append(binary.AppendUvarint(append(data, 1), uint64(index(c.annotation))), 0)
			set := here()
			data = le.AppendUint32(le.AppendUint32(data, 1), item)
			annotations = here()
			data = append(le.AppendUint32(data, set), make([]byte, 12)...)
		}
		for _, v := range []uint32{index(c.name), c.flags, index(c.super), 0, noIndex, annotations, 0, 0} {
			defs = le.AppendUint32(defs, v)
		}
	}
	out := dex("035", dexHeader, 0, 0)[:dexHeader]
	for _, list := range []struct{ at, n, from int }{{0x38, n, stringsAt}, {0x40, n, typesAt}, {0x50, fieldCount, fieldsAt}, {0x60, len(classes), defsAt}} {
		le.PutUint32(out[list.at:], uint32(list.n))
		le.PutUint32(out[list.at+4:], uint32(list.from))
	}
	return slices.Concat(out, stringIDs, typeIDs, fields, defs, data)
}

const object = "Ljava/lang/Object;"

func TestBenchmarks(t *testing.T) {
	t.Parallel()
	path := write(t, map[string][]byte{
		"classes.dex": dexOf(
			dexClass{name: "Lcom/example/StartupBenchmark;", super: object, flags: 0x11, field: "Landroidx/benchmark/macro/junit4/MacrobenchmarkRule;"},
			dexClass{name: "Lcom/example/ScrollBenchmark;", super: "Lcom/example/AbstractBenchmark;", flags: 1},
			dexClass{name: "Lcom/example/ProfileGenerator;", super: object, flags: 1, field: "Landroidx/benchmark/macro/junit4/BaselineProfileRule;"},
			dexClass{name: "Lcom/example/OldBenchmark;", super: "Lcom/example/AbstractBenchmark;", flags: 1, annotation: "Lorg/junit/Ignore;"},
			dexClass{name: "Lcom/example/KeptBenchmark;", super: "Lcom/example/AbstractBenchmark;", flags: 1, annotation: "Lorg/junit/runner/RunWith;"},
			dexClass{name: "Lcom/example/PlainTest;", super: object, flags: 1},
		),
		"classes2.dex": dexOf(dexClass{name: "Lcom/example/AbstractBenchmark;", super: object, flags: 0x401, field: "Landroidx/benchmark/macro/junit4/MacrobenchmarkRule;"}),
	})
	got, err := Benchmarks(path)
	if want := []string{"com.example.KeptBenchmark", "com.example.ScrollBenchmark", "com.example.StartupBenchmark"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestBenchmarksOfAnUnreadableAPK(t *testing.T) {
	t.Parallel()
	whole := dexOf(dexClass{name: "La;", super: object, flags: 1})
	for what, data := range map[string][]byte{
		"cut short": whole[:dexHeader+4], "no code": []byte("x"), "a container": dex("041", 300, 10, 300),
	} {
		if got, err := Benchmarks(write(t, map[string][]byte{"classes.dex": data})); err == nil {
			t.Errorf("%s: %v and no error", what, got)
		}
	}
}

func FuzzBenchmarks(f *testing.F) {
	f.Add(dexOf(dexClass{name: "La;", super: "La;", flags: 1, field: benchmarkRule, annotation: ignored}, dexClass{name: "Lb;", super: "La;"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := declared{}
		if err := d.read(data); err == nil {
			for _, name := range d.benchmarks() {
				if len(name) > maxDescriptor {
					t.Errorf("a name of %d bytes", len(name))
				}
			}
		}
	})
}
