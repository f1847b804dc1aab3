package systrace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/systrace"
)

// TestReadRealTraces reads the traces of catapult, the viewer of systraces: every line is
// understood.
func TestReadRealTraces(t *testing.T) {
	t.Parallel()
	folder := corpustest.Path(t, "systrace")
	files, err := os.ReadDir(folder)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		got := corpustest.Read(t, filepath.Join(folder, file.Name()), systrace.Inspect)
		if got.Nothing || len(got.Warnings) > 0 {
			t.Errorf("%s: %+v", file.Name(), got)
		}
	}
}

func TestTableOfACompressedTrace(t *testing.T) {
	t.Parallel()
	for _, name := range systrace.Tables {
		var rows [2][]string
		for i, file := range []string{"catapult_compressed_atrace_data.txt", "catapult_decompressed_atrace_data.txt"} {
			text, err := os.ReadFile(corpustest.Path(t, "systrace", file))
			if err != nil {
				t.Fatal(err)
			}
			rows[i], _ = table(t, string(text), name)
		}
		if diff := cmp.Diff(rows[0], rows[1]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestBinderAgreesWithPerfettosTests compares the durations of transactions.
func TestBinderAgreesWithPerfettosTests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(corpustest.Path(t, "perfetto-expected"), "AndroidParser__binder_*.systrace"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(file, "systrace") + "out")
		if err != nil {
			t.Fatal(err)
		}
		rows, _ := table(t, string(text), "slices")
		got := map[string]bool{}
		for _, row := range rows {
			got[strings.Split(row, "|")[2]] = true
		}
		for _, dur := range strings.Fields(string(want))[1:] {
			if !got[dur] {
				t.Errorf("%s: no slice of %s ns: %q", filepath.Base(file), dur, rows)
			}
		}
		if len(rows) != len(strings.Fields(string(want)))-1 {
			t.Error(fmt.Sprint(filepath.Base(file), rows))
		}
	}
}
