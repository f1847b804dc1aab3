package saved

import (
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// DiagnosisFormat is the format and version of what apkgate diagnose prints as JSON
// (docs/format/diagnosis.md).
const DiagnosisFormat = "apkgate.diagnosis/1"

// Diagnosis is what one recording tells of why an app was slow.
type Diagnosis struct {
	Format string `json:"format"`
	// File is the recording's name, Kind what it was read as: "perfetto".
	File    string `json:"file"`
	Kind    string `json:"kind"`
	Package string `json:"package,omitempty"`
	// Form is what wrote a dump of threads: "android", "xcrash".
	Form string `json:"form,omitempty"`
	// Cut says that a dump of threads is cut off.
	Cut bool `json:"cut,omitempty"`
	// Untold says that a dump does not tell which process did not respond: ANRs are then
	// threads that wait for each other, and MainThreads the chains of waiting that begin at
	// main threads. ByPlace says that it is told by the place of the process in the file alone.
	Untold      bool      `json:"untold,omitempty"`
	ByPlace     bool      `json:"by_place,omitempty"`
	MainThreads []run.ANR `json:"main_threads,omitempty"`
	// Frames and ANRs are as a record of a run has them.
	Frames *run.Frames `json:"frames,omitempty"`
	ANRs   []run.ANR   `json:"anrs,omitempty"`
	// Methods are the calls of a method trace, as a record of a run has them.
	Methods *run.MethodTraces `json:"method_traces,omitempty"`
	Causes  []diagnose.Cause  `json:"causes"`
	// CausesTotal counts the causes where the list is cut; 0 where it is whole.
	CausesTotal int           `json:"causes_total,omitempty"`
	Warnings    []run.Warning `json:"warnings"`
}

// OfDiagnosis is a diagnosis to be saved.
func OfDiagnosis(d Diagnosis) Diagnosis {
	d.Format = DiagnosisFormat
	d.Causes, d.CausesTotal = diagnose.Foremost(d.Causes, 0)
	fill(&d.Causes)
	fill(&d.Warnings)
	return d
}
