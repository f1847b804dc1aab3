//go:build unix

package postgres_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/run"
)

// The view has the number of each event and metric, exactly.
func TestNumbersInSQL(t *testing.T) {
	url := theServerURL(t)
	r := newRun("a", 60)
	r.Source.Commit = "c0ffee"
	r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"frames.count": 62}},
		run.Iteration{Metrics: map[string]float64{"frames.count": 94}})
	bucket := run.Bucket{Name: "E1", Metrics: map[string]float64{}}
	want := map[string][2]float64{"/frames.count": {62, 72}}
	for name, value := range map[string]float64{
		"zero": 0, "tenth": 0.1, "large": 1e100, "least": math.SmallestNonzeroFloat64, "denormal": 1e-310, "small": 1e-300, "negative": -2.5,
	} {
		bucket.Metrics["own."+name] = value
		want["E1/own."+name] = [2]float64{value, value}
	}
	r.Iterations[0].Events = append(r.Iterations[0].Events, bucket)
	s := open(t, url)
	if _, err := s.Add(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	rows, err := connect(t, url).Query(t.Context(), "SELECT event || '/' || metric, median, mean FROM apkgate.summaries WHERE run = 'a' AND package = 'org.example.mail' AND revision = 'c0ffee'")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][2]float64{}
	var name string
	var median, mean float64
	if _, err := pgx.ForEachRow(rows, []any{&name, &median, &mean}, func() error {
		got[name] = [2]float64{median, mean}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the numbers are (-want +got):\n%s", d)
	}
}
