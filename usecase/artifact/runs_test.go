package artifact_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/artifact"
)

// runsOf leaves a report's runs, each with a warning of so many bytes, and returns the folder and the
// verdict on them. The file is as small as a history can be that expands so far.
func runsOf(t *testing.T, runs, warning int) (string, gate.Verdict) {
	t.Helper()
	var packed bytes.Buffer
	w, err := runstore.Compress(&packed, artifact.RunsFile)
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 512<<10) // what repeats after it takes next to no room
	for i, r := 0, rand.New(rand.NewPCG(1, 2)); i < len(noise); i++ {
		noise[i] = "0123456789abcdef"[r.IntN(16)]
	}
	text := strings.Repeat(string(noise), warning/len(noise)+1)[:warning]
	var v gate.Verdict
	for i := range runs {
		id := fmt.Sprint("run-", i)
		v.Runs = append(v.Runs, gate.RunVerdict{ID: id})
		if _, err := fmt.Fprintf(w, `{"format":"apkgate.run/1","id":%q,"app":{"package":"com.example.mail"},"scenario":"read-mail","iterations":[{"frames_seen":1}],"warnings":[{"text":"%s"}]}`+"\n", id, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, artifact.RunsFile), packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, v
}

// Runs that are each within the limits, of a file of less than a MiB, may not fill the memory of the
// job that shows them all.
func TestReadRunsRejectsABomb(t *testing.T) {
	t.Parallel()
	dir, v := runsOf(t, 3, 48<<20)
	if info, err := os.Stat(filepath.Join(dir, artifact.RunsFile)); err != nil || info.Size() > 1<<20 {
		t.Fatalf("the file is no bomb: %v, %v", info, err)
	}
	got, err := artifact.ReadRuns(dir, v)
	if err == nil || len(got) > 0 || !strings.Contains(err.Error(), "read the runs of the report: ") || !strings.Contains(err.Error(), "more than the 128 MiB that are allowed") {
		t.Errorf("%d runs of 144 MiB, %v", len(got), err)
	}
}

func TestReadRuns(t *testing.T) {
	t.Parallel()
	dir, v := runsOf(t, 3, 1<<20)
	if got, err := artifact.ReadRuns(dir, v); err != nil || len(got) != 3 || len(got[2].Warnings[0].Text) != 1<<20 {
		t.Errorf("%d runs of 3 MiB, %v", len(got), err)
	}
	if err := os.Truncate(filepath.Join(dir, artifact.RunsFile), 33<<20); err != nil {
		t.Fatal(err)
	}
	if got, err := artifact.ReadRuns(dir, v); err == nil || len(got) > 0 || !strings.Contains(err.Error(), "runs.jsonl.zst has 34603008 bytes, at most 32 MiB are allowed") {
		t.Errorf("%d runs of a file of 33 MiB, %v", len(got), err)
	}
	if got, err := artifact.ReadRuns(t.TempDir(), v); err != nil || len(got) > 0 {
		t.Errorf("%d runs without a file, %v", len(got), err)
	}
}
