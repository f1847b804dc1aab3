package githubactions

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// outputName matches valid names of outputs.
var outputName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// Output sets an output of the step.
//
// The file is written here and not by the library: the library ends every value with the same known
// word, so a value with this word on a line of its own could set other outputs. Here the word is
// random and does not occur in the value.
func (r *Runner) Output(name, value string) error {
	if !outputName.MatchString(name) {
		return fmt.Errorf("set output %q: want a letter, then letters, digits and -", name)
	}
	path := r.getenv("GITHUB_OUTPUT")
	if path == "" {
		return nil
	}
	return appendTo(path, fileCommand(name, r.redact(value), randomWord))
}

// fileCommand returns one entry of the runner's environment files: NAME<<WORD, the value, and WORD
// on a line of its own.
func fileCommand(name, value string, word func() string) string {
	end := "apkgate_" + word()
	for strings.Contains(value, end) {
		end = "apkgate_" + word()
	}
	return name + "<<" + end + "\n" + value + "\n" + end + "\n"
}

func randomWord() string {
	var b [16]byte
	rand.Read(b[:]) // never returns an error (crypto/rand)
	return hex.EncodeToString(b[:])
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("append to the runner's file: %w", err)
	}
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return fmt.Errorf("append to the runner's file: %w", err)
	}
	return f.Close()
}
