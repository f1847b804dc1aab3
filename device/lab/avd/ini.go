package avd

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// ini is a file of "key=value" lines, as written by avdmanager and the emulator (config.ini,
// NAME.ini, hardware-qemu.ini). Lines of another form are kept.
type ini struct{ lines []string }

// mostINI limits the size of such a file, in bytes: real ones have a few hundred lines.
const mostINI = 1 << 20

func readINI(path string) (ini, error) {
	file, err := os.Open(path)
	if err != nil {
		return ini{}, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, mostINI+1))
	if err == nil && len(text) > mostINI {
		err = fmt.Errorf("read %s: it is larger than %d bytes", path, mostINI)
	}
	return parseINI(string(text)), err
}

func parseINI(text string) ini {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	return ini{strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
}

// split splits a line; ok is false for a line of another form.
func split(line string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(line, "=")
	key = strings.TrimSpace(key)
	return key, strings.TrimSpace(value), ok && key != "" && !strings.HasPrefix(key, "#") && !strings.HasPrefix(key, ";")
}

// set appends a value, and removes all earlier values of the key.
func (f *ini) set(key, value string) {
	f.lines = slices.DeleteFunc(f.lines, func(line string) bool {
		k, _, ok := split(line)
		return ok && k == key
	})
	f.lines = append(f.lines, key+"="+value)
}

func (f ini) String() string { return strings.Join(f.lines, "\n") + "\n" }
