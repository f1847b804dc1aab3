package gitbranch_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/gitbranch"
)

// clone creates a work tree of the branch, for a test to change.
func clone(t *testing.T, remote string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	git(t, t.TempDir(), "clone", "--quiet", "--branch=history", remote, dir)
	return dir
}

func pushAll(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--message=by hand")
	git(t, dir, "push", "--quiet", "origin", "HEAD:history")
}

// put writes a segment under the name of its content.
func put(t *testing.T, dir, folder string, data []byte) string {
	t.Helper()
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:20])
	path := filepath.Join(dir, folder, name[:1], name[1:]+".jsonl.zst")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return name[1:]
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func line(t *testing.T, r run.Run) string {
	t.Helper()
	data, err := run.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestBadFilesHideNoGoodOnes puts all kinds of files onto the branch by hand. Each is reported, the
// sound runs are listed, and compacting the branch loses none of them.
func TestBadFilesHideNoGoodOnes(t *testing.T) {
	remote := newRemote(t)
	first := open(t, remote)
	if _, err := first.Add(t.Context(), newRun("good", 1)); err != nil {
		t.Fatal(err)
	}
	good := newRun("good", 1)
	digest, err := good.Digest()
	if err != nil {
		t.Fatal(err)
	}
	mark := func(state, digest, at string) string {
		return `{"format":"apkgate.mark/1","run":"good","digest":"` + digest + `","state":"` + state + `","at":"` + at + `"}` + "\n"
	}
	const at = "2026-02-03T04:05:06Z"
	dir := clone(t, remote)
	told := []string{ // what Verify must report: one file each
		put(t, dir, "runs", []byte("no zstd")),
		put(t, dir, "runs", packed(t, line(t, newRun("before", 2))+"broken\n"+line(t, newRun("after", 3)))),
		put(t, dir, "runs", packed(t, line(t, newRun("twin", 4))+line(t, newRun("twin", 5))+line(t, newRun("beside", 6)))), // two runs of one name
		put(t, dir, "runs", packed(t, strings.Repeat("\n", 72<<20))),
		put(t, dir, "marks", packed(t, mark("accepted", digest, at)+"{")),
		put(t, dir, "marks", packed(t, mark("accepted", strings.Repeat("0", 64), at))),
		put(t, dir, "marks", packed(t, mark("fine", digest, at))),
		put(t, dir, "marks", packed(t, mark("rejected", digest[:16], at))),
		put(t, dir, "marks", packed(t, strings.Repeat("x", 65<<20))),
		put(t, dir, "marks", packed(t, strings.Repeat("\n", 65<<20))),
	}
	wrongName := put(t, dir, "runs", packed(t, line(t, newRun("renamed", 7))))
	shelf, err := filepath.Glob(filepath.Join(dir, "runs", "*", wrongName+"*"))
	if err != nil || len(shelf) != 1 {
		t.Fatal(shelf, err)
	}
	if err := os.Rename(shelf[0], filepath.Join(filepath.Dir(shelf[0]), strings.Repeat("0", 39)+".jsonl.zst")); err != nil {
		t.Fatal(err)
	}
	told = append(told, strings.Repeat("0", 39))
	for _, stray := range []string{"evil.sh", "runs/note.txt", "runs/a/deep/deep/file", "runs/zz/file"} {
		path := filepath.Join(dir, stray)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		told = append(told, filepath.Base(stray))
	}
	told = slices.DeleteFunc(told, func(s string) bool { return s == "file" })
	told = append(told, `"runs/a/deep"`, `"runs/zz"`)
	link := filepath.Join(dir, "runs", "a", strings.Repeat("b", 39)+".jsonl.zst")
	if err := os.Symlink("/etc/passwd", link); err != nil {
		t.Fatal(err)
	}
	told = append(told, filepath.Base(link))
	pushAll(t, dir)

	s := open(t, remote)
	want := []string{"good accepted", "twin ", "beside ", "before "}
	for _, when := range []string{"at first", "after a compaction"} {
		if err := s.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := ids(t, s)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the list is %q, want %q", when, got, want)
		}
		damage, err := s.Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range told {
			if !slices.ContainsFunc(damage, func(d runstore.Damage) bool { return strings.Contains(d.Problem, what) }) {
				t.Errorf("%s: Verify does not speak of %s: %v", when, what, damage)
			}
		}
		for _, d := range damage {
			if strings.Contains(d.Problem, "\n") || len(d.Problem) > 2000 {
				t.Errorf("%s: %q is not one short line", when, d.Problem)
			}
		}
		if err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		told = told[:11] // strays are removed, unreadable segments stay
	}
}

// A branch with other content is rejected, and so is one of a newer format.
func TestForeignBranchIsLeftAlone(t *testing.T) {
	for _, test := range []struct {
		name, file, text string
		want             error
	}{
		{"code", "main.go", "package main\n", runstore.ErrNotHistory},
		{"another format", "format", "something/1\n", runstore.ErrNotHistory},
		{"a newer format", "format", "apkgate.branch/2\n", runstore.ErrNewer},
		{"an endless format", "format", strings.Repeat("apkgate.branch/1\n", 1000), runstore.ErrNotHistory},
	} {
		remote := newRemote(t)
		dir := filepath.Join(t.TempDir(), "work")
		git(t, t.TempDir(), "init", "--quiet", dir)
		git(t, dir, "remote", "add", "origin", remote)
		if err := os.WriteFile(filepath.Join(dir, test.file), []byte(test.text), 0o644); err != nil {
			t.Fatal(err)
		}
		pushAll(t, dir)
		_, err := gitbranch.Open(t.Context(), gitbranch.Address{Remote: remote, Branch: "history"}, gitbranch.Options{Dir: t.TempDir()})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		if got := git(t, remote, "rev-list", "--count", "history"); got != "1" {
			t.Errorf("%s: the branch has %s commits, want 1", test.name, got)
		}
	}
}

// Where the remote can leave out files, one above the maximum size of a segment is not even
// fetched.
func TestLargeFilesStayOnTheRemote(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 65 MiB")
	}
	remote := newRemote(t)
	git(t, remote, "config", "uploadpack.allowFilter", "true")
	git(t, remote, "config", "uploadpack.allowAnySHA1InWant", "true")
	if _, err := open(t, remote).Add(t.Context(), newRun("good", 1)); err != nil {
		t.Fatal(err)
	}
	work := clone(t, remote)
	noise := make([]byte, 65<<20) // zeros: small once git has packed it, large to whoever expands it
	name := put(t, work, "runs", noise)
	pushAll(t, work)

	s := open(t, remote)
	if got := ids(t, s); !slices.Equal(got, []string{"good "}) {
		t.Errorf("the list is %q, want good alone", got)
	}
	damage, err := s.Verify(t.Context())
	if err != nil || len(damage) != 1 || !strings.Contains(damage[0].Problem, name) {
		t.Errorf("Verify: %v, %v, want the one file", damage, err)
	}
	if _, err := s.Add(t.Context(), newRun("more", 2)); err != nil {
		t.Errorf("adding beside it: %v", err)
	}
	if err := s.Compact(t.Context()); err == nil {
		t.Error("the branch was rewritten without a file that nobody has read")
	}
}

func TestReadOnly(t *testing.T) {
	remote := newRemote(t)
	if _, err := open(t, remote).Add(t.Context(), newRun("a", 1)); err != nil {
		t.Fatal(err)
	}
	s, err := gitbranch.Open(context.Background(), gitbranch.Address{Remote: remote, Branch: "history"}, gitbranch.Options{Dir: t.TempDir(), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, addErr := s.Add(t.Context(), newRun("b", 2))
	_, pruneErr := s.Prune(t.Context(), runstore.Retention{Keep: 1}, nil)
	for _, err := range []error{addErr, pruneErr, s.Compact(t.Context()), s.Mark(t.Context(), []string{"a"}, runstore.Mark{State: runstore.Accepted})} {
		if !errors.Is(err, runstore.ErrReadOnly) {
			t.Errorf("writing to a history opened to be read: %v", err)
		}
	}
	if got := ids(t, s); !slices.Equal(got, []string{"a "}) {
		t.Errorf("the list is %q", got)
	}
}
