package apk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
)

// The chunks of a binary XML file (Android's ResourceTypes.h).
const (
	chunkXML         = 0x0003
	chunkStrings     = 0x0001
	chunkResources   = 0x0180
	chunkElement     = 0x0102
	headerBytes      = 8
	elementBytes     = 20 // of an element, after its header of 16
	attributeBytes   = 20
	stringType       = 0x03
	flagUTF8         = 1 << 8
	booleanType      = 0x12
	resourceOfName   = 0x01010003 // android:name
	ofDebuggable     = 0x0101000f // android:debuggable
	ofShell          = 0x01010594 // android:shell
	maxStrings       = 1 << 20
	maxRunners       = 1000
	noString         = 0xFFFFFFFF
	elementHeadBytes = 16
)

var errCut = errors.New("it is cut short, or no binary XML")

// manifestReader walks over the chunks.
type manifestReader struct {
	strings   []string
	resources []uint32 // of the first strings, which are names of attributes
	manifest  Manifest
}

func parseManifest(data []byte) (Manifest, error) {
	kind, head, size, err := chunkOf(data)
	if err != nil || kind != chunkXML {
		return Manifest{}, errCut
	}
	var r manifestReader
	for rest := data[head:size]; len(rest) > 0; {
		kind, head, size, err := chunkOf(rest)
		if err != nil {
			return Manifest{}, err
		}
		chunk := rest[:size]
		switch kind {
		case chunkStrings:
			r.strings, err = stringsOf(chunk, head)
		case chunkResources:
			for at := head; at+4 <= len(chunk); at += 4 {
				r.resources = append(r.resources, u32(chunk[at:]))
			}
		case chunkElement:
			err = r.element(chunk)
		}
		if err != nil {
			return Manifest{}, err
		}
		rest = rest[size:]
	}
	if r.manifest.Package == "" {
		return Manifest{}, errors.New("it names no package")
	}
	return r.manifest, nil
}

func u16(b []byte) int    { return int(binary.LittleEndian.Uint16(b)) }
func u32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// chunkOf returns the kind of the chunk at the beginning, where its header ends, and where the
// chunk itself does.
func chunkOf(data []byte) (kind, head, size int, err error) {
	if len(data) < headerBytes {
		return 0, 0, 0, errCut
	}
	kind, head = u16(data), u16(data[2:])
	long := uint64(u32(data[4:]))
	if head < headerBytes || uint64(head) > long || long > uint64(len(data)) {
		return 0, 0, 0, errCut
	}
	return kind, head, int(long), nil
}

// stringsOf reads the pool of strings.
func stringsOf(chunk []byte, head int) ([]string, error) {
	if head < headerBytes+20 {
		return nil, errCut
	}
	count, flags, start := uint64(u32(chunk[8:])), u32(chunk[16:]), uint64(u32(chunk[20:]))
	if count > maxStrings || uint64(head)+4*count > uint64(len(chunk)) || start > uint64(len(chunk)) {
		return nil, errCut
	}
	read := utf16String
	if flags&flagUTF8 != 0 {
		read = utf8String
	}
	out := make([]string, count)
	total := 0 // a sound file's strings don't overlap: together they are no larger than it
	for i := range out {
		at := start + uint64(u32(chunk[head+4*i:]))
		if at > uint64(len(chunk)) {
			return nil, errCut
		}
		text, err := read(chunk[at:])
		if err != nil {
			return nil, fmt.Errorf("its string %d: %w", i, err)
		}
		if total += len(text); total > 2*len(chunk) {
			return nil, errors.New("its strings lie upon each other")
		}
		out[i] = text
	}
	return out, nil
}

// utf8String reads a string with its length twice, in characters and in bytes, each in one byte or,
// if the first has its high bit set, in two.
func utf8String(b []byte) (string, error) {
	length := 0
	for range 2 {
		if len(b) < 2 {
			return "", errCut
		}
		if length = int(b[0]); length&0x80 != 0 {
			length = (length&0x7F)<<8 | int(b[1])
			b = b[1:]
		}
		b = b[1:]
	}
	if length > len(b) {
		return "", errCut
	}
	return string(b[:length]), nil
}

// utf16String reads a string with its length in one unit or, if that has its high bit set, two.
func utf16String(b []byte) (string, error) {
	if len(b) < 4 {
		return "", errCut
	}
	length := u16(b)
	if length&0x8000 != 0 {
		length = (length&0x7FFF)<<16 | u16(b[2:])
		b = b[2:]
	}
	if b = b[2:]; 2*length > len(b) {
		return "", errCut
	}
	units := make([]uint16, length)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units)), nil
}

func (r *manifestReader) text(at uint32) string {
	if at == noString || uint64(at) >= uint64(len(r.strings)) {
		return ""
	}
	return r.strings[at]
}

// element reads the wanted attributes of an element.
func (r *manifestReader) element(chunk []byte) error {
	if len(chunk) < elementHeadBytes+elementBytes {
		return errCut
	}
	body := chunk[elementHeadBytes:]
	name := r.text(u32(body[4:]))
	switch name {
	case "manifest", "instrumentation", "application", "profileable":
	default:
		return nil
	}
	at, each, count := u16(body[8:]), u16(body[10:]), u16(body[12:])
	if each < attributeBytes || at+each*count > len(body) {
		return errCut
	}
	for ; count > 0; count, at = count-1, at+each {
		attribute := body[at : at+attributeBytes]
		key, value := u32(attribute[4:]), r.value(attribute)
		switch {
		case name == "manifest" && r.text(key) == "package" && r.manifest.Package == "":
			r.manifest.Package = value
		case name == "application" && r.is(key, ofDebuggable, "debuggable"):
			r.manifest.Debuggable = isTrue(attribute, value)
		case name == "profileable" && r.is(key, ofShell, "shell"):
			r.manifest.Shell = isTrue(attribute, value)
		case name == "instrumentation" && r.is(key, resourceOfName, "name") && value != "" && len(r.manifest.Runners) < maxRunners:
			r.manifest.Runners = append(r.manifest.Runners, Class(r.manifest.Package, value))
		}
	}
	return nil
}

// is reports whether an attribute is one of Android's, by its resource or, if the file has no list
// of these, by its name.
func (r *manifestReader) is(key, resource uint32, name string) bool {
	if uint64(key) < uint64(len(r.resources)) {
		return r.resources[key] == resource
	}
	return r.text(key) == name
}

// isTrue reports whether an attribute is true, as a value of its own type or as text.
func isTrue(attribute []byte, text string) bool {
	return attribute[15] == booleanType && u32(attribute[16:]) != 0 || text == "true"
}

// value returns an attribute's text, "" if it is no text, such as a reference.
func (r *manifestReader) value(attribute []byte) string {
	if raw := r.text(u32(attribute[8:])); raw != "" {
		return raw
	}
	if attribute[15] == stringType {
		return r.text(u32(attribute[16:]))
	}
	return ""
}

// Class returns a class's full name: a name that begins with a dot is relative to the package.
func Class(pkg, name string) string {
	if strings.HasPrefix(name, ".") {
		return pkg + name
	}
	return name
}
