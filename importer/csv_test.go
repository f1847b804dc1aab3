package importer

import (
	"strings"
	"testing"
)

func TestCSV(t *testing.T) {
	t.Parallel()
	res, err := Read("a.csv", []byte("\xef\xbb\xbfrepetition, Name ,value,unit\r\n1,search,31.5,ms\r\n2,search,30,ms\r\n2,\"hits, all\",7,\r\n"), Options{Package: "com.example.mail"})
	if err != nil || len(res.Runs) != 1 {
		t.Fatalf("%v, %+v", err, res)
	}
	r := res.Runs[0]
	if r.App.Package != "com.example.mail" || r.Scenario != "a" || r.Context[MeasuredBy] != "imported list" || len(r.Iterations) != 2 {
		t.Fatalf("%+v", r)
	}
	if a, b := r.Iterations[0].Metrics, r.Iterations[1].Metrics; len(a) != 1 || a["search"] != 31.5 || len(b) != 2 || b["search"] != 30 {
		t.Errorf("%v, %v", a, b)
	}
	// Milliseconds are better where there are fewer; of hits nobody knows.
	for _, d := range r.Declared {
		if want := map[string]string{"search": "lower"}[d.Name]; want != "" && (d.Better != want || d.Unit != "ms") {
			t.Errorf("%+v", d)
		}
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Text, "whether more or less") {
		t.Errorf("%v", r.Warnings)
	}
}

func TestBadCSV(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"name,value\n":                                     "the table has no row",
		"name,value\na,\n":                                 `line 2: value is "", want a number such as 31.5`,
		"name,value\na,NaN\n":                              `line 2: value is "NaN"`,
		"name,value\n,1\n":                                 "line 2: name is empty",
		"name,value\na,1\na,2\n":                           "line 3: a is in repetition 1 twice",
		"name,value,repetition\na,1,3\n":                   "there is no row of repetition 1 of 3",
		"name,value,repetition\na,1,99999\n":               `line 2: repetition is "99999", want a whole number from 1 to 10000`,
		"name,value\na,1,2\n":                              "wrong number of fields",
		"name,unit,value\nframes.duration_ms,s,1\n":        `unit is "s", but frames.duration_ms is in "ms"`,
		"name,other,value\na,b,1\n":                        "not a result file",
		"name,value,value\na,1,1\n":                        "not a result file",
		strings.Repeat("name,", 300) + "value\n" + "a,1\n": "not a result file",
	} {
		if _, err := Read("a.csv", []byte(text), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}
