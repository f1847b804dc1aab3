package parquetexport_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	format "github.com/parquet-go/parquet-go"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/parquetexport"
)

func entry(id string, frames ...float64) runstore.Entry {
	e := runstore.Entry{
		Run: run.Run{
			Format: run.Format, ID: id, Started: time.Date(2026, 11, 20, 23, 0, 0, 1500, time.FixedZone("", 3600)),
			App:      run.App{Package: "org.example.mail", Version: "5.1", Build: "release"},
			Source:   run.Source{Repository: "example/mail", Commit: "c0ffee", Ref: "main"},
			Scenario: "open", Session: "night", Context: map[string]string{"sdk": "16", "model": "Pixel"}, Status: run.Complete,
			Judged: &run.Judged{Outcome: "pass"},
		},
		Mark: runstore.Mark{State: runstore.Accepted},
	}
	for _, f := range frames {
		e.Run.Iterations = append(e.Run.Iterations, run.Iteration{
			Metrics: map[string]float64{"frames.count": f},
			Events:  []run.Bucket{{Name: "E1", Metrics: map[string]float64{"frames.duration_ms": 8}}},
		})
	}
	return e
}

func entries(list ...runstore.Entry) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Each number is a row that identifies itself.
func TestRows(t *testing.T) {
	var file bytes.Buffer
	later := entry("b", 50)
	later.Run.Judged, later.Mark, later.Retired = nil, runstore.Mark{}, true
	n, err := parquetexport.Write(&file, entries(entry("a", 60, 62, 90), later))
	if err != nil || n != 4 {
		t.Fatalf("%d rows, %v, want two of each run", n, err)
	}
	got, err := format.Read[parquetexport.Row](bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	frames := parquetexport.Row{
		Run: "a", Started: time.Date(2026, 11, 20, 22, 0, 0, 1000, time.UTC), // whole microseconds
		Package: "org.example.mail", Version: "5.1", Build: "release", Scenario: "open", Session: "night",
		Repository: "example/mail", Commit: "c0ffee", Ref: "main", Status: "complete", State: "accepted", Outcome: "pass",
		Context: map[string]string{"sdk": "16", "model": "Pixel"}, Metric: "frames.count", Unit: "frames", Median: 62, Mean: 212.0 / 3,
		// For 60, 62 and 90 the means of pairs are 60, 61, 62, 75, 76 and 90.
		Repetitions: 3, Centre: 68.5, Spread: got[0].Spread,
	}
	duration := frames
	duration.Event, duration.Metric, duration.Unit = "E1", "frames.duration_ms", "ms"
	duration.Median, duration.Mean, duration.Log, duration.Centre, duration.Spread = 8, 8, true, 2.0794415416798357, 0 // the logarithm of 8
	want := []parquetexport.Row{frames, duration}
	for _, r := range want {
		r.Run, r.State, r.Outcome, r.Retired, r.Repetitions, r.Spread = "b", "unmarked", "", true, 1, 0
		if r.Metric == "frames.count" {
			r.Median, r.Mean, r.Centre = 50, 50, 50
		}
		want = append(want, r)
	}
	for i := range got {
		got[i].Started = got[i].Started.UTC()
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the rows are (-want +got):\n%s", d)
	}
	if got[0].Spread <= 0 {
		t.Errorf("three repetitions lie %v apart", got[0].Spread)
	}
	f, err := format.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if version, _ := f.Lookup("format"); version != "apkgate.numbers/1" {
		t.Errorf("the file's format is %q", version)
	}
}

// A history without runs is a valid file without rows.
func TestNothing(t *testing.T) {
	var file bytes.Buffer
	if n, err := parquetexport.Write(&file, entries()); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	if got, err := format.Read[parquetexport.Row](bytes.NewReader(file.Bytes()), int64(file.Len())); err != nil || len(got) != 0 {
		t.Errorf("%d rows, %v", len(got), err)
	}
}

// An error leaves no file that looks complete.
func TestAnErrorEndsIt(t *testing.T) {
	broken := errors.New("broken")
	var file bytes.Buffer
	_, err := parquetexport.Write(&file, func(yield func(runstore.Entry, error) bool) {
		_ = yield(entry("a", 60), nil) && yield(runstore.Entry{}, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
	if _, err := format.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len())); err == nil {
		t.Error("the file opens as if it were whole")
	}
}

// Only a group of rows is in memory, however many runs there are.
func TestRowsAreWrittenAsTheyCome(t *testing.T) {
	var file bytes.Buffer
	beforeTheLast := 0
	const n = 30_000
	rows, err := parquetexport.Write(&file, func(yield func(runstore.Entry, error) bool) {
		for i := range n {
			beforeTheLast = file.Len()
			if !yield(entry(fmt.Sprint("run-", i), float64(i)), nil) {
				return
			}
		}
	})
	if err != nil || rows != 2*n {
		t.Fatal(rows, err)
	}
	if beforeTheLast < file.Len()/2 {
		t.Errorf("of %d bytes %d are written before the last run", file.Len(), beforeTheLast)
	}
}
