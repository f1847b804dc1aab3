package show_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// oneFrame is a Perfetto trace with a frame whose layer has a name that CSV must quote.
func oneFrame() []byte {
	put := func(m []byte, field protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
	}
	num := func(m []byte, field protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
	}
	frame := put(num(num(num(num(nil, 1, 3), 2, 7), 3, 77), 4, 100), 5, []byte("a,\"b\"\x1b[31m"))
	at := func(ns uint64, kind protowire.Number, data []byte) []byte {
		return put(nil, 1, put(num(nil, 8, ns), 76, put(nil, kind, data)))
	}
	return append(at(1000, 4, frame), at(3500, 5, num(nil, 1, 3))...)
}

func TestInspectPrintsATable(t *testing.T) {
	t.Parallel()
	path := oneFrameFile(t)
	got := clitest.Run(t, nil, "inspect", "perfetto", path, "--table", "frames")
	lines := strings.Split(got.Stdout, "\n")
	if got.Status != exit.StatusPass || len(lines) != 3 || !strings.HasPrefix(lines[0], "track_type,ts,dur,pid,name,layer_name,") {
		t.Fatalf("%+v", got)
	}
	if want := `android_actual_frame_timeline,1000,2500,100,7,"a,""b""`; !strings.HasPrefix(lines[1], want) || strings.Contains(lines[1], "\x1b") {
		t.Errorf("%q, want it to begin with %q", lines[1], want)
	}
	piped := clitest.Run(t, bytes.NewReader(oneFrame()), "inspect", "perfetto", "-", "--table", "frames", "--format", "json")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(piped.Stdout), &rows); err != nil || len(rows) != 1 {
		t.Fatalf("%v: %+v", err, piped)
	}
	if rows[0]["dur"] != 2500.0 || rows[0]["layer_name"] != "a,\"b\"\x1b[31m" || rows[0]["surface_frame_token"] != 7.0 {
		t.Errorf("%v", rows[0])
	}
	if empty := clitest.Run(t, nil, "inspect", "perfetto", path, "--table", "sched", "--format", "json"); empty.Stdout != "[]\n" {
		t.Errorf("%q", empty.Stdout)
	}
}

func TestInspectPrintsTablesOfATextTrace(t *testing.T) {
	t.Parallel()
	text := " app-7 (  7) [000] d..2 1.500000: tracing_mark_write: B|7|load\n app-7 (  7) [000] d..2 1.750000: tracing_mark_write: E|7\n"
	got := clitest.Run(t, strings.NewReader(text), "inspect", "systrace", "-", "--table", "slices")
	want := "id,ts,dur,name,category,depth,parent_id,track_id,track_type,track_name,tid,pid\n0,1500000000,250000000,load,,0,,0,thread_execution,,7,7\n"
	if got.Status != exit.StatusPass || got.Stdout != want || got.Stderr != "" {
		t.Errorf("%+v", got)
	}
	clitest.Refuses(t, clitest.Run(t, strings.NewReader(text), "inspect", "systrace", "-", "--table", "frames"), "no table", "slices")
	if summed := clitest.Run(t, strings.NewReader(text), "inspect", "systrace", "-", "--format", "json"); !strings.Contains(summed.Stdout, `"tracing_mark_write": 2`) {
		t.Errorf("%+v", summed)
	}
}

// TestInspectKeepsBlanks has a slice whose name has blanks, a tab and control characters, none of
// which is replaced.
func TestInspectKeepsBlanks(t *testing.T) {
	t.Parallel()
	text := " app-7 (  7) [000] d..2 1.500000: tracing_mark_write: B|7|  a  b\t##[c\x1b\x1b d\n"
	got := clitest.Run(t, strings.NewReader(text), "inspect", "systrace", "-", "--table", "slices")
	want := "id,ts,dur,name,category,depth,parent_id,track_id,track_type,track_name,tid,pid\n0,1500000000,-1,\"  a  b # #[c\uFFFD\uFFFD d\",,0,,0,thread_execution,,7,7\n"
	if got.Status != exit.StatusPass || got.Stdout != want {
		t.Errorf("%q, want %q", got.Stdout, want)
	}
}

func TestInspectRejectsUnknownTables(t *testing.T) {
	t.Parallel()
	path := oneFrameFile(t)
	clitest.Refuses(t, clitest.Run(t, nil, "inspect", "perfetto", path, "--table", "thread"), "no table", "threads")
	clitest.Refuses(t, clitest.Run(t, nil, "inspect", "logcat", path, "--table", "threads"), "logcat has no tables")
	clitest.Refuses(t, clitest.Run(t, nil, "inspect", "perfetto", path, "--table", "threads", "--format", "text"), "csv")
}

// The table of a file that is no trace is empty, which must not pass for a trace without rows.
func TestInspectFailsOnATableOfNoTrace(t *testing.T) {
	t.Parallel()
	text := "# tracer: nop\n app-7 (  7) [000] d..2 1.500000: tracing_mark_write: E|7\n"
	for name, c := range map[string]struct{ reader, content, said string }{
		"a text given as packets": {"perfetto", text, "which the reader systrace reads"},
		"packets given as text":   {"systrace", string(oneFrame()), "which the reader perfetto reads"},
		"JSON given as text":      {"systrace", `{"traceEvents":[]}`, "JSON are not read"},
		"nothing":                 {"perfetto", "", "the file is empty"},
		"nothing given as text":   {"systrace", "", "the file is empty"},
	} {
		path := clitest.WriteFile(t, filepath.Join(t.TempDir(), "trace"), c.content)
		got := clitest.Run(t, nil, "inspect", c.reader, path, "--table", "slices", "--format", "json")
		if got.Status != exit.StatusUsage || got.Stdout != "[]\n" || !strings.Contains(got.Stderr, c.said) ||
			!strings.Contains(got.Stderr, "nothing in it can be read as "+c.reader) || !strings.Contains(got.Stderr, "hint: "+c.reader+" reads") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// oneFrameFile is a file of that trace.
func oneFrameFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.pftrace")
	if err := os.WriteFile(path, oneFrame(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A flag of another answer is rejected, and not ignored.
func TestInspectRejectsOtherFlags(t *testing.T) {
	path := filepath.Join(t.TempDir(), "frames.pftrace")
	clitest.WriteFile(t, path, string(oneFrame()))
	clitest.Refuses(t, clitest.Run(t, nil, "inspect", "perfetto", path, "--from-ms", "12000", "--to-ms", "13000"), "--from-ms is for --open alone")
	clitest.Refuses(t, clitest.Run(t, nil, "inspect", "perfetto", path, "--open", "--from-ms", "12000"), "--from-ms and --to-ms go together")
	clitest.Refuses(t, clitest.Run(t, nil, "inspect", "perfetto", path, "--open", "--table", "frames"), "--table is not for it")
	clitest.Refuses(t, clitest.Run(t, nil, "inspect", "perfetto", path, "--open", "--format", "json"), "--format is not for it")
}
