// Package art reads ART's method traces: the calls of an app's methods, each with its thread
// and time.
//
// It reads what `am profile` and android.os.Debug write: the format with a text header
// (versions 1 to 3), its streaming form (0xf2 and 0xf3), version 2 of the formats (4, 5, 0xf4,
// 0xf5), low-overhead dumps, and the payload of Perfetto's art_method_trace_long_running
// (version 6). Sources: art/runtime/trace.cc and trace_profile.cc of AOSP, and Perfetto's
// importers art_method_tokenizer.cc, art_method_v2_tokenizer.cc and art_method_trace_module.cc.
//
// Files are read front to back and never held whole: events are handed to a visitor, and the
// tables of methods and threads are bounded. Which calls took long is decided by Calls and its
// users. The package does not know what a method means to the app.
package art

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Format is the form of a trace's file.
type Format string

// The formats that are read. Version numbers are those of the file.
const (
	Text      Format = "text"         // a header in text, then records of fixed size: versions 1 to 3
	Streaming Format = "streaming"    // records with methods and threads between them: 0xf2 and 0xf3
	V2        Format = "v2"           // blocks of LEB128: 4, 5, 0xf4 and 0xf5
	LongOnes  Format = "long-running" // a low-overhead dump of long calls: no header, or version 6
	AllCalls  Format = "low-overhead" // a low-overhead dump of all calls: no header and no clock
	Unknown   Format = ""             // none of these
)

// Clock is what the times of a trace mean.
type Clock string

// The clocks of traces.
const (
	Wall      Clock = "wall"
	ThreadCPU Clock = "thread-cpu"
	Dual      Clock = "dual" // both
	NoClock   Clock = "none" // the order of calls is known, and no time
)

// Action is what an event reports of a method.
type Action uint8

// The actions (TraceAction in art/runtime/trace.h).
const (
	Enter  Action = iota
	Exit          // it returned
	Unroll        // it was left by an exception
)

// Event is the entry into a method or the exit from it.
type Event struct {
	Thread uint32 // the kernel's id; of traces before Android 12, ART's own
	Method int    // place in Trace.Methods; -1 of an exit that does not name its method
	Action Action
	// Time is when it happened on the trace's clock, which is wall time of traces that have both:
	// since the trace began, or since the thread's first event for processor time.
	Time time.Duration
	CPU  time.Duration // processor time of traces that have both, else 0
}

// Method is one of the app's or the framework's methods.
type Method struct {
	ID        uint64 // as in the file
	Class     string // com.example.Main, "" where the file does not name the method
	Name      string
	Signature string // (I)V
	File      string // Main.java, "" where unknown
	Line      int    // 0 where unknown
}

// String is Class.Name, or the method's id where the file does not name it.
func (m Method) String() string {
	switch {
	case m.Class != "" && m.Name != "":
		return m.Class + "." + m.Name
	case m.Class != "":
		return m.Class
	}
	return fmt.Sprintf("method %#x", m.ID)
}

// Trace is what a file holds beside its events.
type Trace struct {
	Format  Format
	Version int // as in the file, 0xf3 say; 0 of dumps without a header
	Clock   Clock
	// Begin is when the trace began, on CLOCK_MONOTONIC since Android 14, else by the wall
	// clock; 0 where the file does not state it.
	Begin   time.Duration
	Elapsed time.Duration // 0 where not stated
	PID     int           // 0 where not stated
	// Full reports that ART's buffer was full: the end of what was traced is missing.
	Full bool
	// Stated is how many events the file states to have, -1 where it states none.
	Stated  int
	Events  int // how many were read
	Methods []Method
	Threads map[uint32]string
	// Cut reports that the file ends before its trace does.
	Cut      bool
	Warnings []run.Warning
}

// Method returns the method at a place in Methods, or one without a name for -1.
func (t *Trace) Method(place int) Method {
	if place < 0 {
		return Method{}
	}
	return t.Methods[place]
}

// Thread returns a thread's name, or its id where it has none.
func (t *Trace) Thread(tid uint32) string {
	return cmp.Or(t.Threads[tid], fmt.Sprintf("thread %d", tid))
}

// Limits on what is kept of one file.
const (
	MaxMethods = 1 << 18
	MaxThreads = 1 << 16
	MaxNames   = 32 << 20 // bytes of all names
	maxLine    = 64 << 10 // bytes: a method's line has a length of 16 bits
	maxBlock   = 8 << 20  // bytes of one block of version 2: a thread's buffer has 262,144 events of 30 bytes at most
)

// parseMethod reads a method's line: class, name, signature and file, in some versions the
// line too, with tabs between them. Older versions leave the signature out.
func parseMethod(id uint64, line string) Method {
	fields := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
	m := Method{ID: id, Class: fields[0]}
	rest := fields[1:]
	if len(rest) >= 2 && strings.HasPrefix(rest[1], "(") || len(rest) >= 4 {
		m.Name, m.Signature, rest = rest[0], rest[1], rest[2:]
	}
	if len(rest) > 0 {
		m.File = rest[0]
	}
	if len(rest) > 1 {
		_, _ = fmt.Sscanf(rest[1], "%d", &m.Line)
		m.Line = max(m.Line, 0)
	}
	return m
}
