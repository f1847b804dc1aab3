package record

import (
	"time"

	"github.com/apkgate/apkgate/collect/energymeter"
	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/logcat"
)

// Measurement is one repetition as it was seen. Times of frames and events are on
// CLOCK_MONOTONIC.
type Measurement struct {
	Repetition int // from 1
	Frames     []jank.Frame
	Events     []logcat.Event // UI events, by time
	// Standstills are what did not respond, of lost attempts too where it was Android.
	Standstills []Standstill
	Startup     time.Duration      // to the first display, 0: not seen
	FullStart   time.Duration      // to the full display, 0: not told
	CPU         time.Duration      // 0: not seen
	Watching    time.Duration      // CPU time that watching took, to the same reading; below 0: not known
	Lasted      time.Duration      // of the workload
	PSSKB       int64              // 0: not seen
	RSSKB       int64              // 0: not seen
	PeakKB      int64              // 0: not seen
	Traced      map[string]float64 // metrics that a trace tells, of those that are known
	Done        *framesource.Done  // nil: not known
	Energy      *energymeter.Spent // nil: not measured
	Unseen      bool               // nobody looked at the frames
	By          framesource.Source // what told of them
	Whole       framesource.Whole  // what Android counted of them
	Imported    *run.Run           // what the workload has measured by itself; nil: nothing
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Standstill is one time that the app, or Android itself, did not respond.
type Standstill struct {
	Metric string        // that counts it, beside anr.count: anr.input, snr.count
	Since  time.Duration // on CLOCK_MONOTONIC; 0 where that is not known
}
