package spill_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/apkgate/apkgate/trace/perfetto/spill"
)

// TestListWithoutAFolder has no folder for files: the error is reported, and no more rows are
// returned.
func TestListWithoutAFolder(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, missing)
	}
	var l spill.List[row]
	l.Spill(2)
	for i := range 10 {
		l.Add(row{At: int64(i)})
	}
	l.Edit(0, func(r *row) { r.Open = true })
	for place := range l.All() {
		t.Errorf("row %d", place)
	}
	for place := range spill.InOrder(&l, func(r *row) int64 { return r.At }) {
		if place < l.Base {
			t.Errorf("row %d in order", place)
		}
	}
	if err := l.Err(); !errors.Is(err, spill.ErrKeep) || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	var texts spill.Texts
	texts.Spill(2)
	first := texts.Add("one")
	texts.Add("two")
	if got, err := texts.Of(first), texts.Err(); got != "" || !errors.Is(err, spill.ErrKeep) {
		t.Errorf("%q, %v", got, err)
	}
	if err := errors.Join(l.Close(), texts.Close()); err != nil {
		t.Error(err)
	}
}

// TestCloseRemovesFiles counts the files in the folder for temporary ones.
func TestCloseRemovesFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
	var l spill.List[row]
	l.Spill(2)
	var texts spill.Texts
	texts.Spill(2)
	for i := range 100 {
		l.Add(row{At: int64(-i)})
		texts.Add("text")
	}
	for range spill.InOrder(&l, func(r *row) int64 { return r.At }) {
	}
	if err := errors.Join(l.Err(), texts.Err(), l.Close(), texts.Close()); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}
