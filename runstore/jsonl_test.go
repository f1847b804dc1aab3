package runstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// line returns a record as one line, by hand.
func line(id string) string {
	return `{"format":"apkgate.run/1","id":"` + id + `","app":{"package":"org.example.mail"},"scenario":"open",` +
		`"context":{"sdk":"4.1"},"status":"complete","warnings":[],"iterations":[{"metrics":{"frames.count":10}}]}` + "\n"
}

// pretty is the same over eleven lines.
const pretty = `{
  "format": "apkgate.run/1",
  "id": "pretty",
  "app": {"package": "org.example.mail"},
  "scenario": "open",
  "context": {"sdk": "4.1 {["},
  "status": "complete",
  "iterations": [
    {"metrics": {"frames.count": 10}}
  ]
}
`

// read returns the ids in the history and the error that ended it.
func read(r io.Reader) (ids []string, err error) {
	for r, err := range runstore.ReadJSONL(r) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, r.ID)
	}
	return ids, nil
}

func compressed(t testing.TB, name, text string) string {
	t.Helper()
	var out bytes.Buffer
	w, err := runstore.Compress(&out, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestReadJSONL(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"empty lines", "\n \r\n\t\n", nil},
		{"two lines", line("a") + line("b"), []string{"a", "b"}},
		{"no newline at the end", line("a") + strings.TrimSpace(line("b")), []string{"a", "b"}},
		{"empty lines between", "\n" + line("a") + "\r\n\n" + line("b") + "\n", []string{"a", "b"}},
		{"lines of Windows", strings.ReplaceAll(line("a")+line("b"), "\n", "\r\n"), []string{"a", "b"}},
		{"byte order mark", "\ufeff" + line("a"), []string{"a"}},
		{"one record over many lines", pretty, []string{"pretty"}},
		{"the same after empty lines", "\n\n" + pretty + "\n\n", []string{"pretty"}},
		{"gzip", compressed(t, "h.jsonl.gz", line("a")+line("b")), []string{"a", "b"}},
		{"two gzip members", compressed(t, "a.gz", line("a")) + compressed(t, "b.gz", line("b")), []string{"a", "b"}},
		{"zstd", compressed(t, "h.jsonl.zst", pretty), []string{"pretty"}},
		{"not compressed", compressed(t, "h.jsonl", line("a")), []string{"a"}},
	} {
		got, err := read(strings.NewReader(test.text))
		if d := cmp.Diff(test.want, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", test.name, err, d)
		}
	}
}

func TestReadJSONLSaysWhere(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"wrong format", line("a") + "\n" + strings.Replace(line("b"), "run/1", "run/9", 1), `line 3: format is "apkgate.run/9"`},
		{"a line cut short", line("a") + line("b")[:40] + "\n" + line("c"), "line 2: "},
		{"the end cut short", line("a") + line("b")[:40], "line 2: "},
		{"two records on a line", strings.TrimSpace(line("a")) + line("b"), "line 1: there is more"},
		{"something else", "Lorem ipsum\n", `line 1: starts with 'L', want a JSON object {"format":"apkgate.run/1"`},
		{"an array", "[" + strings.TrimSpace(line("a")) + "]", `line 1: starts with '['`},
		{"broken in its fourth line", strings.Replace(pretty, `"app": {`, `"app": {,`, 1), "line 4: not valid JSON"},
		{"no number", strings.Replace(line("a"), ":10", ":NaN", 1), "line 1: not valid JSON"},
		{"beyond all numbers", strings.Replace(line("a"), ":10", ":1e999", 1), "line 1: "},
		{"a deep nest", strings.Replace(line("a"), ":10", ":"+strings.Repeat("[", 1_000_000), 1), "nested deeper than 12"},
		{"no UTF-8", line("a") + strings.Replace(line("b"), "4.1", "\xff\xfe", 1), "line 2: the record is not valid UTF-8"},
		{"gzip cut short", compressed(t, "a.gz", line("a"))[:40], "unexpected EOF"},
		{"gzip of nothing", "\x1f\x8b", "gzip"},
		{"zstd cut short", compressed(t, "a.zst", line("a"))[:40], "unexpected EOF"},
	} {
		_, err := read(strings.NewReader(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if err != nil && (len(err.Error()) > 400 || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %q is not one clear line", test.name, err)
		}
	}
}

// endless repeats a text for n bytes.
type endless struct {
	text string
	n    int
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	e.n -= n
	return n, nil
}

// TestReadJSONLIsBounded reads inputs that are far larger than a record may be, and checks the
// memory used.
func TestReadJSONLIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a gigabyte, which the race detector takes minutes for")
	}
	const size = 200 << 20
	head := `{"format":"apkgate.run/1","scenario":"`
	bomb := func(name string) io.Reader {
		var out bytes.Buffer
		w, err := runstore.Compress(&out, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, &endless{text: strings.Repeat(" ", 1<<16) + "\n", n: size}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return &out
	}
	for _, test := range []struct {
		name string
		in   io.Reader
		want string
	}{
		{"a line of 200 MB", io.MultiReader(strings.NewReader(head), &endless{text: "x", n: size}), "line 1: the record is larger than 64 MiB"},
		{"the second line", io.MultiReader(strings.NewReader(line("a")+head), &endless{text: "x", n: size}), "line 2: the record is larger than 64 MiB"},
		{"a record over many lines", io.MultiReader(strings.NewReader("{\n"), &endless{text: "\"x\":1,\n", n: size}), "line 1: the record is larger than 64 MiB"},
		{"a zstd bomb", bomb("bomb.zst"), "no history does"},
		{"a gzip bomb", bomb("bomb.gz"), "no history does"},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err := read(test.in)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		// Growing a buffer to 64 MiB allocates a few times that in total.
		if used := after.TotalAlloc - before.TotalAlloc; used > 10*run.MaxBytes {
			t.Errorf("%s: %d MiB allocated", test.name, used>>20)
		}
	}
}

func TestWriteJSONL(t *testing.T) {
	original := line("a") + line("b")
	for _, name := range []string{"h.jsonl", "h.jsonl.gz", "h.jsonl.zst"} {
		var out bytes.Buffer
		w, err := runstore.Compress(&out, name)
		if err != nil {
			t.Fatal(err)
		}
		n, err := runstore.WriteJSONL(w, runstore.ReadJSONL(strings.NewReader(original)))
		if n != 2 || err != nil {
			t.Fatalf("%s: %d written, %v", name, n, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := unsealed(unpack(t, name, out.Bytes())); got != original {
			t.Errorf("%s: got %s, want %s", name, got, original)
		}
	}
}

// unsealed returns a file of runs without its checksums.
func unsealed(text string) string {
	return regexp.MustCompile(`,"crc32c":"[0-9a-f]{8}"}\n`).ReplaceAllString(text, "}\n")
}

// unpack expands data by its file name, not by its first bytes.
func unpack(t *testing.T, name string, data []byte) string {
	t.Helper()
	var r io.Reader = bytes.NewReader(data)
	var err error
	switch {
	case strings.HasSuffix(name, ".gz"):
		r, err = gzip.NewReader(r)
	case strings.HasSuffix(name, ".zst"):
		r, err = zstd.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type fullDisk struct{}

var errNoSpace = errors.New("no space")

func (fullDisk) Write([]byte) (int, error) { return 0, errNoSpace }

func TestWriteJSONLErrors(t *testing.T) {
	if _, err := runstore.WriteJSONL(fullDisk{}, runstore.ReadJSONL(strings.NewReader(line("a")))); !errors.Is(err, errNoSpace) {
		t.Errorf("a full disk: %v", err)
	}
	if n, err := runstore.WriteJSONL(io.Discard, runstore.ReadJSONL(strings.NewReader(line("a")+"x"))); n != 1 || err == nil {
		t.Errorf("a broken source: %d written, %v", n, err)
	}
	bad := run.Run{Format: run.Format, ID: "bad"}
	if _, err := runstore.WriteJSONL(io.Discard, one(bad)); err == nil {
		t.Error("an invalid run was written")
	}
}

func one(r run.Run) iter.Seq2[run.Run, error] {
	return func(yield func(run.Run, error) bool) { yield(r, nil) }
}

func TestReferencesOfAnIndex(t *testing.T) {
	make := func(id string, day int, sdk string, frames float64) run.Run {
		return run.Run{
			Format: run.Format, ID: id, Started: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC), App: run.App{Package: "org.example.mail"},
			Scenario: "open", Context: map[string]string{"sdk": sdk}, Status: run.Complete,
			Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": frames}}},
		}
	}
	near, far, newer, partial := make("near", 1, "4.1", 1), make("far", 3, "5.0", 2), make("newer", 2, "4.1", 3), make("partial", 4, "4.1", 4)
	partial.Status = run.Partial
	q := runstore.Query{Package: "org.example.mail", Scenario: "open", Context: map[string]string{"sdk": "4.1"}}
	found, err := referencesAmong([]run.Run{near, far, partial, near, newer}, q)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range found {
		ids = append(ids, s.ID)
	}
	if d := cmp.Diff([]string{"newer", "near", "far"}, ids); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
	changed := near
	changed.Session = "other"
	if _, err := referencesAmong([]run.Run{near, changed}, q); !errors.Is(err, runstore.ErrConflict) {
		t.Errorf("two runs of one id: %v", err)
	}
	changed.Iterations = []run.Iteration{{Metrics: map[string]float64{"frames.count": math.NaN()}}}
	if _, err := referencesAmong([]run.Run{changed}, q); err == nil {
		t.Error("a run that is not valid was taken")
	}
}

// FuzzReadJSONL: what can be read can be written and read again unchanged; everything else is an
// error of one line.
func FuzzReadJSONL(f *testing.F) {
	f.Add([]byte(line("a") + line("b")))
	f.Add([]byte(pretty))
	f.Add([]byte("\ufeff\n" + line("")))
	f.Add([]byte(compressed(f, "a.gz", line("a"))))
	f.Add([]byte(compressed(f, "a.zst", line("a"))))
	f.Add([]byte(strings.Repeat("{", 100)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var runs []run.Run
		for r, err := range runstore.ReadJSONL(bytes.NewReader(data)) {
			if err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("the error has several lines: %q", err)
				}
				break
			}
			runs = append(runs, r)
		}
		var out bytes.Buffer
		for _, r := range runs {
			if _, err := runstore.WriteJSONL(&out, one(r)); err != nil {
				t.Fatalf("what was read can't be written: %v", err)
			}
		}
		var again []string
		for r, err := range runstore.ReadJSONL(&out) {
			if err != nil {
				t.Fatalf("what was written can't be read: %v", err)
			}
			again = append(again, digest(t, r))
		}
		var first []string
		for _, r := range runs {
			first = append(first, digest(t, r))
		}
		if d := cmp.Diff(first, again); d != "" {
			t.Errorf("digests (-first +again):\n%s", d)
		}
	})
}

func digest(t *testing.T, r run.Run) string {
	t.Helper()
	d, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(r.ID, " ", d)
}

// Single bits of an exported history are flipped: what is read without an error is what was
// written, in plain text and in compressed files.
func TestNoFlipMisleadsInAFileOfRuns(t *testing.T) {
	runs, flips := 20, 60
	if os.Getenv("APKGATE_FULL") != "" {
		runs, flips = 1000, 1000
	}
	var want []run.Run
	for i := range runs {
		want = append(want, run.Run{
			Format: run.Format, ID: fmt.Sprint("run-", i), App: run.App{Package: "app"}, Scenario: "s", Status: run.Complete,
			Context: map[string]string{"model": fmt.Sprint(i % 5)}, Warnings: []run.Warning{},
			Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.duration_ms": 8 + float64(i%13)/7}}},
		})
	}
	for _, name := range []string{"h.jsonl", "h.jsonl.gz", "h.jsonl.zst"} {
		var packed bytes.Buffer
		z, err := runstore.Compress(&packed, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := runstore.WriteJSONL(z, func(yield func(run.Run, error) bool) {
			for _, r := range want {
				if !yield(r, nil) {
					return
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, uint64(flips)))
		noticed := 0
		for i := range flips {
			data := slices.Clone(packed.Bytes())
			at := random.IntN(len(data))
			data[at] ^= 1 << random.IntN(8)
			var got []run.Run
			var failed error
			unchecked := 0 // which the command reports
			for r, err := range runstore.ReadCheckedJSONL(bytes.NewReader(data), &unchecked) {
				if err != nil {
					failed = err
				} else {
					got = append(got, r)
				}
			}
			if failed != nil || unchecked > 0 {
				noticed++
			}
			if failed != nil {
				continue
			}
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s, flip %d, byte %d: other runs are read, and nothing is said:\n%s", name, i, at, d)
			}
		}
		t.Logf("%s: %d of %d flips in %d bytes were noticed, the others changed nothing", name, noticed, flips, packed.Len())
	}
}
