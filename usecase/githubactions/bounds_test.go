package githubactions_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/usecase/artifact"
)

// A few bytes of JSON can become hundreds in memory: 32 MiB of a stranger's must not become
// gigabytes.
func TestReadFolderLimitsMemory(t *testing.T) {
	const verdict = 32<<20 - 1024
	open := `{"format":"apkgate.verdict/1","verdict":"pass","runs":[{"id":"a","verdict":"pass","comparisons":[`
	for name, c := range map[string]struct{ open, each, shut, says string }{
		"empty objects":          {open, `{},`, `{}]}]}`, "elements"},
		"null":                   {open, `null,`, `{}]}]}`, "elements"},
		"numbers":                {open, `0,`, `{}]}]}`, "elements"},
		"strings":                {open, `"",`, `{}]}]}`, "elements"},
		"blanks between":         {open, "{ } ,\n", `{}]}]}`, "elements"},
		"a list called sample":   {open + `{"sample":[0],"x":[`, `{},`, `{}]}]}]}`, "elements"},
		"runs":                   {`{"format":"apkgate.verdict/1","verdict":"pass","runs":[`, `{},`, `{}]}`, "elements"},
		"members":                {`{"format":"apkgate.verdict/1","verdict":"pass","runs":[{"context":{`, `"":"",`, `"":""}}]}`, "members"},
		"depth":                  {open, `[`, ``, "deep"},
		"a name that is escaped": {open + `{"s\u0061mple":[0],"x":[`, `{},`, `{}]}]}]}`, "elements"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var b bytes.Buffer
			b.WriteString(c.open)
			for b.Len() < verdict-len(c.shut)-len(c.each) {
				b.WriteString(c.each)
			}
			b.WriteString(c.shut)
			if err := os.WriteFile(filepath.Join(dir, "verdict.json"), b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := artifact.ReadFolder(dir)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want one about %s", err, c.says)
			}
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 300 {
				t.Errorf("reading 32 MiB took %d MiB", took)
			}
		})
	}
}

// A verdict that is nearly as large as allowed is read: many runs of two hundred comparisons, and a
// hundred samples for each that is worse.
func TestReadFolderOfALargeLab(t *testing.T) {
	in := worse(50)
	for i := range in.Verdict.Runs[0].Deviations {
		for n := range 100 {
			in.Verdict.Runs[0].Deviations[i].Sample = append(in.Verdict.Runs[0].Deviations[i].Sample, float64(n))
		}
	}
	first := in.Verdict.Runs[0]
	for range 3 {
		first.Comparisons = append(first.Comparisons, fine().Verdict.Runs[0].Comparisons...)
		for i := range 50 {
			c := fine().Verdict.Runs[0].Comparisons[0]
			c.Event = fmt.Sprint("event ", i)
			first.Comparisons = append(first.Comparisons, c)
		}
	}
	in.Verdict.Runs = in.Verdict.Runs[:0]
	for i := range 180 {
		r := first
		r.ID = fmt.Sprint("run ", i)
		if i > 0 {
			r.Deviations = nil
		}
		in.Verdict.Runs = append(in.Verdict.Runs, r)
	}
	dir := t.TempDir()
	var b bytes.Buffer
	if err := saved.Render(&b, layout.Verdict(in), document.Options{}); err != nil {
		t.Fatal(err)
	}
	if b.Len() < 20<<20 || b.Len() > 32<<20 {
		t.Fatalf("the verdict has %d bytes, want nearly what an artifact may have", b.Len())
	}
	if err := os.WriteFile(filepath.Join(dir, "verdict.json"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := artifact.ReadFolder(dir); err != nil {
		t.Errorf("%d bytes: %v", b.Len(), err)
	}
}
