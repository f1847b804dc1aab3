package runevidence

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
)

// keeping is a run with a file of that text, and the folder next to its history.
func keeping(t *testing.T, folder *evidence.Folder, id, text string) run.Run {
	t.Helper()
	digest, size, err := folder.Keep(t.Context(), strings.NewReader(text), 1000)
	if err != nil {
		t.Fatal(err)
	}
	r := run.Run{
		Format: run.Format, ID: id, App: run.App{Package: "com.example.mail"}, Scenario: "open", Status: run.Complete,
		Started: time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC), Iterations: []run.Iteration{{}},
		Evidence: []run.Evidence{{
			Digest: digest, Kind: run.PerfettoTrace, Name: "open.pftrace", Bytes: size,
			Repetition: 2, Event: "tap: open", FromMS: 12_000, ToMS: 13_250.5, Why: "a frame took 820 ms",
		}},
	}
	if _, err := folder.Attach(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBeside(t *testing.T) {
	if at := Beside("dir/history.db", false, ".apkgate").Path(); at != "dir/history.db.evidence" {
		t.Errorf("of a file: %s", at)
	}
	a, b := Beside("branch:origin#a", true, ".apkgate").Path(), Beside("branch:origin#b", true, ".apkgate").Path()
	if a == b || filepath.Dir(a) != ".apkgate" || filepath.Dir(b) != ".apkgate" {
		t.Errorf("of shared histories: %s and %s, want two folders in .apkgate", a, b)
	}
}

func TestList(t *testing.T) {
	folder := Beside(filepath.Join(t.TempDir(), "history.db"), false, "")
	r := keeping(t, folder, "r", "abc")
	absent := r.Evidence[0]
	absent.Digest, absent.Kind, absent.Bytes, absent.Event, absent.FromMS, absent.ToMS = strings.Repeat("0", 64), run.ThreadDump, 2_500_000, "\x1b[31m", 0, 0
	r.Evidence = append(r.Evidence, absent)
	var out strings.Builder
	if err := List(&out, folder, r); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	at, _, _ := folder.Place(r.Evidence[0].Digest)
	for i, want := range [][]string{
		{"2 files kept with run r"}, {"kind", "size", "event", "where"},
		{"perfetto", r.Evidence[0].Digest[:8], "tap: open", "repetition 2, 12.000 to 13.251 s", "a frame took 820 ms", at},
		{"threads", "2.5 MB", "not here"},
		{"To look at a trace: apkgate inspect perfetto " + at + " --open --from-ms 12000 --to-ms 13251"},
	} {
		for _, text := range want {
			if !strings.Contains(lines[i], text) {
				t.Errorf("line %d is %q, want %q in it", i, lines[i], text)
			}
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("an event's name reaches the terminal as it is")
	}
}

// A file that several runs have kept is opened by the name of the first, which a report lists
// first.
func TestInHistoryNamesTheFirstRun(t *testing.T) {
	folder := Beside(filepath.Join(t.TempDir(), "history.db"), false, "")
	a, b := keeping(t, folder, "a", "abc"), keeping(t, folder, "b", "abc")
	file := InHistory([]run.Run{a, b}, folder, " --store h.db")[a.Evidence[0].Digest]
	for _, got := range []string{file.Open, file.OpenAt} {
		if !strings.HasPrefix(got, "apkgate baseline evidence a --open ") || !strings.HasSuffix(got, " --store h.db") {
			t.Errorf("the command is %s, want that of run a", got)
		}
	}
}

// A thread dump is read by apkgate itself, wherever it is: Perfetto has no use for it.
func TestListOfAThreadDump(t *testing.T) {
	folder := Beside(filepath.Join(t.TempDir(), "history.db"), false, "")
	r := keeping(t, folder, "a", "----- pid 1 -----")
	r.Evidence[0].Kind = run.ThreadDump
	at, _, _ := folder.Place(r.Evidence[0].Digest)
	for where, files := range map[string]map[string]layout.KeptFile{
		"a report": ForReport([]run.Run{r}, folder), "a history's": InHistory([]run.Run{r}, folder, " --store h.db"),
	} {
		if file := files[r.Evidence[0].Digest]; file.Open != "apkgate diagnose "+at || file.OpenAt != "" {
			t.Errorf("%s: it is opened by %q, at a moment by %q", where, file.Open, file.OpenAt)
		}
	}
}

// Of all traces of a run, that of an anomaly is the one to look at.
func TestListPrefersAnAnomalysTrace(t *testing.T) {
	folder := Beside(filepath.Join(t.TempDir(), "history.db"), false, "")
	calm, wrong := keeping(t, folder, "r", "calm"), keeping(t, folder, "r", "wrong")
	calm.Evidence[0].Why = ""
	calm.Evidence = append(calm.Evidence, wrong.Evidence...)
	var out strings.Builder
	if err := List(&out, folder, calm); err != nil {
		t.Fatal(err)
	}
	at, _, _ := folder.Place(wrong.Evidence[0].Digest)
	if want := "To look at a trace: apkgate inspect perfetto " + at; !strings.Contains(out.String(), want) {
		t.Errorf("it says\n%s\nwant %s", out.String(), want)
	}
}

func TestTakeOut(t *testing.T) {
	folder := Beside(filepath.Join(t.TempDir(), "history.db"), false, "")
	a, b := keeping(t, folder, "a", "of a"), keeping(t, folder, "b", "of b")
	absent := a
	absent.Evidence = []run.Evidence{{Digest: strings.Repeat("0", 64), Name: "gone"}}
	dir := filepath.Join(t.TempDir(), "out")
	done, err := TakeOut(t.Context(), folder, dir, a, b, absent)
	if err != nil || len(done.Absent) != 1 {
		t.Fatalf("%+v, %v; want one absent", done, err)
	}
	for _, c := range []struct {
		of   run.Run
		want string
	}{{a, "of a"}, {b, "of b"}} {
		name := done.Names[c.of.Evidence[0].Digest]
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != c.want || !strings.HasSuffix(name, "-open.pftrace") {
			t.Errorf("%s: %q, %v; want %q", name, data, err, c.want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%d files, %v; want two", len(entries), err)
	}
}

func TestLoadBring(t *testing.T) {
	from, to := Beside(filepath.Join(t.TempDir(), "a.db"), false, ""), Beside(filepath.Join(t.TempDir(), "b.db"), false, "")
	var load Load
	for range load.Passing(func(yield func(run.Run, error) bool) {
		_ = yield(keeping(t, from, "r", "abc"), nil) && yield(run.Run{ID: "without"}, nil)
	}) {
	}
	if said := load.Staying(from); !strings.HasPrefix(said, "1 file was kept with 1 run: they stay in "+from.Path()) {
		t.Errorf("of files that stay it says %q", said)
	}
	said, err := load.Bring(t.Context(), to, from)
	if err != nil || !strings.HasPrefix(said, "1 file kept with runs copied to "+to.Path()) {
		t.Errorf("%q, %v", said, err)
	}
	if ids, err := to.Runs(); err != nil || !slices.Equal(ids, []string{"r"}) {
		t.Errorf("runs with files: %q, %v", ids, err)
	}
}

func TestPrune(t *testing.T) {
	s := memory.New(nil)
	folder := Beside(filepath.Join(t.TempDir(), "history.db"), false, "")
	for i, id := range []string{"first", "second", "third"} {
		r := keeping(t, folder, id, "of "+id)
		r.Started = r.Started.AddDate(0, 0, i)
		if _, err := s.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if gone, err := Prune(t.Context(), folder, s); err != nil || gone.Files != 0 {
		t.Errorf("with all runs there: %+v, %v", gone, err)
	}
	if _, err := s.Prune(t.Context(), runstore.Retention{Keep: 1}, nil); err != nil {
		t.Fatal(err)
	}
	gone, err := Prune(t.Context(), folder, s)
	if err != nil || gone.Files != 2 || !slices.Equal(gone.Runs, []string{"first", "second"}) {
		t.Errorf("with the third alone there: %+v, %v", gone, err)
	}
}

// damaged is a history whose list can't be read to its end.
type damaged struct{ runstore.Store }

func (d damaged) List(context.Context, runstore.Filter) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		yield(runstore.Entry{}, &runstore.DamagedRun{ID: "first", Err: runstore.ErrDamaged})
	}
}

// A run that can't be read may be repaired later: its files stay.
func TestPruneOfADamagedHistory(t *testing.T) {
	folder := Beside(filepath.Join(t.TempDir(), "history.db"), false, "")
	r := keeping(t, folder, "first", "of first")
	broken := damaged{memory.New(nil)}
	for _, s := range []runstore.Store{broken, runstore.SoundOf(broken)} {
		if _, err := Prune(t.Context(), folder, s); !errors.Is(err, runstore.ErrDamaged) {
			t.Errorf("%T: %v, want ErrDamaged", s, err)
		}
	}
	if _, _, here := folder.Place(r.Evidence[0].Digest); !here {
		t.Error("the file of a run that can't be read is gone")
	}
}

// A printed command can be pasted into a shell, wherever the history is.
func TestOpenCommandIsSafeToPaste(t *testing.T) {
	folder := Beside(filepath.Join(t.TempDir(), "my app; x.db"), false, "")
	r := keeping(t, folder, "r", "abc")
	at, _, _ := folder.Place(r.Evidence[0].Digest)
	var out strings.Builder
	if err := List(&out, folder, r); err != nil {
		t.Fatal(err)
	}
	shown := ForReport([]run.Run{r}, folder)[r.Evidence[0].Digest].Open
	for _, text := range []string{out.String(), shown} {
		if want := "apkgate inspect perfetto '" + at + "' --open"; !strings.Contains(text, want) {
			t.Errorf("it says %q, want %q", text, want)
		}
	}
}
