// Package r8map reads mapping.txt, in which R8 (or ProGuard) writes what it has
// renamed and put into one another, and finds the names of the source again.
//
// It owns the format, with R8's ranges of lines, inline frames and comments in
// JSON. It does not read stack traces and knows nothing of profiles. Fields are
// passed over.
//
// It takes a stand: where the mapping leaves several methods possible, all of
// them are told; none is picked.
//
// Format: R8's doc/retrace.md and naming/ProguardMapReader; ProGuard's manual,
// "ReTrace".
package r8map

import "github.com/apkgate/apkgate/run"

// Limits on what a mapping may hold. Beyond them the rest is counted, not kept.
const (
	MaxLines   = 6 << 20 // of methods
	MaxRanges  = 1 << 16 // of them, those that Retrace looks at for one compiled name
	MaxClasses = 1 << 20
	MaxNames   = 256 << 20 // bytes of different names
)

// Header is what the comments at the top of a mapping say.
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
	Args   string // "(int,java.lang.String)", "" where not known
	File   string // "Inbox.kt", "" where the mapping doesn't tell
	Line   int    // in File, 0 where not known
	// Synthesized says that the compiler made the method; Outline, that it made it
	// from code that several methods had in common.
	Synthesized, Outline bool
}

// Place is where in the compiled code something was, as the device tells it.
type Place struct {
	Class  string // "a.b"
	Method string // "c"
	// Args are the types of the arguments as the device has them, "(int,a.d)";
	// "" where not known.
	Args string
	// Line is the compiled code's line (or its position, where R8 wrote positions
	// for lines), 0 where not known.
	Line int
}

// Map is a mapping in memory. It is safe for many readers at once.
type Map struct {
	Header   Header
	Warnings []run.Warning

	names   []string // each once; [0] is ""
	ids     map[string]uint32
	classes map[uint32]class  // by the compiled name
	files   map[uint32]uint32 // by the class's name in the source
	lines   []line            // of one class beside each other
	dropped int
}

// class is a class with its lines.
type class struct {
	original, file uint32 // names
	first, end     uint32 // lines
	synthesized    bool
}

// line is one line of a method.
type line struct {
	name                uint32 // the compiled method
	class, method, args uint32 // of the source; class 0 is the class that it is in
	residual            uint32 // compiled arguments, 0 where not told
	from, to            uint32 // compiled lines
	start, end          uint32 // lines of the source
	ranged, told        bool   // whether from and to are told, and start and end
	caller              bool   // what stands in the line before was put into this
	synthesized         bool
	outline             bool
}

// lookup is the number of a name.
func (m *Map) lookup(name string) (uint32, bool) {
	id, ok := m.ids[name]
	return id, ok
}

// Class is a class's name in the source; ok is false where the mapping doesn't
// have the class.
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
