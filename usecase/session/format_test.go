package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/measurement"
)

var (
	aDigest = strings.Repeat("a1", 32)
	bDigest = strings.Repeat("b2", 32)
	evening = time.Date(2026, 11, 22, 19, 30, 0, 0, time.UTC)
)

func headerFor(units ...string) Header {
	return Header{Format: Format, Command: "apkgate run", Session: "nightly", Plan: aDigest, Build: bDigest, Commit: "c0ffee", Started: evening, Units: units}
}

func measured(scenario string, status run.Status) run.Run {
	r := run.Run{
		Format: run.Format, Started: evening, App: run.App{Package: "com.example.mail"}, Scenario: scenario, Session: "nightly",
		Context: map[string]string{"model": "Pixel 7"}, Status: status, Warnings: []run.Warning{},
	}
	if status != run.Failed {
		r.Iterations = []run.Iteration{{Metrics: map[string]float64{"frames.count": 61, "frames.duration_ms": 8.3}, Events: []run.Bucket{{Name: run.Start, Metrics: map[string]float64{}}}}}
	}
	return r
}

// written is a session file of the header and the lines.
func written(t *testing.T, h Header, entries ...Entry) []byte {
	t.Helper()
	head, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	out := append(head, '\n')
	for _, e := range entries {
		line, err := e.line()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, line...)
	}
	return out
}

func wholeEntry(unit string) Entry {
	r := measured(unit, run.Complete)
	return Entry{Unit: unit, Device: "pixel #1", Run: &r}
}

// What a session saves of a result is what the next process needs: the run as it is, whose failure
// it was, its hint, and the resulting exit status.
func TestEntryRoundTrip(t *testing.T) {
	lost := func(cause loss.Cause, text, advice string) error {
		return &loss.Error{Cause: cause, Device: "pixel #1", Repetition: 2, Err: errors.New(text), Advice: advice}
	}
	for name, c := range map[string]struct {
		result collect.Result
		whole  bool
	}{
		"complete":            {collect.Result{Device: "pixel #1", Run: measured("mail", run.Complete)}, true},
		"ended by the app":    {collect.Result{Device: "pixel #1", Run: measured("mail", run.Partial), Err: lost(loss.Workload, "the app crashed", "see the log")}, true},
		"never worked at all": {collect.Result{Device: "pixel #1", Run: measured("mail", run.Failed), Err: lost(loss.Workload, "the test failed", "")}, true},
		"partly lost":         {collect.Result{Device: "pixel #1", Run: measured("mail", run.Partial), Err: lost(loss.Infrastructure, "the device is gone", "plug it in")}, false},
		"lost":                {collect.Result{Device: "pixel #1", Run: measured("mail", run.Failed), Err: lost(loss.Infrastructure, "the device is gone", "")}, false},
		"not there":           {collect.Result{Device: "pixel #1", Run: measured("mail", run.Failed), Err: lost(loss.Configuration, "no such class", "correct it")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Read(bytes.NewReader(written(t, headerFor("mail"), entryOf("mail", c.result))))
			if err != nil {
				t.Fatal(err)
			}
			if _, whole := found.whole()["mail"]; whole != c.whole {
				t.Errorf("whole %t, want %t", whole, c.whole)
			}
			got := found.Entries["mail"].result()
			if got.Device != c.result.Device || got.Run.Scenario != "mail" || got.Run.Status != c.result.Run.Status {
				t.Errorf("%s of %s on %s", got.Run.Status, got.Run.Scenario, got.Device)
			}
			if len(c.result.Run.Iterations) > 0 {
				if d := cmp.Diff(c.result.Run, got.Run); d != "" {
					t.Errorf("the run (-was +is):\n%s", d)
				}
			}
			was, is := []collect.Result{c.result}, []collect.Result{got}
			for i, of := range []func([]collect.Result) error{measurement.LossOf, measurement.EndedOf} {
				if a, b := of(was), of(is); fmt.Sprint(a) != fmt.Sprint(b) || exit.HintOf(a) != exit.HintOf(b) || exit.Finish(io.Discard, a) != exit.Finish(io.Discard, b) {
					t.Errorf("%d: %v (%s), want %v (%s)", i, b, exit.HintOf(b), a, exit.HintOf(a))
				}
			}
		})
	}
}

// A store identifies a run by its content: what was added by one process is not added again by the
// next.
func TestEntryKeepsTheRunsID(t *testing.T) {
	r := measured("mail", run.Complete)
	was, err := r.Named()
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []run.Run{r, was} {
		found, err := Read(bytes.NewReader(written(t, headerFor("mail"), Entry{Unit: "mail", Run: &of})))
		if err != nil {
			t.Fatal(err)
		}
		is, err := found.whole()["mail"].Run.Named()
		if err != nil || is.ID != was.ID {
			t.Errorf("the run is called %q, %v, want %q", is.ID, err, was.ID)
		}
	}
}

// A process can be killed at any byte: the lines before are kept, and nothing else.
func TestReadOfATruncatedFile(t *testing.T) {
	units := []string{"mail", "search", "scroll"}
	all := written(t, headerFor(units...), wholeEntry("mail"), wholeEntry("search"), wholeEntry("scroll"))
	ends := []int{}
	for i, c := range all {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	for n := range len(all) + 1 {
		found, err := Read(bytes.NewReader(all[:n]))
		lines := 0
		for _, end := range ends {
			if n >= end {
				lines++
			}
		}
		if lines == 0 {
			if err == nil {
				t.Fatalf("%d bytes are no header, and were read", n)
			}
			continue
		}
		if err != nil || len(found.Entries) != lines-1 || found.Torn != (n > ends[lines-1]) || found.Sound != int64(ends[lines-1]) {
			t.Fatalf("%d bytes: %d entries, torn %t, sound up to %d, %v; want %d entries and %d", n, len(found.Entries), found.Torn, found.Sound, err, lines-1, ends[lines-1])
		}
	}
}

// A power failure may leave anything in the last line, terminated or not.
func TestReadOfATornLine(t *testing.T) {
	sound := written(t, headerFor("mail", "search"), wholeEntry("mail"))
	for _, tail := range []string{"\x00\x00\x00\x00", "\x00\x00\n", `{"unit":"search"}` + "\n", `{"unit":"elsewhere","lost":{"cause":"workload","why":"x"}}` + "\n", `{"unit":"sea`} {
		found, err := Read(bytes.NewReader(append(slices.Clone(sound), tail...)))
		if err != nil || !found.Torn || len(found.whole()) != 1 || found.Sound != int64(len(sound)) {
			t.Errorf("%q: %v, torn %t, %d whole", tail, err, found.Torn, len(found.whole()))
		}
	}
}

func TestReadRejectsInvalidFiles(t *testing.T) {
	with := func(change func(*Header)) string {
		h := headerFor("mail", "search")
		change(&h)
		return string(written(t, h, wholeEntry("mail"), wholeEntry("search")))
	}
	head := string(written(t, headerFor("mail", "search")))
	line := func(e Entry) string { return string(written(t, headerFor(), e)[len(written(t, headerFor())):]) }
	good := line(wholeEntry("mail"))
	for name, c := range map[string]struct{ text, want string }{
		"nothing":              {"", "does not begin with a whole line"},
		"a run":                {string(must(run.Encode(measured("mail", run.Complete)))), `format is "apkgate.run/1"`},
		"a later format":       {with(func(h *Header) { h.Format = "apkgate.session/2" }), `format is "apkgate.session/2", want "apkgate.session/1"`},
		"text":                 {"hello\nworld\n", "line 1: want a JSON object"},
		"no plan":              {with(func(h *Header) { h.Plan = "" }), "plan is no SHA-256"},
		"a build of words":     {with(func(h *Header) { h.Build = strings.Repeat("z", 64) }), "build is no SHA-256"},
		"a unit twice":         {with(func(h *Header) { h.Units = []string{"mail", "mail"} }), `units has "mail" twice`},
		"an empty unit":        {with(func(h *Header) { h.Units = []string{""} }), "or empty"},
		"a long unit":          {with(func(h *Header) { h.Units = []string{strings.Repeat("m", maxText+1)} }), "a unit is no UTF-8 of at most"},
		"a long name":          {with(func(h *Header) { h.Session = strings.Repeat("m", maxText+1) }), "session is no UTF-8"},
		"shard 3 of 2":         {with(func(h *Header) { h.Shard = &Shard{3, 2} }), "shard 3/2, want k/n"},
		"shard of too many":    {with(func(h *Header) { h.Shard = &Shard{1, maxShards + 1} }), "n up to 1000"},
		"own beyond":           {with(func(h *Header) { h.Shard, h.Own = &Shard{1, 2}, []int{2} }), "own has 2, want places among 2 units"},
		"own before":           {with(func(h *Header) { h.Shard, h.Own = &Shard{1, 2}, []int{-1} }), "own has -1"},
		"own twice":            {with(func(h *Header) { h.Shard, h.Own = &Shard{1, 2}, []int{1, 1} }), "own has 1"},
		"own without a shard":  {with(func(h *Header) { h.Own = []int{1} }), "there is no shard"},
		"another shard's unit": {with(func(h *Header) { h.Shard, h.Own = &Shard{1, 2}, []int{1} }), `line 2: unit "mail" is none of those`},
		"a unit of nobody":     {head + line(wholeEntry("elsewhere")) + good, `line 2: unit "elsewhere" is none of those in line 1`},
		"whole twice":          {head + good + good + line(wholeEntry("search")), `line 3: unit "mail" was whole before`},
		"no run":               {head + `{"unit":"mail"}` + "\n" + good, `line 2: unit "mail" has neither a complete run nor why it was lost`},
		"a partial run":        {head + strings.Replace(good, `"complete"`, `"partial"`, 1) + good, "neither a complete run"},
		"another format's run": {head + strings.Replace(good, run.Format, "apkgate.run/9", 1) + good, "line 2: run: format is"},
		"a run of nothing":     {head + strings.Replace(good, `"scenario":"mail"`, `"scenario":""`, 1) + good, "line 2: run: "},
		"an unknown cause":     {head + `{"unit":"mail","lost":{"cause":"moon","why":"x"}}` + "\n" + good, `lost.cause is "moon"`},
		"a repetition below 0": {head + `{"unit":"mail","lost":{"cause":"workload","why":"x","repetition":-1}}` + "\n" + good, "lost.repetition is -1"},
		"a torn line between":  {head + `{"unit":"ma` + "\n" + good, "line 2: invalid character"},
		"an empty line":        {head + "\n" + good, "line 2: unexpected end of JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

// endless is an endless file of one byte.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestReadOfAnEndlessLine(t *testing.T) {
	_, err := Read(endless(' '))
	if err == nil || !strings.Contains(err.Error(), "line 1 is longer than 64 MiB") {
		t.Errorf("%v", err)
	}
}

// A unit that was lost and then made has two lines, of which the last counts.
func TestReadUsesTheLastLineOfAUnit(t *testing.T) {
	lost := Entry{Unit: "mail", Scenario: "mail", Lost: &Lost{Cause: "infrastructure", Why: "the device is gone"}}
	found, err := Read(bytes.NewReader(written(t, headerFor("mail"), lost, lost, wholeEntry("mail"))))
	if err != nil || len(found.whole()) != 1 {
		t.Errorf("%v, %d whole, want 1", err, len(found.whole()))
	}
}

// Appended lines are there for the next process, without the torn one.
func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deeper", "a.session")
	l, err := create(path, headerFor("mail", "search"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.append(wholeEntry("mail")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := reopen(path); !errors.Is(err, errInUse) {
		t.Errorf("a file that is written was opened: %v", err)
	}
	if _, err := create(path, headerFor("mail")); !errors.Is(err, errInUse) {
		t.Errorf("a file that is written was begun anew: %v", err)
	}
	l.close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(slices.Clone(whole), `{"unit":"sea`...), 0o600); err != nil {
		t.Fatal(err)
	}
	l, found, err := reopen(path)
	if err != nil || !found.Torn || len(found.Entries) != 1 {
		t.Fatalf("%v, torn %t, %d entries", err, found.Torn, len(found.Entries))
	}
	if err := l.append(wholeEntry("search")); err != nil {
		t.Fatal(err)
	}
	l.close()
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(whole), must(wholeEntry("search").line())...)
	if !bytes.Equal(now, want) {
		t.Errorf("the file is\n%s\nwant\n%s", now, want)
	}
}

// FuzzRead checks that any file is read or rejected, and that its sound part is read again with the
// same result.
func FuzzRead(f *testing.F) {
	line := must(wholeEntry("mail").line())
	head := must(json.Marshal(headerFor("mail", "search")))
	f.Add(append(append(slices.Clone(head), '\n'), line...))
	f.Add(head)
	f.Add([]byte("{}\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		again, err := Read(bytes.NewReader(data[:found.Sound]))
		if err != nil || again.Torn || len(again.Entries) != len(found.Entries) {
			t.Errorf("%v, torn %t: %d entries, were %d", err, again.Torn, len(again.Entries), len(found.Entries))
		}
	})
}
