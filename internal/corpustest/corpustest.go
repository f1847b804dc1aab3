// Package corpustest opens the real files that tests read and that the repository does not contain:
// recordings and dumps of real devices, and data of public projects. It owns where they are and how
// they are opened, and nothing of their contents.
package corpustest

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Path returns a file or folder of the corpus, in the folder that APKGATE_CORPUS names, or in
// ../shared/corpus next to the repository. A test that needs a missing file is skipped with a
// message.
func Path(t testing.TB, parts ...string) string {
	t.Helper()
	root := os.Getenv("APKGATE_CORPUS")
	if root == "" {
		root = filepath.Join(repository(t), "..", "shared", "corpus")
	}
	path := filepath.Join(append([]string{root}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the corpus of real files is not here (APKGATE_CORPUS): %v", err)
	}
	return path
}

// Read reads the file at the path with a reader of its format.
func Read[T any](t testing.TB, path string, read func(io.Reader) (T, error)) T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	got, err := read(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return got
}

// Reading is a test of a file of the corpus, or the reason that there is none.
type Reading struct {
	Reads func(t *testing.T, text []byte)
	Not   string
}

// Readings tests all files of a folder of the corpus, which has at least that many. Each of them must
// have a reading.
func Readings(t *testing.T, readings map[string]Reading, least int, folder ...string) {
	t.Helper()
	path := Path(t, folder...)
	files, err := os.ReadDir(path)
	if err != nil || len(files) < least {
		t.Fatalf("%d files, want %d or more, %v", len(files), least, err)
	}
	for _, f := range files {
		r, known := readings[f.Name()]
		if !known || (r.Reads == nil) == (r.Not == "") {
			t.Errorf("%s: say what is read there, or why nothing is", f.Name())
		}
		if r.Reads == nil {
			continue
		}
		t.Run(f.Name(), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(path, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			r.Reads(t, text)
		})
	}
}

// repository returns the folder with go.mod, above the folder in which a test runs.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			t.Fatal("no folder above this test's has a go.mod")
		}
		dir = above
	}
}
