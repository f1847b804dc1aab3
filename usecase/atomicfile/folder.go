package atomicfile

import (
	"os"
	"path/filepath"
)

// OwnFolder is where apkgate keeps a history and reports by default.
const OwnFolder = ".apkgate"

// MakeFolder creates a folder with its parents. apkgate's own folder is ignored by git: its
// contents can be measured again and belong in no commit.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for at := filepath.Clean(dir); at != filepath.Dir(at); at = filepath.Dir(at) {
		if filepath.Base(at) == OwnFolder {
			ignore(at)
		}
	}
	return nil
}

// ignore puts a .gitignore into a folder that has none. It does nothing in a read-only folder.
func ignore(dir string) {
	f, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return
	}
	_, _ = f.WriteString("# apkgate's history and reports on this computer\n*\n")
	_ = f.Close()
}
