// Package run is the record of one run: one session of one scenario on one device, with the raw
// buckets of every repetition, and its versioned codec.
//
// Iterations are kept, summaries are derived. The gate compares a Summary, which is computed from
// the record and can be computed again in another way; the record itself never changes and is
// identified by its content.
//
// The package has more files than others: each section of the record has one.
package run

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
)

// Format is the format and version of the records that this package writes
// (docs/format/run.md).
const Format = "apkgate.run/1"

// Status says whether a run is complete.
type Status string

// The states of a run. Only a complete run can be a reference.
const (
	Complete Status = "complete" // every repetition was measured
	Partial  Status = "partial"  // some repetitions are missing or unusable
	Failed   Status = "failed"   // nothing usable was measured
)

// Statuses returns the values of a record's status.
func Statuses() []Status { return []Status{Complete, Partial, Failed} }

// Run is one run. The zero ID means "not yet named": see Digest.
type Run struct {
	Format   string            `json:"format"`
	ID       string            `json:"id,omitempty"`
	Started  time.Time         `json:"started,omitzero"`
	App      App               `json:"app"`
	Source   Source            `json:"source,omitzero"`
	Scenario string            `json:"scenario"`
	Session  string            `json:"session,omitempty"`
	Context  map[string]string `json:"context"`
	// Turn is how many repetitions were measured in a row before it was another build's turn: that
	// many iterations are one round. 0 is 1.
	Turn int `json:"turn,omitempty"`
	// Explains marks a run that was recorded after a verdict, to explain it. It is not judged,
	// compared or added to a history.
	Explains bool `json:"explains,omitempty"`
	// Declared are metrics that the built-in catalogue lacks.
	Declared   []Declared  `json:"declared,omitempty"`
	Status     Status      `json:"status"`
	Warnings   []Warning   `json:"warnings"`
	Iterations []Iteration `json:"iterations"`
	// Energy is nil where none was measured.
	Energy *Energy `json:"energy,omitempty"`
	// Frames, ANRs, Tasks and MethodTraces explain what Iterations count: where the time of frames
	// went, what did not respond and why, what waited in which queue, and how long methods took
	// where each call was traced. They are nil where that was not recorded, and are in no summary.
	Frames       *Frames       `json:"frames,omitempty"`
	ANRs         []ANR         `json:"anrs,omitempty"`
	Tasks        *Tasks        `json:"tasks,omitempty"`
	MethodTraces *MethodTraces `json:"method_traces,omitempty"`
	// Evidence names the files that were kept with the run.
	Evidence []Evidence `json:"evidence,omitempty"`
	// Judged is the latest outcome of the run, from a history; nil for none. It is not part of the
	// record: see Recorded.
	Judged *Judged `json:"judged,omitempty"`
}

// Listed returns the run as in a list of runs: without its declared metrics, merged commits,
// warnings, iterations and sections.
func (r Run) Listed() Run {
	return Run{
		Format: r.Format, ID: r.ID, Started: r.Started, App: r.App, Source: r.Source.Listed(),
		Scenario: r.Scenario, Session: r.Session, Context: r.Context, Status: r.Status, Judged: r.Judged,
	}
}

// Why returns why the run is not complete: its last warning. It is "" for a complete run, and where
// there is no warning.
func (r Run) Why() string {
	if r.Status == Complete || len(r.Warnings) == 0 {
		return ""
	}
	return r.Warnings[len(r.Warnings)-1].String()
}

// Declared is a metric that a run declares, so that every reader of the run knows its unit, which
// direction is better ("higher", "lower" or "neutral"), which metric it details, and whether its
// noise is multiplicative ("log").
type Declared struct {
	Name   string `json:"name"`
	Unit   string `json:"unit,omitempty"`
	Better string `json:"better"`
	Of     string `json:"of,omitempty"`
	Scale  Scale  `json:"scale,omitempty"`
}

// Scale is the scale on which a metric's values differ evenly.
type Scale string

// The scales of a declared metric.
const (
	Linear Scale = ""
	Log    Scale = "log"
)

// Catalogue returns base with the metrics that the runs declare and base lacks. Where two runs
// disagree the later one counts.
func Catalogue(base *metric.Catalogue, runs ...Run) (*metric.Catalogue, error) {
	var more []metric.Metric
	for _, r := range runs {
		for _, d := range r.Declared {
			m, known := base.Lookup(d.Name)
			if known {
				continue
			}
			direction, err := metric.ParseDirection(d.Better)
			if err != nil {
				return nil, err
			}
			m.Unit, m.Direction, m.Of, m.Log = d.Unit, direction, d.Of, d.Scale == Log
			more = append(more, m)
		}
	}
	if len(more) == 0 {
		return base, nil
	}
	return base.With(more...)
}

// App identifies the measured app.
type App struct {
	Package string `json:"package"`
	Version string `json:"version,omitempty"`
	Build   string `json:"build,omitempty"`
}

// Source is where the app came from.
type Source struct {
	Repository string `json:"repository,omitempty"`
	Commit     string `json:"commit,omitempty"`
	Ref        string `json:"ref,omitempty"`
	// For a build of a pull request: Head is the commit that its author pushed, Base the one that
	// it branched from, and Merge the commit that merges the two, where a build server built that.
	// Commit is the one that the run counts for.
	Head  string `json:"head,omitempty"`
	Base  string `json:"base,omitempty"`
	Merge string `json:"merge,omitempty"`
}

// Listed returns the source as in a list of runs.
func (s Source) Listed() Source {
	return Source{Repository: s.Repository, Commit: s.Commit, Ref: s.Ref}
}

// Iteration is one repetition: totals, and a bucket for each UI event in their order. The first
// bucket, before any event, is Start.
type Iteration struct {
	Metrics map[string]float64 `json:"metrics,omitempty"`
	Events  []Bucket           `json:"events,omitempty"`
	// Frames are the frame times in milliseconds in the order in which they were rendered, kept
	// where a figure needs them.
	Frames []Frame `json:"frames,omitempty"`
	// FramesSeen is the share of frames.count that was recorded individually, where that is not
	// all: the durations and the buckets are of those. 0: all were.
	FramesSeen float64 `json:"frames_seen,omitempty"`
}

// Start names the bucket before the first UI event.
const Start = "start"

// Bucket has the measurements after one UI event and before the next.
type Bucket struct {
	Name    string             `json:"name"`
	Metrics map[string]float64 `json:"metrics"`
}

// Frame is one rendered frame: its duration, and the index of its bucket in
// Iteration.Events. In JSON it is the pair [duration_ms, bucket].
type Frame struct {
	DurationMS float64
	Bucket     int
}

// MarshalJSON encodes the pair [duration_ms, bucket].
func (f Frame) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]float64{f.DurationMS, float64(f.Bucket)})
}

// UnmarshalJSON decodes the pair [duration_ms, bucket].
func (f *Frame) UnmarshalJSON(b []byte) error {
	pair := make([]float64, 0, 3)
	if err := json.Unmarshal(b, &pair); err != nil {
		return fmt.Errorf("a frame is a pair [duration_ms, bucket]: %w", err)
	}
	if len(pair) != 2 || pair[1] != math.Trunc(pair[1]) || math.Abs(pair[1]) > MaxEvents {
		return fmt.Errorf("a frame is %s, want a pair [duration_ms, bucket] with the place of a bucket", prose.Short(string(b)))
	}
	f.DurationMS, f.Bucket = pair[0], int(pair[1])
	return nil
}

// Warning is a doubt that travels with the data: what could not be read or measured, and on which
// line of the source (0: no line).
type Warning struct {
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// String returns the warning for people.
func (w Warning) String() string {
	if w.Line > 0 {
		return fmt.Sprintf("line %d: %s", w.Line, w.Text)
	}
	return w.Text
}

// UnmarshalJSON decodes {"line":12,"text":"…"} or a plain string.
func (w *Warning) UnmarshalJSON(b []byte) error {
	if strings.HasPrefix(strings.TrimSpace(string(b)), `"`) {
		*w = Warning{}
		return json.Unmarshal(b, &w.Text)
	}
	type plain Warning
	return json.Unmarshal(b, (*plain)(w))
}
