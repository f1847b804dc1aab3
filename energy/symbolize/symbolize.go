// Package symbolize maps the frames of a recording to the names of the source: it demangles C++ and
// Rust names, restores names that R8 changed, and removes from files what differs between
// installations.
//
// It owns the names of methods in reports, which also identify the same method in two recordings.
// It reads no files and hides no frame.
//
// A Java method has one name, however its code ran and whatever its arguments were. simpleperf
// knows the arguments only of some frames (JIT-compiled ones), so overloads can't be distinguished
// consistently; and a method that is compiled in the middle of a run is still the same method.
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

// Limits of a Naming.
const (
	maxCached = 1 << 16 // distinct frames; the cache is cleared when full
	maxName   = 1024    // bytes; a longer name is cut
)

// New returns a Naming that uses a mapping, nil if the app was built without one. It is not safe
// for concurrent use.
//
//   - Java: "com.example.mail.Inbox.open", without arguments and without a file, whether it ran
//     compiled or interpreted. A name that several methods share in the mapping is returned as
//     "com.example.mail.Inbox.open|close". An inlined method is a frame of its own if the mapping
//     has it for every line of the method: recordings have no lines.
//   - C++ and Rust: demangled, without arguments: "android::Looper::pollOnce",
//     "std::vector<Mail>::reserve". Template arguments stay: in std::function and the like only
//     they show whose code it is.
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

// unnamed is a frame without a symbol, and simpleperf's name for memory without a file.
const unnamed = "[unknown]"

// unknownIn returns the name of all frames of a file that have no symbol.
func unknownIn(file string) string {
	if file == "" || file == unnamed {
		return unnamed
	}
	return unnamed + " in " + file[strings.LastIndexByte(file, '/')+1:]
}

// clean prepares text of a recording for reports: valid UTF-8, no control characters, bounded.
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
