package run

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/metric"
)

// example is the record of DESIGN's "Formats", as documented in docs/format/run.md.
const example = `{"format":"apkgate.run/1", "id":"T1", "started":"2026-11-20T22:00:00Z",
 "app":{"package":"com.fsck.k9","version":"5.006","build":"release"},
 "source":{"repository":"o/n","commit":"c0ffee","ref":"refs/heads/main"},
 "scenario":"open-message", "session":"s1",
 "context":{"sdk":"4.1.1","api":"16","network":"wifi"},
 "status":"complete", "warnings":["one", {"line":12,"text":"two"}],
 "iterations":[{"metrics":{"frames.count":148,"frames.smooth_ratio":0.95},
                "events":[{"name":"start","metrics":{"frames.count":48}},
                          {"name":"E1","metrics":{"frames.count":48}}],
                "frames":[[8.5,0],[16.9,1]]}]}`

func decode(t *testing.T, text string) Run {
	t.Helper()
	r, err := Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDecodeReadsEverything(t *testing.T) {
	want := Run{
		Format: Format, ID: "T1", Started: time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC),
		App:      App{"com.fsck.k9", "5.006", "release"},
		Source:   Source{"o/n", "c0ffee", "refs/heads/main"},
		Scenario: "open-message", Session: "s1",
		Context: map[string]string{"sdk": "4.1.1", "api": "16", "network": "wifi"},
		Status:  Complete, Warnings: []Warning{{Text: "one"}, {Line: 12, Text: "two"}},
		Iterations: []Iteration{{
			Metrics: map[string]float64{"frames.count": 148, "frames.smooth_ratio": 0.95},
			Events:  []Bucket{{"start", map[string]float64{"frames.count": 48}}, {"E1", map[string]float64{"frames.count": 48}}},
			Frames:  []Frame{{8.5, 0}, {16.9, 1}},
		}},
	}
	if diff := cmp.Diff(want, decode(t, example)); diff != "" {
		t.Error(diff)
	}
}

func TestEncodeThenDecodeChangesNothing(t *testing.T) {
	r := decode(t, example)
	data, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(data, []byte("\n")) != 1 {
		t.Errorf("a record has to be one line of a JSON Lines file: %q", data)
	}
	if diff := cmp.Diff(r, decode(t, string(data))); diff != "" {
		t.Error(diff)
	}
}

func TestTheDigestIsOfTheContent(t *testing.T) {
	r := decode(t, example)
	a, _ := r.Digest()
	r.ID = "another"
	b, _ := r.Digest()
	r.Iterations[0].Metrics["frames.count"]++
	c, _ := r.Digest()
	if a != b || a == c || len(a) != 64 {
		t.Errorf("digests %s, %s (other id), %s (other content)", a, b, c)
	}
	if named, _ := r.Named(); named.ID != "another" {
		t.Errorf("a run keeps the id that it has, got %q", named.ID)
	}
	r.ID = ""
	if named, _ := r.Named(); named.ID != c[:16] {
		t.Errorf("id %q, want the beginning of the digest %s", named.ID, c)
	}
}

func TestWrongRecords(t *testing.T) {
	for name, c := range map[string][2]string{
		"empty":           {``, "ends too early"},
		"truncated":       {example[:200], "ends too early"},
		"not JSON":        {`frames: 3`, "byte 2"},
		"an array":        {`[1]`, "array"},
		"two records":     {example + example, "after the end"},
		"another format":  {strings.Replace(example, "run/1", "run/2", 1), `"apkgate.run/2", want "apkgate.run/1"`},
		"a verdict":       {`{"format":"apkgate.verdict/1","energy":[]}`, `"apkgate.verdict/1", want "apkgate.run/1"`},
		"no package":      {strings.Replace(example, "com.fsck.k9", "", 1), "app.package"},
		"no scenario":     {strings.Replace(example, "open-message", "", 1), "scenario"},
		"unknown status":  {strings.Replace(example, "complete", "fine", 1), `"fine", want one of`},
		"text for number": {strings.Replace(example, "148", `"many"`, 1), "want a number"},
		"negative count":  {strings.Replace(example, "148", "-5", 1), "is -5, want 0 or more"},
		"ratio of 7":      {strings.Replace(example, "0.95", "7", 1), "want a ratio from 0 to 1"},
		"huge":            {strings.Replace(example, "148", "1e101", 1), "at most 1e+100"},
		"infinite":        {strings.Replace(example, "148", "1e999", 1), "1e999"},
		"nameless event":  {strings.Replace(example, `"E1"`, `""`, 1), "iterations[0].events[1].name"},
		"bucketless":      {strings.Replace(example, "[16.9,1]", "[16.9,7]", 1), "frames[1]"},
		"a bucket on":     {strings.Replace(example, "[16.9,1]", "[16.9,2]", 1), "frames[1]"},
		"null total":      {strings.Replace(example, "148", "null", 1), `iterations[0].metrics["frames.count"] is null`},
		"null in bucket":  {strings.Replace(example, `"E1","metrics":{"frames.count":48}`, `"E1","metrics":{"frames.count":null}`, 1), `iterations[0].events[1].metrics["frames.count"] is null`},
		"null frame":      {strings.Replace(example, "[16.9,1]", "[null,1]", 1), "frames[1] has a null"},
		"negative frame":  {strings.Replace(example, "[16.9,1]", "[-1,1]", 1), "frames[1]"},
		"nothing in it":   {strings.Split(example, `"iterations"`)[0] + `"iterations":[]}`, "iterations is empty"},
		"deep":            {`{"context":` + strings.Repeat("[", 100000), "nested deeper than 12"},
		"long text":       {strings.Replace(example, "open-message", strings.Repeat("x", 5000), 1), "at most 4096"},
		"wrong direction": {strings.Replace(example, `"status"`, `"declared":[{"name":"a","better":"more"}],"status"`, 1), "higher, lower, neutral"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode([]byte(c[0]))
			if err == nil || !strings.Contains(err.Error(), c[1]) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, c[1])
			}
		})
	}
}

func TestSummaries(t *testing.T) {
	r := Run{Iterations: []Iteration{
		{Metrics: map[string]float64{"frames.count": 100, "anr.count": 0}, Events: []Bucket{{"tap", map[string]float64{"frames.count": 10}}, {"tap", map[string]float64{"frames.count": 30}}}},
		{Metrics: map[string]float64{"frames.count": 400, "anr.count": 0}, Events: []Bucket{{"tap", map[string]float64{"frames.count": 20}}}},
		{Metrics: map[string]float64{"frames.count": 130, "anr.count": 3}, Events: []Bucket{{"tap", map[string]float64{"frames.count": 60}}}},
	}}
	for centre, want := range map[Centre]map[Cell]float64{
		Median: {{"", "frames.count"}: 130, {"", "anr.count"}: 1, {"tap", "frames.count"}: 20, {"tap#2", "frames.count"}: 30},
		Mean:   {{"", "frames.count"}: 210, {"", "anr.count"}: 1, {"tap", "frames.count"}: 30, {"tap#2", "frames.count"}: 30},
	} {
		if got := Summarize(r, centre, metric.Default()).Cells.Map(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", centre, got, want)
		}
	}
	if got, want := fmt.Sprint(EventOrder(r)), "[tap tap#2]"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
}

func TestTotalsAreDerivedFromBuckets(t *testing.T) {
	bucket := func(n, janky, ms float64) Bucket {
		return Bucket{fmt.Sprint(n), map[string]float64{"frames.count": n, "frames.janky": janky, "frames.duration_ms": ms}}
	}
	r := Run{Iterations: []Iteration{{Events: []Bucket{bucket(100, 10, 8), bucket(300, 10, 12)}}}}
	got := Summarize(r, Median, metric.Default()).Cells.Map()
	for cell, want := range map[Cell]float64{
		{"", "frames.count"}:           400,
		{"", "frames.janky"}:           20,
		{"", "frames.smooth_ratio"}:    1 - 20.0/400,
		{"", "frames.duration_ms"}:     (100*8 + 300*12) / 400.0,
		{"100", "frames.smooth_ratio"}: 0.9,
	} {
		if math.Abs(got[cell]-want) > 1e-12 {
			t.Errorf("%v = %v, want %v", cell, got[cell], want)
		}
	}
}

func TestARunBringsItsMetrics(t *testing.T) {
	r := Run{Declared: []Declared{{Name: "search.ms", Unit: "ms", Better: "lower", Scale: Log}, {Name: "frames.count", Better: "lower"}}}
	c, err := Catalogue(metric.Default(), r)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := c.Lookup("search.ms"); !ok || m.Unit != "ms" || !m.Log || m.Direction != metric.LowerIsBetter {
		t.Errorf("%+v, want ms and lower is better", m)
	}
	if m, _ := c.Lookup("frames.count"); m.Direction != metric.HigherIsBetter {
		t.Error("a run can't change a metric of the catalogue")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte(`{"format":"apkgate.run/1","warnings":[3]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Encode(r)
		if err != nil {
			t.Fatalf("decoded but not encoded: %v", err)
		}
		if _, err := Decode(again); err != nil {
			t.Fatalf("encoded but not decoded: %v", err)
		}
		Summarize(r, Median, metric.Default())
	})
}
