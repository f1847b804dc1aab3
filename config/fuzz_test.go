package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Whatever the file contains, Load either decodes it or says where the problem is, in printable
// text; and what it decodes can be encoded and decoded again.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/wrong/*.yml", "testdata/valid/*.yml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Add([]byte("app: {package: a.b}\nscenarios: [{name: a, workload: {monkey: {events: 1}}}]\nstore: {branch: origin}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		c, err := Load("apkgate.yml", src, Options{})
		if err == nil {
			readsAgain(t, c)
			return
		}
		var ps Problems
		if !errors.As(err, &ps) || len(ps) == 0 {
			t.Fatalf("the error is no Problems: %#v", err)
		}
		lines := splitLines(bytes.TrimPrefix(src, []byte("\uFEFF")))
		for _, p := range ps {
			if p.Line == 0 {
				continue // of the whole file
			}
			if p.Line > len(lines) || p.Column < 1 || p.Column > utf8.RuneCountInString(lines[p.Line-1])+1 {
				t.Errorf("the file has no place %d:%d: %s", p.Line, p.Column, p)
			}
			for _, r := range p.String() + p.Hint {
				if r < ' ' || r == 0x7f {
					t.Errorf("the problem holds the control character %q: %q", r, p.String())
				}
			}
		}
	})
}

func readsAgain(t *testing.T, c *Config) {
	t.Helper()
	src, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load("apkgate.yml", src, Options{}); err != nil {
		t.Errorf("written and read again: %v\n%s", err, src)
	}
}
