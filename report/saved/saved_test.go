package saved

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/report/document"
)

func TestReadErrors(t *testing.T) {
	for source, want := range map[string]string{
		``:                               "the file is empty",
		`{`:                              "not valid JSON",
		`{"format":"apkgate.run/1"}`:     `format is "apkgate.run/1", want "apkgate.verdict/1"`,
		`{"format":"apkgate.verdict/2"}`: `want "apkgate.verdict/1"`,
		`{"format":"apkgate.verdict/1","verdict":"pass","level":1.5}`:                                                                     "level is 1.5",
		`{"format":"apkgate.verdict/1","verdict":"fine"}`:                                                                                 `verdict is "fine", want one of`,
		`{"format":"apkgate.verdict/1","verdict":"pass","runs":[{"verdict":"x"}]}`:                                                        `runs[0].verdict is "x"`,
		`{"format":"apkgate.verdict/1","verdict":"pass","runs":[{"verdict":"pass","comparisons":[{"direction":"up"}]}]}`:                  `runs[0].comparisons[0].direction is "up"`,
		`{"format":"apkgate.verdict/1","verdict":"pass","runs":[{"verdict":"pass","comparisons":[{"direction":"none","value":"high"}]}]}`: "is a JSON string, want float64",
		`{"format":"apkgate.verdict/1","verdict":"pass"} {}`:                                                                              "not valid JSON at byte 49",
		strings.Repeat("[", 100_000): "more than 64 deep",
	} {
		_, err := ReadVerdict(strings.NewReader(source))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s gives the error %v, want one with %q", source, err, want)
		}
	}
}

func TestReadRejectsInvalidCauses(t *testing.T) {
	const good = `"kind":"test.moon","direction":"regression"`
	for cause, want := range map[string]string{
		`{"kind":"moon"}`:                                       `causes[1].kind is "moon"`,
		`{"kind":"test.moon","direction":"up"}`:                 `causes[1].direction is "up"`,
		`{` + good + `,"explains":{"share":2}}`:                 "causes[1].explains: share",
		`{` + good + `,"evidence":[{"digest":"../x"}]}`:         `causes[1].evidence[0]: digest is "../x"`,
		`{` + good + `,"tables":[{"columns":[{"title":"a"}]}]}`: "causes[1].tables[0]: columns has 1",
		`{` + good + `,"sentence":"plain"}`:                     "causes.sentence is a JSON string",
	} {
		for format, read := range map[string]func(string) error{
			gate.Format:       func(s string) error { _, err := ReadVerdict(strings.NewReader(s)); return err },
			sidebyside.Format: func(s string) error { _, err := Read(strings.NewReader(s)); return err },
		} {
			err := read(`{"format":"` + format + `","verdict":"pass","causes":[{` + good + `},` + cause + `]}`)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %s: %v, want %q", cause, format, err, want)
			}
		}
	}
	many := strings.TrimSuffix(strings.Repeat("{"+good+"},", diagnose.MaxCauses+1), ",")
	if _, err := ReadVerdict(strings.NewReader(`{"format":"apkgate.verdict/1","verdict":"pass","causes":[` + many + `]}`)); err == nil || !strings.Contains(err.Error(), "at most 1000") {
		t.Errorf("1,001 causes: %v", err)
	}
}

// Older verdicts have 0 at both ends where there is no interval.
func TestReadOlderVerdictsWithoutIntervals(t *testing.T) {
	old := `{"format":"apkgate.verdict/1","verdict":"pass","preset":"default","rules":[],"warnings":[],"runs":[{"id":"a","verdict":"pass",` +
		`"comparisons":[{"metric":"frames.count","direction":"none","n":5,"change_low":0,"change_high":0},` +
		`{"metric":"cpu.time_ms","direction":"none","n":5,"change_low":0,"change_high":0.1}]}]}`
	in, err := ReadVerdict(strings.NewReader(old))
	if err != nil {
		t.Fatal(err)
	}
	hasInterval := func(c gate.Comparison) bool { return c.Low != nil && c.High != nil }
	if cs := in.Runs[0].Comparisons; hasInterval(cs[0]) || !hasInterval(cs[1]) {
		t.Errorf("intervals: %v and %v, want the second alone", hasInterval(cs[0]), hasInterval(cs[1]))
	}
}

// A saved verdict is in memory once while it is read, and one that would take gigabytes is rejected
// before it is decoded.
func TestReadMemory(t *testing.T) {
	const size = 64 << 20
	open := `{"format":"apkgate.verdict/1","verdict":"pass","runs":[{"comparisons":[`
	path := filepath.Join(t.TempDir(), "verdict.json")
	if err := os.WriteFile(path, []byte(open+strings.Repeat("{},", (size-len(open))/3)), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = Read(f)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "elements") {
		t.Errorf("the error is %v, want one that names the elements", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > size+1<<20 {
		t.Errorf("%d bytes were allocated for a file of %d", took, size)
	}
}

// A reader of the format finds a list wherever the format has one, never null.
func TestJSONHasNoNull(t *testing.T) {
	var b bytes.Buffer
	v := gate.Verdict{Verdict: gate.Pass, Runs: []gate.RunVerdict{{ID: "R", Verdict: gate.Pass}}}
	if err := Render(&b, document.Document{Data: OfVerdict(v, nil, nil, 0)}, document.Options{}); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	r := doc["runs"].([]any)[0].(map[string]any)
	for _, field := range []string{"labels", "reference", "deviations", "comparisons", "warnings"} {
		if _, ok := r[field].([]any); !ok {
			t.Errorf("runs[0].%s is %v, want a list", field, r[field])
		}
	}
	for _, field := range []string{"rules", "warnings"} {
		if _, ok := doc[field].([]any); !ok {
			t.Errorf("%s is %v, want a list", field, doc[field])
		}
	}
	if v.Runs[0].Labels != nil {
		t.Error("the caller's verdict was changed")
	}
}

func TestRefreshJSONHasNoNulls(t *testing.T) {
	var b bytes.Buffer
	if err := Render(&b, document.Document{Data: OfRefresh(Refresh{Verdict: gate.Pass})}, document.Options{}); err != nil {
		t.Fatal(err)
	}
	var lists map[string]any
	if err := json.Unmarshal(b.Bytes(), &lists); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"accepted", "refused", "drift", "warnings"} {
		if _, ok := lists[name].([]any); !ok {
			t.Errorf("%s is %v, want a list", name, lists[name])
		}
	}
}
