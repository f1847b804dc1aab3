// Package methods attributes energy to methods by sampling: how likely a method
// is to be hit, how long it ran, at what power, and so how many joules it took,
// each with its interval (EDATA, section 3.5; Mukhanov et al., ALEA).
//
// It owns the intermediate representation (Trace) and what follows from it. It
// does not read files (package simpleperf does) and does not know where power
// comes from (package energy does).
//
// It takes a stand: what too few samples can't tell is left out, and says so.
package methods

import (
	"time"

	"github.com/apkgate/apkgate/energy/unmix"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// Trace is one recording in the intermediate representation (EDATA, section
// 3.5.1): samples of the app's call chains with the power at their time.
type Trace struct {
	Event   string  // what was sampled: "task-clock", "cpu-clock"
	Hz      float64 // samples a second of a thread's CPU time
	Frames  []Frame // each once; Sample.Chain points here
	Threads []Thread
	Samples []Sample // in the order of time
	// Readings are what the sensor of power told meanwhile, in the order of time.
	Readings []unmix.Reading
	// Lost counts samples that the recording had to drop.
	Lost     uint64
	Warnings []run.Warning
}

// Frame is one method or function, under the name that the source has. Two
// frames are the same method where Name and File are the same.
type Frame struct {
	Name string // "com.example.mail.Inbox.open", "std::sort<…>(…)"; never ""
	File string // "base.apk", "/apex/…/libart.so"; "" where unknown
	Kind simpleperf.Kind
	// Line is the line of the source, 0 where it isn't known.
	Line int
}

// Thread is one thread of the app.
type Thread struct {
	PID, TID int
	Name     string
}

// Sample is an app state: a thread's call chain, and the device's power then.
type Sample struct {
	Time   time.Duration // on CLOCK_MONOTONIC
	Thread int           // in Trace.Threads
	Period time.Duration // of CPU time that the sample stands for
	Chain  []int         // in Trace.Frames, the innermost first; never empty; shared, not to be changed
	Watts  float64       // of the device at Time
	// Reading numbers the sensor's update that Watts goes back to; -1 where no
	// power is known, and then Watts is 0.
	Reading int
}
