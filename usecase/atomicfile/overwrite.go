package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// KeepsInput refuses to overwrite an input file, and to write two outputs to one file: a typo on
// the command line must not cost a recording or a history.
func KeepsInput(written []string, read ...[]string) error {
	for i, path := range written {
		for _, paths := range read {
			for _, other := range paths {
				if Same(path, other) {
					return exit.Usage(fmt.Errorf("write %s: it is also an input, and would be lost", terminal.Plain(path)), "name another file to write")
				}
			}
		}
		for _, other := range written[:i] {
			if Same(path, other) {
				return exit.Usage(fmt.Errorf("write %s: two outputs name it", terminal.Plain(path)), "name a file for each")
			}
		}
	}
	return nil
}

// Same reports whether two paths lead to one file that writing would replace.
func Same(a, b string) bool {
	if a == "" || b == "" || a == "-" || b == "-" || Special(a) {
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

// Special reports whether a path is a device or a named pipe, such as /dev/stdout, which is not to
// be replaced by a file.
func Special(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}
