package apk

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// Benchmarks returns the classes of Macrobenchmarks in an APK, sorted by name: those that can be
// instantiated, have a MacrobenchmarkRule of their own or of a superclass in the APK, and are not
// ignored. A baseline profile's generator has another rule.
func Benchmarks(file string) ([]string, error) {
	archive, err := Open(file)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	found := declared{}
	for _, f := range archive.File {
		if is, err := path.Match("classes*.dex", f.Name); err != nil || !is {
			continue
		}
		if err := found.addDex(f); err != nil {
			return nil, fmt.Errorf("look for benchmarks in %s of %s: %w", f.Name, file, err)
		}
	}
	return found.benchmarks(), nil
}

// What a benchmark's class has.
const (
	benchmarkRule = "Landroidx/benchmark/macro/junit4/MacrobenchmarkRule;"
	ignored       = "Lorg/junit/Ignore;"
)

// declared are the classes of an APK, by their descriptors.
type declared map[string]class

// class is a class. If only its field is known so far, it is not defined.
type class struct {
	defined, concrete, ignored bool
	hasRule                    bool
	super                      string
}

// maxSupers limits the chain of superclasses.
const maxSupers = 100

func (d declared) benchmarks() (names []string) {
	for name, c := range d {
		if !c.defined || !c.concrete || c.ignored {
			continue
		}
		has := c.hasRule
		for n := 0; !has && n < maxSupers && c.super != ""; n++ {
			c = d[c.super]
			has = c.hasRule
		}
		if has {
			names = append(names, strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(name, "L"), ";"), "/", "."))
		}
	}
	slices.Sort(names)
	return names
}

// maxDex limits a dex file that is read completely, in bytes.
const maxDex = 64 << 20

func (d declared) addDex(f *zip.File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxDex+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxDex:
		return fmt.Errorf("it is larger than %d MiB", maxDex>>20)
	}
	return d.read(data)
}

// Offsets in the header of a dex file (source.android.com, Dalvik executable format), and sizes of
// the entries of its lists, in bytes.
const (
	stringIDsAt, typeIDsAt, fieldIDsAt, classDefsAt = 0x38, 0x40, 0x50, 0x60

	stringIDBytes, typeIDBytes, fieldIDBytes, classDefBytes = 4, 4, 8, 32

	accInterface, accAbstract, accAnnotation = 0x200, 0x400, 0x2000
	noIndex                                  = 0xFFFFFFFF
	maxDescriptor                            = 1000 // bytes
)

// read adds the classes of one dex file.
func (d declared) read(data []byte) error {
	if len(data) < dexHeader || string(data[:4]) != "dex\n" || data[7] != 0 || u32(data[endianAt:]) != littleEndian {
		return errDex
	}
	if string(data[4:7]) >= firstContainer {
		return fmt.Errorf("dex files of version %q are not looked into", data[4:7])
	}
	x := dexFile{data: data}
	for i, list := range []struct{ at, each int }{{stringIDsAt, stringIDBytes}, {typeIDsAt, typeIDBytes}, {fieldIDsAt, fieldIDBytes}, {classDefsAt, classDefBytes}} {
		n, from := uint64(u32(data[list.at:])), uint64(u32(data[list.at+4:]))
		if n > 0 && (from < dexHeader || from+n*uint64(list.each) > uint64(len(data))) {
			return errDex
		}
		x.lists[i] = data[min(from, uint64(len(data))):min(from+n*uint64(list.each), uint64(len(data)))]
	}
	rule, ignore := x.typeOf(benchmarkRule), x.typeOf(ignored)
	for e := range slices.Chunk(x.lists[2], fieldIDBytes) {
		if uint32(u16(e[2:])) == rule {
			name := x.descriptor(uint32(u16(e)))
			c := d[name]
			c.hasRule = true
			d[name] = c
		}
	}
	for e := range slices.Chunk(x.lists[3], classDefBytes) {
		name, flags := x.descriptor(u32(e)), u32(e[4:])
		c := d[name]
		c.defined, c.concrete = true, flags&(accInterface|accAbstract|accAnnotation) == 0
		c.super, c.ignored = x.descriptor(u32(e[8:])), x.annotated(u32(e[20:]), ignore)
		d[name] = c
	}
	delete(d, "")
	return nil
}

// dexFile is a dex file with its lists of strings, types, fields and classes.
type dexFile struct {
	data  []byte
	lists [4][]byte
}

// descriptor returns the name of a type by its index, "" if there is none.
func (x dexFile) descriptor(typ uint32) string {
	if uint64(typ)*typeIDBytes+typeIDBytes > uint64(len(x.lists[1])) {
		return ""
	}
	at := u32(x.lists[1][typ*typeIDBytes:])
	if uint64(at)*stringIDBytes+stringIDBytes > uint64(len(x.lists[0])) {
		return ""
	}
	from := uint64(u32(x.lists[0][at*stringIDBytes:]))
	if from >= uint64(len(x.data)) {
		return ""
	}
	_, n := binary.Uvarint(x.data[from:]) // its characters; the text ends with a zero
	if n <= 0 {
		return ""
	}
	text := x.data[from+uint64(n):]
	text = text[:min(len(text), maxDescriptor)]
	end := slices.Index(text, 0)
	return string(text[:max(end, 0)])
}

// typeOf returns the index of a type, noIndex if the file does not contain it.
func (x dexFile) typeOf(descriptor string) uint32 {
	for i := range len(x.lists[1]) / typeIDBytes {
		if x.descriptor(uint32(i)) == descriptor {
			return uint32(i)
		}
	}
	return noIndex
}

// annotated reports whether the annotations of a class (annotations_directory_item) have one of the
// type.
func (x dexFile) annotated(directory, typ uint32) bool {
	set := x.word(uint64(directory))
	if directory == 0 || set == 0 || typ == noIndex {
		return false
	}
	for i := range min(x.word(uint64(set)), 1000) {
		item := uint64(x.word(uint64(set) + 4 + 4*uint64(i)))
		if item == 0 || item+1 >= uint64(len(x.data)) {
			continue
		}
		if got, n := binary.Uvarint(x.data[item+1:]); n > 0 && got == uint64(typ) { // after its visibility
			return true
		}
	}
	return false
}

// word returns the number at an offset, 0 beyond the file.
func (x dexFile) word(at uint64) uint32 {
	if at+4 > uint64(len(x.data)) {
		return 0
	}
	return u32(x.data[at:])
}
