package importer

import (
	"strings"
	"testing"
)

// A name's first value is of the first repetition, its second of the second; names and units may
// have blanks around them.
func TestPairs(t *testing.T) {
	t.Parallel()
	res, err := Read("nightly.txt", []byte("\xef\xbb\xbf# tonight\r\nsearch=31.5ms\r\nqueries = 120 ops/s\n\nsearch=3e1 ms\nqueries=118 ops/s\nsearch=29ms"), Options{Package: "com.example.mail"})
	if err != nil || len(res.Runs) != 1 {
		t.Fatalf("%v, %+v", err, res)
	}
	r := res.Runs[0]
	if r.App.Package != "com.example.mail" || r.Scenario != "nightly" || r.Context[MeasuredBy] != "imported list" || len(r.Iterations) != 3 || len(r.Warnings) != 0 {
		t.Fatalf("%+v", r)
	}
	for i, want := range []map[string]float64{{"search": 31.5, "queries": 120}, {"search": 30, "queries": 118}, {"search": 29}} {
		got := r.Iterations[i].Metrics
		if len(got) != len(want) || got["search"] != want["search"] || got["queries"] != want["queries"] {
			t.Errorf("repetition %d is %v, want %v", i+1, got, want)
		}
	}
	for _, d := range r.Declared {
		if want := map[string]string{"search": "lower", "queries": "higher"}[d.Name]; d.Better != want {
			t.Errorf("%+v, want better: %s", d, want)
		}
	}
}

func TestBadPairs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"search=31\nnothing\n":                             `line 2: "nothing" is not name=value, such as search=31.5ms`,
		"search=31\nsearch=fast\n":                         "line 2: ",
		"search=31\nsearch=1.2.3\n":                        `line 2: value is "1.2.3", want a number`,
		"search=31\nsearch=1e999\n":                        `line 2: value is "1e999"`,
		"search=31ms\nqueries=3 ops/s\nsearch=0.03s\n":     `line 3: unit is "s", but search had "ms" before`,
		"search=31ms\nsearch=30\n":                         `line 2: unit is "", but search had "ms" before`,
		"search=31\nframes.duration_ms=1 s\n":              `line 2: unit is "s", but frames.duration_ms is in "ms"`,
		"search=31\n" + strings.Repeat("x", 1000) + "=1\n": "line 2 has 1002 bytes, at most 1000 are read",
		"PATH=/usr/bin\n":                                  "not a result file",
		"=31\n":                                            "not a result file",
		"# nothing\n\n":                                    "not a result file",
		"if (a==1) {\n":                                    "not a result file",
	} {
		if _, err := Read("a.txt", []byte(text), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}
