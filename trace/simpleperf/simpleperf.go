// Package simpleperf reads the output of Android's CPU profiler: perf.data, with the symbols and
// metadata that simpleperf appends to the records, and the output of `simpleperf report-sample
// --protobuf`.
//
// It owns the two formats and their contents: events, threads, samples with their call chains, and
// the name of every frame as far as it is in the file. It opens no other file, unwinds no stack,
// and does not demangle C++ names.
//
// A frame whose name is not in the file stays unknown. Nothing is guessed from a neighbour, and
// losses are counted.
//
// Formats: simpleperf/record_file_format.h, record.h, record_file.proto and cmd_report_sample.proto
// of AOSP's system/extras, and include/uapi/linux/ perf_event.h of Linux.
package simpleperf

import (
	"time"

	"github.com/apkgate/apkgate/run"
)

// Source is the format that a profile was read from.
type Source string

// The formats.
const (
	Nothing      Source = ""              // the file has neither format
	PerfData     Source = "perf.data"     // simpleperf record, or Linux perf record
	ReportSample Source = "report-sample" // simpleperf report-sample --protobuf
)

// Profile is one file as plain data.
type Profile struct {
	Source Source
	// Recorder is "simpleperf" or "perf", the program that wrote the file.
	Recorder string
	// Clock is the clock of the samples: "monotonic", "boottime", "perf", …, or "" if the file does
	// not state it.
	Clock   string
	Arch    string // "aarch64", "x86_64", …, "" if unknown
	Command string // the command line of the recording
	// Meta is simpleperf's meta info: simpleperf_version, app_package_name, ….
	Meta     map[string]string
	Events   []Event
	Threads  []Thread
	Frames   []Frame  // distinct; Sample.Chain refers to them
	Samples  []Sample // in the order of the file
	BuildIDs []BuildID
	// Trace counts the bytes of an instruction trace (ETM), which is not read.
	Trace uint64
	// Lost counts the samples that the kernel or simpleperf dropped.
	Lost uint64
	// Records counts the records by type: "sample", "mmap2", "lost", ….
	Records  map[string]int
	Warnings []run.Warning
}

// Event is a counted event: "cpu-cycles", "task-clock:u", "sched:sched_switch".
type Event struct {
	Name string
	// Type and Config are perf_event_attr's; both 0 in report-sample.
	Type   uint32
	Config uint64
	// Counted is its count in the samples of other events, from the beginning of the recording to
	// the last sample: for an event added with --add-counter, which has no samples of its own.
	Counted uint64
}

// Thread is a thread under one name: a thread that changed its name is listed once for each.
type Thread struct {
	PID, TID int
	Name     string // "" if unknown
	// Process is the last name of the process's main thread, even if that has no samples; "" if
	// unknown, as in report-sample.
	Process string
}

// Sample is one sample of an event.
type Sample struct {
	Time   time.Duration // on Profile.Clock
	Thread int           // index in Profile.Threads
	Event  int           // index in Profile.Events
	CPU    int           // -1 if unknown
	// Period is how much of the event the sample stands for: nanoseconds of task-clock and
	// cpu-clock, cycles of cpu-cycles; with OffCPU, nanoseconds for which the thread did not run.
	Period uint64
	OffCPU bool
	// Chain is the call chain as indices in Profile.Frames, the innermost first.
	Chain []uint32
}

// Frame is one place in the code.
type Frame struct {
	Address uint64 // virtual address in the process, 0 in report-sample
	Offset  uint64 // virtual address in File
	Symbol  string // as in the file (C++ names mangled), "" if unknown
	File    string // "/system/lib64/libc.so", "" if unknown
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
	// Runtime is ART itself between Java frames, which simpleperf hides. In perf.data a frame of
	// libart.so is Native: see Visible.
	Runtime Kind = "runtime"
	Unknown Kind = "unknown" // in no mapped file
)

// BuildID is the identity of a file's code.
type BuildID struct {
	File string `json:"file"`
	ID   string `json:"id"` // in hexadecimal
}
