package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/unprivileged"
	"github.com/apkgate/apkgate/runstore"
)

// readUnprivileged reads the history as an unprivileged user.
func readUnprivileged(t *testing.T, path string) string {
	t.Helper()
	out, err := unprivileged.Output(readerPath + "=" + path)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

// A history in a read-only cache is read like any other, and no file is left next to it.
func TestReadWhereNothingCanBeWritten(t *testing.T) {
	for name, modes := range map[string]struct{ dir, file os.FileMode }{
		"neither file nor folder": {0o555, 0o444},
		"the folder alone":        {0o777, 0o444},
		"the file alone":          {0o555, 0o666},
		"both":                    {0o777, 0o666},
	} {
		t.Run(name, func(t *testing.T) {
			dir := openFolder(t)
			path := filepath.Join(dir, "history.db")
			fourRuns(t, path).Close()
			chmod(t, path, modes.file)
			chmod(t, dir, modes.dir)
			before := filesIn(t, dir)
			if got, want := readUnprivileged(t, path), "references: 2\ndamage: []\nto be pruned: 2"; got != want {
				t.Errorf("the reader prints\n%s\nwant\n%s", got, want)
			}
			if after := filesIn(t, dir); after != before {
				t.Errorf("the folder has %s, want %s as before", after, before)
			}
		})
	}
}

// Acknowledged changes may still be in the log. They are read, or the reader reports that they
// can't be.
func TestReadAfterAKill(t *testing.T) {
	made := filepath.Join(t.TempDir(), "history.db")
	fourRuns(t, made) // and not closed
	for _, left := range [][]string{{"", "-wal", "-shm"}, {"", "-wal"}} {
		dir := openFolder(t)
		path := filepath.Join(dir, "history.db")
		for _, suffix := range left {
			data, err := os.ReadFile(made + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+suffix, data, 0o444); err != nil {
				t.Fatal(err)
			}
		}
		chmod(t, dir, 0o555)
		got := readUnprivileged(t, path)
		if len(left) == 3 && !strings.HasPrefix(got, "references: 2\ndamage: []") {
			t.Errorf("with its index, the log is not read: %s", got)
		}
		if len(left) == 2 && !strings.HasPrefix(got, "error: open history "+path+": "+runstore.ErrReadOnly.Error()) {
			t.Errorf("without its index, the log can't be read, but the reader prints %s", got)
		}
	}
}

// fourRuns creates a history of four runs, two of which are accepted.
func fourRuns(t *testing.T, path string) *Store {
	t.Helper()
	s := openTest(t, path)
	for _, id := range []string{"run-11", "run-22", "run-33", "run-44"} {
		r := writtenRun(id)
		r.Context = nil
		if _, err := s.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Mark(t.Context(), []string{"run-11", "run-22"}, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
	return s
}

// openFolder returns a folder that every user may enter.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "apkgate-readonly-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755); os.RemoveAll(dir) })
	chmod(t, dir, 0o755)
	return dir
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func filesIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}
