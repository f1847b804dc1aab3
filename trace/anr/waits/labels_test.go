package waits_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/anr/waits"
)

// label is a person's reading of a dump (columns: testdata/labels.tsv).
type label struct{ file, from, chain, cycle, kind, on string }

func labels(t *testing.T) []label {
	t.Helper()
	text, err := os.ReadFile("testdata/labels.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []label
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if len(f) != 7 {
			t.Fatalf("%q has %d fields, want 7", line, len(f))
		}
		out = append(out, label{f[0], f[1], f[2], f[3], f[4], f[5]})
	}
	return out
}

// In each real dump the chain is the one that a person read there: the unresponsive thread, those
// that it waits for, the critical one, and the critical frame.
func TestChainsAgreeWithLabels(t *testing.T) {
	files := map[string]bool{}
	for _, l := range labels(t) {
		files[l.file] = true
		t.Run(l.file+" "+l.from, func(t *testing.T) {
			d := corpustest.Read(t, corpustest.Path(t, "anr", l.file), anr.Read)
			var about waits.Subject
			if l.from != "-" {
				pid, name, _ := strings.Cut(l.from, "/")
				about.PID, _ = strconv.Atoi(pid)
				about.Reason = "Blocked in handler on it (" + name + ")"
			}
			chain := waits.Of(d, about)
			if len(chain.Steps) == 0 {
				t.Fatalf("no chain: %v", chain.Warnings)
			}
			critical := chain.Critical()[0]
			on := "-"
			if critical.At >= 0 {
				on, _, _ = strings.Cut(critical.Thread.Frames[critical.At].Name, "(")
			}
			got := label{l.file, l.from, names(chain.Steps), map[bool]string{true: "yes", false: "no"}[chain.Cycle >= 0], critical.Kind, on}
			if got != l {
				t.Errorf("\n got %v\nwant %v", got, l)
			}
		})
	}
	all, err := filepath.Glob(filepath.Join(corpustest.Path(t, "anr"), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if !files[filepath.Base(path)] {
			t.Errorf("%s has no label", path)
		}
	}
}

// names lists the threads of a chain as in testdata/labels.tsv.
func names(steps []waits.Step) string {
	var out []string
	for _, s := range steps {
		out = append(out, fmt.Sprintf("%d/%s", s.Process.PID, s.Thread.Name))
	}
	return strings.Join(out, " > ")
}
