// Package r8map reads mapping.txt, in which R8 (or ProGuard) records what it renamed and inlined,
// and maps compiled names back to those of the source.
//
// It owns the format, with R8's ranges of lines, inline frames and comments in JSON. It does not
// read stack traces and knows nothing of profiles. Fields are skipped.
//
// Where the mapping leaves several methods possible, all of them are returned; none is picked.
//
// Format: R8's doc/retrace.md and naming/ProguardMapReader; ProGuard's manual, "ReTrace".
package r8map

import "github.com/apkgate/apkgate/run"

// Limits of a mapping. What exceeds them is counted, not kept.
const (
	MaxLines   = 6 << 20 // lines of methods
	MaxRanges  = 1 << 16 // ranges of one compiled name that Retrace considers
	MaxClasses = 1 << 20
	MaxNames   = 256 << 20 // bytes of distinct names
)

// Header is the comments at the top of a mapping.
type Header struct {
	Compiler        string `json:"compiler,omitempty"` // "R8"
	CompilerVersion string `json:"compiler_version,omitempty"`
	MinAPI          string `json:"min_api,omitempty"`
	ID              string `json:"id,omitempty"`   // pg_map_id
	Hash            string `json:"hash,omitempty"` // pg_map_hash
	// Version is the version of R8's additions, such as "2.2"; "" where there
	// are none.
	Version string `json:"version,omitempty"`
}

// Frame is a method of the source, or a place in it.
type Frame struct {
	Class  string // "com.example.mail.Inbox"
	Method string // "open"
	Args   string // "(int,java.lang.String)", "" if unknown
	File   string // "Inbox.kt", "" if the mapping does not state it
	Line   int    // in File, 0 if unknown
	// Synthesized is set if the compiler generated the method; Outline, if it did so from code that
	// several methods shared.
	Synthesized, Outline bool
}

// Place is a place in the compiled code, as the device reports it.
type Place struct {
	Class  string // "a.b"
	Method string // "c"
	// Args are the types of the arguments on the device, "(int,a.d)"; "" if unknown.
	Args string
	// Line is the compiled code's line (or its position, where R8 wrote positions for lines), 0 if
	// unknown.
	Line int
}

// Map is a mapping in memory. It is safe for concurrent readers.
type Map struct {
	Header   Header
	Warnings []run.Warning

	names   []string // each once; [0] is ""
	ids     map[string]uint32
	classes map[uint32]class  // by the compiled name
	files   map[uint32]uint32 // by the class's name in the source
	lines   []line            // contiguous for each class
	dropped int
}

// class is a class and the range of its lines.
type class struct {
	original, file uint32 // names
	first, end     uint32 // lines
	synthesized    bool
}

// line is one line of a method.
type line struct {
	name                uint32 // the compiled method
	class, method, args uint32 // of the source; class 0 is the enclosing class
	residual            uint32 // compiled arguments, 0 if not stated
	from, to            uint32 // compiled lines
	start, end          uint32 // lines of the source
	ranged, hasSource   bool   // whether from and to are stated, and start and end
	caller              bool   // the method of the line before was inlined into this one
	synthesized         bool
	outline             bool
}

// lookup returns the id of a name.
func (m *Map) lookup(name string) (uint32, bool) {
	id, ok := m.ids[name]
	return id, ok
}

// Class returns a class's name in the source; ok is false if the mapping does not have the class.
func (m *Map) Class(name string) (original string, ok bool) {
	c, ok := m.class(name)
	return m.names[c.original], ok
}

func (m *Map) class(name string) (class, bool) {
	id, ok := m.lookup(name)
	if !ok {
		return class{}, false
	}
	c, ok := m.classes[id]
	return c, ok
}
