package evidence

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func prune(t *testing.T, f *Folder, stay ...string) Gone {
	t.Helper()
	gone, err := f.Prune(t.Context(), func(id string) bool { return slices.Contains(stay, id) })
	if err != nil {
		t.Fatal(err)
	}
	return gone
}

func TestPruneRemovesFilesOfRun(t *testing.T) {
	f := newFolder(t)
	own, shared := keep(t, f, "own of a"), keep(t, f, "shared")
	attach(t, f, runWith("a", 1, own, shared))
	attach(t, f, runWith("b", 2, shared))

	want := Gone{Runs: []string{"a"}, Files: 1, Bytes: int64(len("own of a"))}
	if diff := cmp.Diff(want, prune(t, f, "b")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if isKept(f, own) || !isKept(f, shared) {
		t.Errorf("kept: own %v, shared %v; want the shared one alone", isKept(f, own), isKept(f, shared))
	}
	want = Gone{Runs: []string{"b"}, Files: 1, Bytes: int64(len("shared"))}
	if diff := cmp.Diff(want, prune(t, f)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if isKept(f, shared) {
		t.Error("what two runs shared outlived both")
	}
}

// Where the total is too large, the files of the oldest runs, by their start, are removed, and
// Attach reports it.
func TestOldestRunsAreRemovedFirst(t *testing.T) {
	f := newFolder(t)
	file := func(c string) string { return keep(t, f, strings.Repeat(c, 900)) }
	newer, older := file("n"), file("o")
	attach(t, f, runWith("newer", 20, newer))
	attach(t, f, runWith("older", 10, older))
	if gone := attach(t, f, runWith("third", 15, file("t"))); gone.Files != 0 {
		t.Fatalf("2,700 of 3,000 bytes: %+v", gone)
	}
	gone := attach(t, f, runWith("ancient", 1, file("a")))
	if diff := cmp.Diff(Gone{Runs: []string{"older"}, Files: 1, Bytes: 900}, gone); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if isKept(f, older) || !isKept(f, newer) {
		t.Error("another file went than that of the oldest run")
	}
	ids, err := f.Runs()
	if err != nil || strings.Join(ids, " ") != "ancient third newer" {
		t.Errorf("runs with files: %q, %v", ids, err)
	}
}

// The run of a new file may still be measured and not attached yet.
func TestPruneKeepsNewFiles(t *testing.T) {
	f := newFolder(t)
	fresh := keep(t, f, "fresh")
	shared := keep(t, f, "shared")
	attach(t, f, runWith("a", 1, shared))
	later(t, f, shared) // kept again, for a run that does not exist yet
	if gone := prune(t, f); gone.Files != 0 || !isKept(f, fresh) || !isKept(f, shared) {
		t.Errorf("%+v; fresh %v, shared %v", gone, isKept(f, fresh), isKept(f, shared))
	}
	for _, digest := range []string{fresh, shared} {
		at, _, _ := f.Place(digest)
		old := time.Now().Add(-50 * time.Hour)
		if err := os.Chtimes(at, old, old); err != nil {
			t.Fatal(err)
		}
	}
	unfinished := filepath.Join(f.Path(), "incoming", "killed")
	if err := os.WriteFile(unfinished, []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-50 * time.Hour)
	if err := os.Chtimes(unfinished, old, old); err != nil {
		t.Fatal(err)
	}
	if gone := prune(t, f); gone.Files != 3 || isKept(f, fresh) || isKept(f, shared) {
		t.Errorf("two days later: %+v, want all three files gone", gone)
	}
}

// later makes a file newer than its attachment, whatever the resolution of the file system's clock.
func later(t *testing.T, f *Folder, digest string) {
	t.Helper()
	at, _, _ := f.Place(digest)
	soon := time.Now().Add(time.Second)
	if err := os.Chtimes(at, soon, soon); err != nil {
		t.Fatal(err)
	}
}

// An id may be any text, and a file in runs may contain anything.
func TestHostileOwners(t *testing.T) {
	f := newFolder(t)
	digest := keep(t, f, "abc")
	id := "../../\x00\n" + strings.Repeat("a", 300)
	attach(t, f, runWith(id, 1, digest))
	runs := filepath.Join(f.Path(), "runs")
	for name, text := range map[string]string{
		"broken.json":  "{",
		"liar.json":    `{"format":"apkgate.evidence/1","run":"x","digests":["../../x"]}`,
		"another.json": `{"format":"apkgate.evidence/1","run":"y","digests":["` + digest + `"]}`,
		"large.json":   strings.Repeat("[", 1<<20),
	} {
		if err := os.WriteFile(filepath.Join(runs, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(runs, "link.json")); err != nil {
		t.Log(err)
	}
	ids, err := f.Runs()
	if err != nil || len(ids) != 1 || ids[0] != id {
		t.Errorf("%q, %v", ids, err)
	}
	if gone := prune(t, f); gone.Files != 1 || isKept(f, digest) {
		t.Errorf("%+v, want the one file gone", gone)
	}
}

// Two processes keep, attach and remove in one folder concurrently. The files of a run that stays
// are intact afterwards.
func TestTwoProcesses(t *testing.T) {
	if dir := os.Getenv("APKGATE_TEST_EVIDENCE"); dir != "" {
		work(t, At(dir, Default), os.Getenv("APKGATE_TEST_WHO"))
		return
	}
	f := At(filepath.Join(t.TempDir(), "evidence"), Default)
	var processes sync.WaitGroup
	for _, who := range []string{"a", "b"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTwoProcesses$", "-test.v")
		cmd.Env = append(os.Environ(), "APKGATE_TEST_EVIDENCE="+f.Path(), "APKGATE_TEST_WHO="+who)
		processes.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("process %s: %v\n%s", who, err, out)
			}
		})
	}
	processes.Wait()
	for _, who := range []string{"a", "b"} {
		for i := 1; i < rounds; i += 2 {
			for _, text := range texts(who, i) {
				if got := read(t, f, keep(t, At(t.TempDir()+"/x", Default), text)); got != text {
					t.Errorf("run %s%d: %q, want %q", who, i, got, text)
				}
			}
		}
	}
}

// Concurrent first uses all create the same folder.
func TestFolderIsCreatedConcurrently(t *testing.T) {
	for i := range 40 {
		f := At(filepath.Join(t.TempDir(), "evidence"), Default)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := f.make(); err != nil {
					t.Errorf("folder %d: %v", i, err)
				}
			})
		}
		all.Wait()
	}
}

const rounds = 20

// texts returns the files of a run: one of its own, and one shared with the other process's run of
// that number.
func texts(who string, i int) []string {
	return []string{fmt.Sprintf("of %s, %d", who, i), fmt.Sprintf("of both, %d", i)}
}

// work attaches runs and removes those of even numbers.
func work(t *testing.T, f *Folder, who string) {
	for i := range rounds {
		var digests []string
		for _, text := range texts(who, i) {
			digests = append(digests, keep(t, f, text))
		}
		attach(t, f, runWith(fmt.Sprintf("%s%d", who, i), 1+i, digests...))
		_, err := f.Prune(t.Context(), func(id string) bool { return (id[len(id)-1]-'0')%2 == 1 })
		if err != nil {
			t.Fatal(err)
		}
	}
}
