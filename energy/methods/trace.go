// Package methods attributes energy to methods by sampling: how likely a method is to be sampled,
// how long it ran, at what power, and so how many joules it took, each with its interval (EDATA,
// section 3.5; Mukhanov et al., ALEA).
//
// It owns the intermediate representation (Trace) and what follows from it. It does not read files
// (package simpleperf does) and does not know where power comes from (package energy does).
//
// What too few samples can't show is left out, with a warning.
package methods

import (
	"time"

	"github.com/apkgate/apkgate/energy/unmix"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// Trace is one recording in the intermediate representation (EDATA, section 3.5.1): samples of the
// app's call chains with the power at their time.
type Trace struct {
	Event   string  // what was sampled: "task-clock", "cpu-clock"
	Hz      float64 // samples a second of a thread's CPU time
	Frames  []Frame // distinct; Sample.Chain refers to them
	Threads []Thread
	Samples []Sample // in chronological order
	// Readings are the power sensor's readings during the trace, in chronological order.
	Readings []unmix.Reading
	// Lost counts samples that the recording dropped.
	Lost     uint64
	Warnings []run.Warning
}

// Frame is one method or function, under its name in the source. Two frames with the same Name and
// File are the same method.
type Frame struct {
	Name string // "com.example.mail.Inbox.open", "std::sort<…>(…)"; never ""
	File string // "base.apk", "/apex/…/libart.so"; "" if unknown
	Kind simpleperf.Kind
	// Line is the line of the source, 0 if unknown.
	Line int
}

// Thread is one thread of the app.
type Thread struct {
	PID, TID int
	Name     string
}

// Sample is an app state: a thread's call chain, and the device's power at the time.
type Sample struct {
	Time   time.Duration // on CLOCK_MONOTONIC
	Thread int           // index in Trace.Threads
	Period time.Duration // the CPU time that the sample stands for
	Chain  []int         // indices in Trace.Frames, the innermost first; never empty; shared, not to be changed
	Watts  float64       // of the device at Time
	// Reading numbers the sensor's update that Watts is derived from; -1 if the power is unknown,
	// and then Watts is 0.
	Reading int
}
