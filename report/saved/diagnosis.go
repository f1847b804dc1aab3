package saved

import (
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// DiagnosisFormat is the format and version of the JSON of apkgate diagnose
// (docs/format/diagnosis.md).
const DiagnosisFormat = "apkgate.diagnosis/1"

// Diagnosis is why an app was slow according to one recording.
type Diagnosis struct {
	Format string `json:"format"`
	// File is the recording's name, Kind its format: "perfetto".
	File    string `json:"file"`
	Kind    string `json:"kind"`
	Package string `json:"package,omitempty"`
	// Form is the source of a thread dump: "android", "xcrash".
	Form string `json:"form,omitempty"`
	// Cut is set where a thread dump is truncated.
	Cut bool `json:"cut,omitempty"`
	// ProcessUnknown is set where a dump does not show which process did not respond: ANRs are
	// then threads that wait for each other, and MainThreads the chains of waits that begin at
	// main threads. ByPlace is set where it is derived only from the place of the process in the file.
	ProcessUnknown bool      `json:"untold,omitempty"`
	ByPlace        bool      `json:"by_place,omitempty"`
	MainThreads    []run.ANR `json:"main_threads,omitempty"`
	// Frames and ANRs are as in a record of a run.
	Frames *run.Frames `json:"frames,omitempty"`
	ANRs   []run.ANR   `json:"anrs,omitempty"`
	// Methods are the calls of a method trace, as in a record of a run.
	Methods *run.MethodTraces `json:"method_traces,omitempty"`
	// Chart is the longest of the main thread's pieces of work, call by call; nil where it is unknown.
	Chart *CallChart `json:"method_chart,omitempty"`
	// Activity is what the app's process did in the trace as a whole; nil where it is unknown.
	Activity *Activity `json:"activity,omitempty"`
	// Tasks are the asynchronous tasks, as in a record of a run.
	Tasks  *run.Tasks       `json:"tasks,omitempty"`
	Causes []diagnose.Cause `json:"causes"`
	// CausesTotal counts the causes where the list is cut; 0 where it is complete.
	CausesTotal int           `json:"causes_total,omitempty"`
	Warnings    []run.Warning `json:"warnings"`
}

// OfDiagnosis returns a diagnosis to be saved.
func OfDiagnosis(d Diagnosis) Diagnosis {
	d.Format = DiagnosisFormat
	d.Causes, d.CausesTotal = diagnose.Foremost(d.Causes, 0)
	fill(&d.Causes)
	fill(&d.Warnings)
	return d
}

// CallChart is a piece of work of a thread, call by call.
type CallChart struct {
	Thread string        `json:"thread"`
	AtMS   float64       `json:"at_ms"` // as of the chain of the same piece
	TookMS float64       `json:"took_ms"`
	Calls  []ChartedCall `json:"calls"` // by when they began, each after its caller
	// LeftOut is how many more calls there were, all of them shorter.
	LeftOut int `json:"left_out,omitempty"`
}

// ChartedCall is a call of a CallChart.
type ChartedCall struct {
	Name   string  `json:"name"`
	Depth  int     `json:"depth"`   // 0 of the outermost
	FromMS float64 `json:"from_ms"` // from the beginning of the piece
	TookMS float64 `json:"took_ms"`
}

// Activity is what a process did in a trace as a whole.
type Activity struct {
	Process string           `json:"process"`
	Threads []ThreadActivity `json:"threads"`
	Start   []StartPart      `json:"start,omitempty"`
}

// ThreadActivity is how long a thread was in each state, in milliseconds.
type ThreadActivity struct {
	Name              string  `json:"name"`
	TID               int32   `json:"tid"`
	RunningMS         float64 `json:"running_ms"`
	RunnableMS        float64 `json:"runnable_ms"`
	SleepingMS        float64 `json:"sleeping_ms"`
	UninterruptibleMS float64 `json:"uninterruptible_ms"`
}

// StartPart is a part of the app's start; AtMS counts from the start's beginning.
type StartPart struct {
	Name   string  `json:"name"`
	AtMS   float64 `json:"at_ms"`
	TookMS float64 `json:"took_ms"`
}
