package record

import (
	"time"

	"github.com/apkgate/apkgate/collect/energymeter"
	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/logcat"
	"github.com/apkgate/apkgate/trace/tasks/grouping"
)

// Measurement are the observations of one repetition. Times of frames and events are on
// CLOCK_MONOTONIC.
type Measurement struct {
	Repetition int // from 1
	Frames     []jank.Frame
	Events     []logcat.Event // UI events, sorted by time
	// Standstills are what did not respond, including Android's in lost attempts.
	Standstills []Standstill
	Startup     time.Duration      // to the first display, 0: not seen
	FullStart   time.Duration      // to the full display, 0: not reported
	CPU         time.Duration      // 0: not seen
	Watching    time.Duration      // CPU time of watching, to the same reading; below 0: unknown
	Lasted      time.Duration      // of the workload
	PSSKB       int64              // 0: not seen
	RSSKB       int64              // 0: not seen
	PeakKB      int64              // 0: not seen
	Traced      map[string]float64 // metrics of a trace, of those that are known
	Tasks       *grouping.Queues   // of asynchronous tasks; nil: not recorded
	Done        *framesource.Done  // nil: unknown
	Energy      *energymeter.Spent // nil: not measured
	Unseen      bool               // nothing looked at the frames
	By          framesource.Source // their source
	Whole       framesource.Whole  // by Android's count
	Imported    *run.Run           // by the workload itself; nil: nothing
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Standstill is one time that the app, or Android itself, did not respond.
type Standstill struct {
	Metric string        // that counts it, next to anr.count: anr.input, snr.count
	Since  time.Duration // on CLOCK_MONOTONIC; 0 if unknown
}
