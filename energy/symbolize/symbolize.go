// Package symbolize gives the frames of a recording the names of the source: C++ and
// Rust names demangled, names that R8 changed found again, and files without what
// differs from one installation to the next.
//
// It owns how a method is called in reports, which is also what tells whether
// two recordings speak of the same method. It reads no files and hides no frame.
//
// It takes a stand: a Java method has one name, however its code ran and whatever
// its arguments were. simpleperf knows the arguments of some frames alone (of those
// compiled while the app ran), so that overloads can't be told apart throughout;
// and a method that was compiled half-way through a run is still the same method.
//
// Sources: simpleperf/dso.cpp and report_utils.cpp of AOSP's system/extras.
package symbolize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// Limits on what a Naming keeps and gives.
const (
	maxCached = 1 << 16 // different frames, then it begins anew
	maxName   = 1024    // bytes; a longer name is cut
)

// New is a Naming by a mapping; nil where the app was built without one. It is for
// one goroutine at a time.
//
//   - Java: "com.example.mail.Inbox.open", without arguments and without a file,
//     whether it ran compiled or interpreted. A name that several methods share in
//     the mapping is given as "com.example.mail.Inbox.open|close". A method that
//     the compiler put into another one is a frame of its own where the mapping
//     says so for every line of the method: recordings have no lines.
//   - C++ and Rust: demangled, without arguments: "android::Looper::pollOnce",
//     "std::vector<Mail>::reserve". Template arguments stay: in std::function
//     and its like they alone say whose code it is.
//   - No symbol: "[unknown] in libgame.so", all such frames of a file together.
func New(m *r8map.Map) methods.Naming {
	n := naming{mapping: m, known: map[key][]methods.Frame{}}
	return n.frames
}

// key is what a name depends on.
type key struct {
	symbol, file string
	kind         simpleperf.Kind
}

type naming struct {
	mapping *r8map.Map
	known   map[key][]methods.Frame
}

func (n *naming) frames(f simpleperf.Frame) []methods.Frame {
	k := key{f.Symbol, f.File, f.Kind}
	if known, ok := n.known[k]; ok {
		return known
	}
	if len(n.known) >= maxCached {
		clear(n.known)
	}
	frames := n.name(f)
	n.known[k] = frames
	return frames
}

func (n *naming) name(f simpleperf.Frame) []methods.Frame {
	file := clean(shortFile(f))
	switch f.Kind {
	case simpleperf.AOT, simpleperf.JIT, simpleperf.Interpreted:
		if j, ok := javaMethod(f.Symbol); ok {
			return n.java(j, f.Kind)
		}
	}
	name := clean(native(f.Symbol))
	if name == "" {
		name = unknownIn(file)
	}
	return []methods.Frame{{Name: name, File: file, Kind: f.Kind}}
}

// unnamed is a frame without a symbol, and what simpleperf calls memory that shows
// no file.
const unnamed = "[unknown]"

// unknownIn is the name of all frames of a file that have no symbol.
func unknownIn(file string) string {
	if file == "" || file == unnamed {
		return unnamed
	}
	return unnamed + " in " + file[strings.LastIndexByte(file, '/')+1:]
}

// clean makes a text of a recording fit for reports: valid UTF-8, no control
// characters, not too long.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, text[:min(len(text), maxName)])
	if len(text) <= maxName {
		return text
	}
	return strings.ToValidUTF8(text[:maxName], "")
}
