package adb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestKeyIsCreatedWithoutHardLinks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "adbkey")
	noLinks := func(from, to string) error {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM}
	}
	if err := writeNew(path, noLinks, []byte("the key")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v, want mode 0600", info.Mode(), err)
	}
	if err := writeNew(path, noLinks, []byte("another")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second key: %v, want that there is one", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "the key" {
		t.Errorf("%q, %v", text, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v, want the key alone", left, err)
	}
}
