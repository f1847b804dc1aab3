// Package simpleperf reads what Android's CPU profiler writes: perf.data, with
// the symbols and metadata that simpleperf adds behind the records, and the
// output of `simpleperf report-sample --protobuf`.
//
// It owns the two formats and what they say: events, threads, samples with
// their call chains, and the name of every frame as far as the file tells it.
// It opens no other file, unwinds no stack, and does not demangle C++ names.
//
// It takes a stand: a frame whose name the file does not hold stays unknown.
// Nothing is guessed from a neighbour, and what was lost is counted.
//
// Formats: simpleperf/record_file_format.h, record.h, record_file.proto and
// cmd_report_sample.proto of AOSP's system/extras, and include/uapi/linux/
// perf_event.h of Linux.
package simpleperf

import (
	"time"

	"github.com/apkgate/apkgate/run"
)

// Source is the format that a profile was read from.
type Source string

// The formats.
const (
	Nothing      Source = ""              // the file is of neither format
	PerfData     Source = "perf.data"     // simpleperf record, or Linux perf record
	ReportSample Source = "report-sample" // simpleperf report-sample --protobuf
)

// Profile is one file as plain data.
type Profile struct {
	Source Source
	// Recorder is "simpleperf" or "perf", the program that wrote the file.
	Recorder string
	// Clock stamps the samples: "monotonic", "boottime", "perf", …, or "" where
	// the file does not tell.
	Clock   string
	Arch    string // "aarch64", "x86_64", …, "" where not told
	Command string // the command line of the recording
	// Meta is simpleperf's meta info: simpleperf_version, app_package_name, ….
	Meta     map[string]string
	Events   []Event
	Threads  []Thread
	Frames   []Frame  // each once; Sample.Chain points here
	Samples  []Sample // in the order of the file
	BuildIDs []BuildID
	// Trace counts the bytes of an instruction trace (ETM), which is not read.
	Trace uint64
	// Lost counts the samples that the kernel or simpleperf had to drop.
	Lost uint64
	// Records counts the records by type: "sample", "mmap2", "lost", ….
	Records  map[string]int
	Warnings []run.Warning
}

// Event is what was counted: "cpu-cycles", "task-clock:u", "sched:sched_switch".
type Event struct {
	Name string
	// Type and Config are perf_event_attr's; both 0 in report-sample.
	Type   uint32
	Config uint64
	// Counted is what the samples of other events read of it, from the beginning of the
	// recording to the last sample: of an event that was added with --add-counter, and
	// has no samples of its own.
	Counted uint64
}

// Thread is a thread under one name: a thread that changed its name is listed
// once for each.
type Thread struct {
	PID, TID int
	Name     string // "" where not told
	// Process is the last name of the process's main thread, also of one that was
	// never hit; "" where not told, as in report-sample.
	Process string
}

// Sample is one hit of an event.
type Sample struct {
	Time   time.Duration // on Profile.Clock
	Thread int           // in Profile.Threads
	Event  int           // in Profile.Events
	CPU    int           // -1 where not told
	// Period is how much of the event the sample stands for: nanoseconds of
	// task-clock and cpu-clock, cycles of cpu-cycles.
	Period uint64
	// Chain is the call chain as places in Profile.Frames, the innermost first.
	Chain []uint32
}

// Frame is one place in the code.
type Frame struct {
	Address uint64 // virtual address in the process, 0 in report-sample
	Offset  uint64 // virtual address in File
	Symbol  string // as the file holds it (C++ names mangled), "" where unknown
	File    string // "/system/lib64/libc.so", "" where unknown
	Kind    Kind
}

// Kind is how a frame's code runs.
type Kind string

// The kinds of frames.
const (
	Native      Kind = "native"      // machine code of a library or program
	Kernel      Kind = "kernel"      // the kernel and its modules
	AOT         Kind = "aot"         // Java compiled before it runs: .odex, .oat
	JIT         Kind = "jit"         // Java compiled while it runs
	Interpreted Kind = "interpreted" // Java as dex code
	// Runtime is ART itself between Java frames; simpleperf hides it. Read off
	// perf.data, a frame of libart.so is Native: see Visible.
	Runtime Kind = "runtime"
	Unknown Kind = "unknown" // in no mapped file
)

// BuildID is the identity of a file's code.
type BuildID struct {
	File string `json:"file"`
	ID   string `json:"id"` // in hexadecimal
}
