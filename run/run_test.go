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
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apkgate/apkgate/metric"
)

// example is the record of DESIGN's "Formats", as documented in docs/format/run.md.
const example = `{"format":"apkgate.run/1", "id":"T1", "started":"2026-11-20T22:00:00Z",
 "app":{"package":"com.fsck.k9","version":"5.006","build":"release"},
 "source":{"repository":"o/n","commit":"c0ffee","ref":"refs/heads/main","head":"c0ffee","base":"decaf","merge":"facade"},
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
		Source:   Source{Repository: "o/n", Commit: "c0ffee", Ref: "refs/heads/main", Head: "c0ffee", Base: "decaf", Merge: "facade"},
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

func TestEncodeDecodeRoundTrip(t *testing.T) {
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

func TestDigestOfContent(t *testing.T) {
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

// One instant is one run, in whichever time zone it is given.
func TestDigestIgnoresTimeZone(t *testing.T) {
	r := decode(t, example)
	a, _ := r.Digest()
	r.Started = r.Started.In(time.FixedZone("", 2*3600))
	if b, _ := r.Digest(); a != b {
		t.Errorf("the digest is %s in UTC and %s two hours east", a, b)
	}
	data, err := Encode(r)
	if err != nil || !bytes.Contains(data, []byte(`"started":"2026-11-20T22:00:00Z"`)) {
		t.Errorf("%v: %s", err, data)
	}
}

// An encoded record can be decoded: a record beyond the limit is rejected at once.
func TestEncodeRejectsWhatDecodeWould(t *testing.T) {
	r := decode(t, example)
	text := strings.Repeat("x", MaxBytes/16)
	for range 16 {
		r.Warnings = append(r.Warnings, Warning{Text: text})
	}
	if _, err := Encode(r); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("a record beyond the limit: %v", err)
	}
	r.Warnings = r.Warnings[:15]
	data, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(data); err != nil {
		t.Error(err)
	}
}

// A record with many errors is always rejected for the same one.
func TestValidateIsDeterministic(t *testing.T) {
	long := strings.Repeat("x", MaxText+1)
	texts, numbers, properties := decode(t, example), decode(t, example), decode(t, example)
	texts.Session, texts.App.Version, texts.Source.Commit = long, long, long
	for i := range 20 {
		numbers.Iterations[0].Metrics[fmt.Sprint("own.", i)] = math.Inf(1)
		properties.Context[fmt.Sprint("p", i)] = long
	}
	for name, c := range map[string]struct {
		r    Run
		want string
	}{"texts": {texts, "session has"}, "numbers": {numbers, `"own.0"`}, "properties": {properties, `"p0"`}} {
		for range 20 {
			if err := c.r.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%s: %v, want it to tell of %s", name, err, c.want)
			}
		}
	}
}

// Depth counts nesting, not neighbours.
func TestDepthCountsNesting(t *testing.T) {
	many := strings.Repeat(`{"name":"tap","metrics":{}},`, 100)
	if r := decode(t, strings.Replace(example, `"events":[`, `"events":[`+many, 1)); len(r.Iterations[0].Events) != 102 {
		t.Errorf("%d events, want 102", len(r.Iterations[0].Events))
	}
	if r := decode(t, strings.Replace(example, `"status"`, `"energy":null,"status"`, 1)); r.Energy != nil {
		t.Errorf("energy %+v, want none", r.Energy)
	}
}

func TestWarningLine(t *testing.T) {
	for want, w := range map[string]Warning{"line 12: two": {12, "two"}, "one": {Text: "one"}} {
		if got := w.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A frame that met its deadline was done before it.
func TestOverrunMayBeBelowZero(t *testing.T) {
	text := strings.Replace(example, `"frames.count":148`, `"frames.count":148,"frames.overrun_ms.p95":-6.5`, 1)
	r := decode(t, text)
	if v, _ := Summarize(r, Median, metric.Default()).Cells.Get(Cell{Metric: "frames.overrun_ms.p95"}); v != -6.5 {
		t.Errorf("%g ms, want -6.5", v)
	}
}

func TestInvalidRecords(t *testing.T) {
	for name, c := range map[string][2]string{
		"empty":            {``, "ends too early"},
		"truncated":        {example[:200], "ends too early"},
		"not JSON":         {`frames: 3`, "byte 2"},
		"an array":         {`[1]`, "array"},
		"two records":      {example + example, "after the end"},
		"another format":   {strings.Replace(example, "run/1", "run/2", 1), `"apkgate.run/2", want "apkgate.run/1"`},
		"a verdict":        {`{"format":"apkgate.verdict/1","energy":[]}`, `"apkgate.verdict/1", want "apkgate.run/1"`},
		"no package":       {strings.Replace(example, "com.fsck.k9", "", 1), "app.package"},
		"no scenario":      {strings.Replace(example, "open-message", "", 1), "scenario"},
		"unknown status":   {strings.Replace(example, "complete", "fine", 1), `"fine", want one of`},
		"text for number":  {strings.Replace(example, "148", `"many"`, 1), "want a number"},
		"negative count":   {strings.Replace(example, "148", "-5", 1), "is -5, want 0 or more"},
		"ratio of 7":       {strings.Replace(example, "0.95", "7", 1), "want a ratio from 0 to 1"},
		"huge":             {strings.Replace(example, "148", "1e101", 1), "at most 1e+100"},
		"infinite":         {strings.Replace(example, "148", "1e999", 1), "1e999"},
		"nameless event":   {strings.Replace(example, `"E1"`, `""`, 1), "iterations[0].events[1].name"},
		"bucketless":       {strings.Replace(example, "[16.9,1]", "[16.9,7]", 1), "frames[1]"},
		"a bucket on":      {strings.Replace(example, "[16.9,1]", "[16.9,2]", 1), "frames[1]"},
		"null total":       {strings.Replace(example, "148", "null", 1), `iterations[0].metrics["frames.count"] is null`},
		"null in bucket":   {strings.Replace(example, `"E1","metrics":{"frames.count":48}`, `"E1","metrics":{"frames.count":null}`, 1), `iterations[0].events[1].metrics["frames.count"] is null`},
		"a list":           {`[]`, "the record is a JSON array, want an object"},
		"null iteration":   {strings.Replace(example, `"iterations":[`, `"iterations":[null,`, 1), "iterations[0] is null"},
		"null property":    {strings.Replace(example, `"context":{`, `"context":{"cpu":null,`, 1), `context property "cpu" is null`},
		"half a frame":     {strings.Replace(example, "[16.9,1]", "[16.9]", 1), "a frame is [16.9], want a pair"},
		"half a bucket":    {strings.Replace(example, "[16.9,1]", "[16.9,0.9]", 1), "a frame is [16.9,0.9], want a pair"},
		"three of a pair":  {strings.Replace(example, "[16.9,1]", "[16.9,0,7]", 1), "a frame is [16.9,0,7], want a pair"},
		"a far year":       {strings.Replace(example, `"started":"2026`, `"started":"9999-12-31T23:00:00-08:00","x":"2026`, 1), "year 10000"},
		"null frame":       {strings.Replace(example, "[16.9,1]", "[null,1]", 1), "frames[1] has a null"},
		"negative frame":   {strings.Replace(example, "[16.9,1]", "[-1,1]", 1), "frames[1]"},
		"nothing in it":    {strings.Split(example, `"iterations"`)[0] + `"iterations":[]}`, "iterations is empty"},
		"name twice":       {`{"format":"apkgate.run/1","id":"a","id":"b"}`, `byte 35: "id" is there twice`},
		"escaped":          {`{"context":{"sdk":"34", "s\u0064k" :"15"}}`, `is there twice, want each name once`},
		"closed too often": {`}}}}{"id":1,"id":2}`, "invalid character '}'"},
		"deep":             {`{"context":` + strings.Repeat("[", 100000), "nested deeper than 12"},
		"long text":        {strings.Replace(example, "open-message", strings.Repeat("x", 5000), 1), "at most 4096"},
		"wrong scale":      {strings.Replace(example, `"status"`, `"declared":[{"name":"a","better":"lower","scale":"square"}],"status"`, 1), `scale is "square", want "log" or none`},
		"long unit":        {strings.Replace(example, `"status"`, `"declared":[{"name":"a","better":"lower","unit":"`+strings.Repeat("x", 5000)+`"}],"status"`, 1), "unit or of has 5000 bytes"},
		"nameless metric":  {strings.Replace(example, `"frames.smooth_ratio"`, `""`, 1), "a name of 0 bytes, want 1 to 4096"},
		"long metric":      {strings.Replace(example, `"frames.smooth_ratio"`, `"`+strings.Repeat("x", 5000)+`"`, 1), "a name of 5000 bytes"},
		"null joules":      {strings.Replace(example, `"status"`, `"energy":{"source":"rails","update_ms":null},"status"`, 1), "energy has a null"},
		"wrong direction":  {strings.Replace(example, `"status"`, `"declared":[{"name":"a","better":"more"}],"status"`, 1), "higher, lower, neutral"},
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

// Totals that an iteration leaves out are derived one by one, and only where its buckets cover them
// completely.
func TestTotalsLeftOut(t *testing.T) {
	type ms = map[string]float64
	two := func(a, b ms) []Bucket { return []Bucket{{"start", a}, {"tap", b}} }
	for name, c := range map[string]struct {
		own    ms
		events []Bucket
		want   ms
	}{
		"joules of its own, frames of its buckets": {ms{"energy.total_j": 5}, two(ms{"frames.count": 100, "energy.total_j": 1}, ms{"frames.count": 50, "energy.total_j": 1}), ms{"energy.total_j": 5, "frames.count": 150}},
		"jank of a part of the frames":             {nil, two(ms{"frames.count": 100, "frames.janky": 50}, ms{"frames.count": 300}), ms{"frames.count": 400}},
		"jank where there were no frames":          {nil, two(ms{"frames.count": 100, "frames.janky": 50}, ms{"frames.count": 0}), ms{"frames.count": 100, "frames.janky": 50, "frames.smooth_ratio": 0.5}},
		"jank as a ratio":                          {nil, two(ms{"frames.count": 100, "frames.smooth_ratio": 0.9}, ms{"frames.count": 300, "frames.janky": 30}), ms{"frames.count": 400, "frames.janky": 40, "frames.smooth_ratio": 0.9}},
		"times of a part of the frames":            {nil, two(ms{"frames.count": 100, "frames.duration_ms": 8}, ms{"frames.count": 300}), ms{"frames.count": 400}},
		"frozen frames without a count":            {nil, two(ms{"frames.frozen": 1}, ms{"frames.frozen": 2}), ms{"frames.frozen": 3}},
		"it counts frames outside of the buckets":  {ms{"frames.count": 500}, two(ms{"frames.count": 100, "frames.janky": 50}, ms{"frames.count": 300, "frames.janky": 0}), ms{"frames.count": 500}},
		"it counts the frames of its buckets":      {ms{"frames.count": 400}, two(ms{"frames.count": 100, "frames.janky": 40}, ms{"frames.count": 300, "frames.janky": 0}), ms{"frames.count": 400, "frames.janky": 40, "frames.smooth_ratio": 0.9}},
		"what adds up, and what does not":          {nil, two(ms{"cpu.time_ms": 7, "wakelock.time_ms": 100, "network.rx_bytes": 10, "memory.pss_kb": 9, "frames.duration_ms.p90": 5}, ms{"cpu.time_ms": 3, "wakelock.time_ms": 50, "network.rx_bytes": 1, "memory.pss_kb": 8, "frames.duration_ms.p90": 5}), ms{"cpu.time_ms": 10, "wakelock.time_ms": 150, "network.rx_bytes": 11}},
		"joules of one bucket alone":               {nil, two(ms{"energy.total_j": 7, "cpu.time_ms": 1}, ms{"cpu.time_ms": 2}), ms{"cpu.time_ms": 3}},
		"no frame at all":                          {nil, two(ms{"frames.count": 0, "frames.janky": 0}, ms{"frames.count": 0}), ms{"frames.count": 0}},
		"a ratio beside its counts":                {ms{"frames.count": 100, "frames.janky": 50, "frames.smooth_ratio": 0.7}, nil, ms{"frames.count": 100, "frames.janky": 50, "frames.smooth_ratio": 0.7}},
		"jank without a count":                     {ms{"frames.janky": 50}, nil, ms{"frames.janky": 50}},
		"it lacks some of its buckets":             {ms{Incomplete: 1}, two(ms{"frames.count": 100}, ms{"frames.count": 50}), ms{Incomplete: 1}},
		"an ANR in one bucket alone":               {nil, two(ms{"anr.count": 1, "cpu.time_ms": 1}, ms{"cpu.time_ms": 2}), ms{"anr.count": 1, "cpu.time_ms": 3}},
	} {
		got := ms{}
		for cell, v := range Summarize(Run{Iterations: []Iteration{{Metrics: c.own, Events: c.events}}}, Median, metric.Default()).Cells.All() {
			if cell.Event == "" {
				got[cell.Metric] = v
			}
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A second "tap" and an event that is called "tap#2" are two events.
func TestEventNamesAreDistinct(t *testing.T) {
	var it Iteration
	for i, name := range []string{"tap", "tap", "tap#2", "tap#2", "tap#1", "item #5", "a#", "a#", "#", "tap#2#1"} {
		it.Events = append(it.Events, Bucket{name, map[string]float64{"cpu.time_ms": float64(i)}})
	}
	r := Run{Iterations: []Iteration{it, it}}
	want := []string{"tap", "tap#2", "tap#2#1", "tap#2#2", "tap#1#1", "item #5#1", "a#", "a##2", "#", "tap#2#1#1"}
	if diff := cmp.Diff(want, EventOrder(r)); diff != "" {
		t.Error(diff)
	}
	cells := Summarize(r, Median, metric.Default()).Cells
	for i, name := range want {
		if v, ok := cells.Get(Cell{name, "cpu.time_ms"}); !ok || v != float64(i) {
			t.Errorf("%s has %g, want %d", name, v, i)
		}
	}
}

func TestCatalogueOfDeclaredMetrics(t *testing.T) {
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
	all, err := Encode(fullRun())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(all)
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

func TestWhy(t *testing.T) {
	warnings := []Warning{{Text: "a line could not be read", Line: 7}, {Text: "the device went away"}}
	for name, c := range map[string]struct {
		run  Run
		want string
	}{
		"complete, with doubts": {Run{Status: Complete, Warnings: warnings}, ""},
		"says nothing":          {Run{Status: Failed}, ""},
		"failed":                {Run{Status: Failed, Warnings: warnings}, "the device went away"},
		"partial":               {Run{Status: Partial, Warnings: warnings[:1]}, "line 7: a line could not be read"},
	} {
		if got := c.run.Why(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSpreadOf(t *testing.T) {
	for name, c := range map[string]struct {
		ms   []float64
		n    int
		want Spread
	}{
		"none":              {nil, 5, Spread{}},
		"one":               {[]float64{7.0004}, 5, Spread{Count: 1, MeanMS: 7, QuantilesMS: []float64{7}}},
		"all of them":       {[]float64{9, 1, 2}, 3, Spread{Count: 3, MeanMS: 4, QuantilesMS: []float64{1, 2, 9}}},
		"between the times": {[]float64{10, 0}, 5, Spread{Count: 2, MeanMS: 5, QuantilesMS: []float64{0, 2.5, 5, 7.5, 10}}},
		"fewer":             {[]float64{4, 3, 2, 1, 0}, 3, Spread{Count: 5, MeanMS: 2, QuantilesMS: []float64{0, 2, 4}}},
	} {
		if diff := cmp.Diff(c.want, SpreadOf(c.ms, c.n)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
