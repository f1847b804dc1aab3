package baselinecmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/run"
)

// kept writes a file of runs with a trace each, and the folder of the traces next to it. The runs
// are a day apart, the first one the oldest.
func kept(t *testing.T, file string, ids ...string) {
	t.Helper()
	folder := evidence.At(file+".evidence", evidence.Default)
	var lines []byte
	for i, id := range ids {
		digest, size, err := folder.Keep(t.Context(), strings.NewReader("trace of "+id), 1000)
		if err != nil {
			t.Fatal(err)
		}
		r := run.Run{
			ID: id, App: run.App{Package: "com.example.mail"}, Scenario: "open", Status: run.Complete,
			Started: time.Date(2026, 11, 1+i, 0, 0, 0, 0, time.UTC), Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": 100}}},
			Evidence: []run.Evidence{{Digest: digest, Kind: run.PerfettoTrace, Name: "open.pftrace", Bytes: size, Repetition: 1, Event: "tap: open", Why: "a frame took 820 ms"}},
		}
		line, err := run.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line...)
		if _, err := folder.Attach(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, lines, 0o644); err != nil {
		t.Fatal(err)
	}
}

// passes runs a command that must succeed.
func passes(t *testing.T, args ...string) clitest.Result {
	t.Helper()
	got := clitest.Run(t, nil, args...)
	if got.Status != 0 {
		t.Fatalf("%q: exit status %d\n%s%s", args, got.Status, got.Stdout, got.Stderr)
	}
	return got
}

func says(t *testing.T, what, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s is\n%s\nwant %q in it", what, text, w)
		}
	}
}

// The record is printed unchanged; the files are listed in addition.
func TestShowListsKeptFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	kept(t, "runs.jsonl", "first")
	got := passes(t, "baseline", "import", "--store", "h.db", "runs.jsonl")
	says(t, "import", got.Stderr, "1 file kept with runs copied to h.db.evidence")

	got = passes(t, "baseline", "show", "--store", "h.db", "first")
	record, err := os.ReadFile("runs.jsonl")
	if err != nil || got.Stdout != string(record) {
		t.Errorf("the record is %q, want %q (%v)", got.Stdout, record, err)
	}
	says(t, "beside the record", got.Stderr, "1 file kept with run first", "perfetto", "tap: open", "a frame took 820 ms", filepath.Join("h.db.evidence", "files"))

	passes(t, "baseline", "evidence", "--store", "h.db", "first", "--output", "out")
	names, err := filepath.Glob("out/*-open.pftrace")
	if err != nil || len(names) != 1 {
		t.Fatalf("copied %q, %v", names, err)
	}
	if data, err := os.ReadFile(names[0]); err != nil || string(data) != "trace of first" {
		t.Errorf("the copy is %q, %v", data, err)
	}
}

// A missing file is no error, in any command.
func TestMissingKeptFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	kept(t, "runs.jsonl", "first")
	if err := os.RemoveAll("runs.jsonl.evidence"); err != nil {
		t.Fatal(err)
	}
	got := passes(t, "baseline", "import", "--store", "h.db", "runs.jsonl")
	says(t, "import", got.Stderr, "1 file kept with runs not in runs.jsonl.evidence")
	says(t, "show", passes(t, "baseline", "show", "--store", "h.db", "first").Stderr, "not here")
	got = passes(t, "baseline", "evidence", "--store", "h.db", "first", "-o", "out")
	says(t, "evidence", got.Stdout+got.Stderr, "not here", "0 files copied", "1 file is not here")
	passes(t, "baseline", "verify", "--store", "h.db")
	if _, err := os.Stat("h.db.evidence"); err == nil {
		t.Error("a folder was made for nothing")
	}
}

func TestPruneRemovesKeptFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	kept(t, "runs.jsonl", "first", "second", "third")
	passes(t, "baseline", "import", "--store", "h.db", "runs.jsonl")
	passes(t, "baseline", "prune", "--store", "h.db", "--keep", "1") // only lists them
	says(t, "before", passes(t, "baseline", "evidence", "--store", "h.db", "first").Stdout, "h.db.evidence")
	got := passes(t, "baseline", "prune", "--store", "h.db", "--keep", "1", "--yes")
	says(t, "prune", got.Stdout, "2 runs removed", "2 kept files of removed runs removed")
	left, err := filepath.Glob("h.db.evidence/files/*/*")
	if err != nil || len(left) != 1 {
		t.Errorf("%q are left, %v; want one", left, err)
	}
	says(t, "of the run that stays", passes(t, "baseline", "evidence", "--store", "h.db", "third").Stdout, "h.db.evidence")
}

func TestCopyBringsKeptFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	kept(t, "runs.jsonl", "first", "second")
	passes(t, "baseline", "import", "--store", "h.db", "runs.jsonl")
	says(t, "copy", passes(t, "baseline", "copy", "--store", "h.db", "--to", "copy.db").Stderr, "2 files kept with runs copied to copy.db.evidence")
	says(t, "the copy", passes(t, "baseline", "evidence", "--store", "copy.db", "second").Stdout, "copy.db.evidence")

	says(t, "export", passes(t, "baseline", "export", "--store", "h.db", "-o", "out.jsonl").Stderr, "2 files were kept with 2 runs", "stay in h.db.evidence")
	if _, err := os.Stat("out.jsonl.evidence"); err == nil {
		t.Error("export copied files that nobody asked for")
	}
	passes(t, "baseline", "export", "--store", "h.db", "-o", "all.jsonl.zst", "--evidence")
	passes(t, "baseline", "import", "--store", "again.db", "all.jsonl.zst")
	says(t, "what was exported and imported", passes(t, "baseline", "evidence", "--store", "again.db", "first").Stdout, "again.db.evidence")
	clitest.Refuses(t, clitest.Run(t, nil, "baseline", "export", "--store", "h.db", "--evidence"), "--evidence", "--output")
}

// A shared history has only runs.
func TestCopyToASharedHistoryLeavesKeptFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	if out, err := exec.CommandContext(t.Context(), "git", "init", "--bare", "remote.git").CombinedOutput(); err != nil {
		t.Fatalf("git: %v\n%s", err, out)
	}
	kept(t, "runs.jsonl", "first")
	passes(t, "baseline", "import", "--store", "h.db", "runs.jsonl")
	address := "branch:" + filepath.Join(dir, "remote.git") + "#history"
	says(t, "copy", passes(t, "baseline", "copy", "--store", "h.db", "--to", address).Stderr, "1 file was kept with 1 run", "stay in h.db.evidence")
	says(t, "show", passes(t, "baseline", "show", "--store", address, "first").Stderr, "1 file kept with run first", "not here")
}

// The trace must be unambiguous, and it must be here.
func TestEvidenceOpenRejectsTraces(t *testing.T) {
	t.Chdir(t.TempDir())
	kept(t, "runs.jsonl", "first", "second")
	passes(t, "baseline", "import", "--store", "h.db", "runs.jsonl")
	open := func(args ...string) clitest.Result {
		return clitest.Run(t, nil, append([]string{"baseline", "evidence", "--store", "h.db", "--open"}, args...)...)
	}
	clitest.Refuses(t, open("nothing", "first"), `open "nothing": 0 traces are called so`)
	clitest.Refuses(t, open("open.pftrace", "first", "second"), "2 traces are called so")
	clitest.Refuses(t, open("open.pftrace", "third"), "third")
	clitest.Refuses(t, open("open.pftrace", "first", "--output", "out"), "--open and --output")
	clitest.Refuses(t, open("open.pftrace", "first", "--from-ms", "5"), "--from-ms and --to-ms go together")
	clitest.Refuses(t, open("open.pftrace", "first", "--from-ms", "5", "--to-ms", "2"), "--from-ms is 5 and --to-ms 2")
	clitest.Refuses(t, clitest.Run(t, nil, "baseline", "evidence", "--store", "h.db", "first", "--to-ms", "5"), "--to-ms is for --open alone")
	files, err := filepath.Glob("h.db.evidence/files/*/*")
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		if err := os.WriteFile(file, []byte("trace of somebody else"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := open("open.pftrace", "first")
	if got.Status != 3 {
		t.Errorf("a damaged trace: exit status %d, want 3", got.Status)
	}
	says(t, "of a damaged trace", got.Stderr, "the kept file is damaged")
	if err := os.RemoveAll("h.db.evidence"); err != nil {
		t.Fatal(err)
	}
	clitest.Refuses(t, open("open.pftrace", "first"), "the trace is not here")
}
