package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/apkgate/apkgate/config"
)

// files are those that the flags name, "" where one names none.
func (f outputFlags) files() []string { return []string{f.html, f.markdown, f.json, f.sarif} }

// file is the configuration that is read.
func (f configFlags) file() string {
	if f.config != "" {
		return f.config
	}
	return config.FileName
}

// keepsInput refuses to write over a file that is read, and to write two things
// to one file: a slip on the command line must not cost a recording or a history.
func keepsInput(written []string, read ...[]string) error {
	for i, path := range written {
		for _, paths := range read {
			for _, other := range paths {
				if sameFile(path, other) {
					return usage(fmt.Errorf("write %s: it is read too, and would be lost", plain(path)), "name another file to write")
				}
			}
		}
		for _, other := range written[:i] {
			if sameFile(path, other) {
				return usage(fmt.Errorf("write %s: two things are to be written to it", plain(path)), "name a file for each")
			}
		}
	}
	return nil
}

// sameFile reports whether two paths lead to one file that writing would replace.
func sameFile(a, b string) bool {
	if a == "" || b == "" || a == "-" || b == "-" || special(a) {
		return false
	}
	if there, err := os.Stat(a); err == nil {
		if other, err := os.Stat(b); err == nil {
			return os.SameFile(there, other)
		}
	}
	a, errA := filepath.Abs(a)
	b, errB := filepath.Abs(b)
	return errA == nil && errB == nil && a == b
}

// special reports whether a path is of something that takes what is written to
// it, such as /dev/stdout or a named pipe, and is not to be replaced by a file.
func special(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}
