package show_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/cli/show"
	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/art/arttest"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// methodTrace is a main thread that binds an item for 5 ms, as R8 named it.
func methodTrace() arttest.Trace {
	return arttest.Trace{
		Methods: []string{"a.b\tc\t(I)V\tSourceFile\n"}, Threads: map[uint32]string{4711: "main"}, Order: []uint32{4711}, Begin: 1_000_000_000,
		Events: []arttest.Event{{Thread: 4711, Wall: 1_000_000}, {Thread: 4711, Action: 1, Wall: 6_000_000}},
	}
}

// The calls of a method trace are written for three other programs, under the names of the source;
// Perfetto's can be read as a trace.
func TestInspectWritesCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	in := clitest.WriteFile(t, file("start.trace"), string(methodTrace().Streaming(2, "wall")))
	mapping := clitest.WriteFile(t, file("mapping.txt"), "com.example.List -> a.b:\n    void bind(int) -> c\n")
	got := clitest.Run(t, nil, "inspect", "art", in, "--mapping", mapping,
		"--perfetto", file("calls.pftrace"), "--pprof", file("calls.pb.gz"), "--folded", file("calls.folded"))
	if got.Status != 0 || got.Stderr != "" || !strings.Contains(got.Stdout, "1 call of 1 method") {
		t.Fatalf("%+v", got)
	}
	if folded, err := os.ReadFile(file("calls.folded")); err != nil || string(folded) != "main;com.example.List.bind: (I)V 5000\n" {
		t.Errorf("folded: %q, %v", folded, err)
	}
	pb, err := os.Open(file("calls.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer pb.Close()
	if p, err := profile.Parse(pb); err != nil || len(p.Sample) != 1 || p.Sample[0].Value[1] != 5_000_000 || p.Function[0].Name != "com.example.List.bind: (I)V" {
		t.Errorf("pprof: %v, %v", p, err)
	}
	got = clitest.Run(t, nil, "inspect", "perfetto", file("calls.pftrace"), "--table", "slices")
	if got.Status != 0 || !strings.Contains(got.Stdout, "1001000000,5000000,") || !strings.Contains(got.Stdout, "com.example.List.bind: (I)V") {
		t.Errorf("perfetto: %+v", got)
	}
}

func TestInspectRejectsCallsOfOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := clitest.WriteFile(t, filepath.Join(dir, "start.trace"), string(methodTrace().AllCalls(0xffffffff)))
	out := filepath.Join(dir, "out")
	for want, args := range map[string][]string{
		"--pprof is for art, not for perfetto":               {"perfetto", in, "--pprof", out},
		"--folded and --open don't go together":              {"art", in, "--folded", out, "--open"},
		"--mapping is for the files that are written":        {"art", in, "--mapping", in},
		"it is also an input, and would be lost":             {"art", in, "--perfetto", in},
		"two outputs name it":                                {"art", in, "--perfetto", out, "--folded", out},
		"out: the trace has the order of calls and no times": {"art", in, "--perfetto", out},
		"hint: --pprof and --folded count the calls":         {"art", in, "--perfetto", out},
	} {
		got := clitest.Run(t, nil, append([]string{"inspect"}, args...)...)
		if got.Status != 2 || !strings.Contains(got.Stderr, want) {
			t.Errorf("%v: exit status %d, want 2 and %q in\n%s", args, got.Status, want, got.Stderr)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%v: something was written", args)
		}
	}
	if got := clitest.Run(t, nil, "inspect", "art", in, "--folded", out); got.Status != 0 {
		t.Errorf("%+v", got)
	} else if data, err := os.ReadFile(out); err != nil || string(data) != "main;a.b.c: (I)V 1\n" {
		t.Errorf("folded: %q, %v", data, err)
	}
}

// The newest calls of a stream are written when the user ends it, also while it is silent; other
// programs get these alone.
func TestInspectKeepsTheNewestCalls(t *testing.T) {
	t.Parallel()
	a := methodTrace()
	a.Events = nil
	const n = 20_000
	for i := range uint64(n) {
		a.Events = append(a.Events, arttest.Event{Thread: 4711, Wall: i * 10_000}, arttest.Event{Thread: 4711, Action: 1, Wall: i*10_000 + 5000})
	}
	data := a.Streaming(2, "wall")
	dir := t.TempDir()
	kept, folded := filepath.Join(dir, "kept.trace"), filepath.Join(dir, "calls.folded")
	in, adb := io.Pipe()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out, errs bytes.Buffer
	cmd := show.InspectCommand(terminal.Console{Stdin: in, Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }})
	cmd.SetArgs([]string{"art", "-", "--newest", kept, "--folded", folded})
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	for _, part := range [][]byte{data[:len(data)/2], {data[len(data)/2]}} { // the byte is taken when the rest is read
		if _, err := adb.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	interrupt()
	if err := <-ended; err != nil || errs.Len() > 0 {
		t.Fatalf("%v, %s", err, errs.String())
	}
	f, err := os.Open(kept)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	calls := 0
	if _, err := art.Read(f, func(e art.Event) {
		if e.Action == art.Enter {
			calls++
		}
	}); err != nil || calls < 9_000 || calls > 10_100 {
		t.Errorf("%v; half of %d calls are %d", err, n, calls)
	}
	if want := fmt.Sprintf("%d calls of 1 method", calls); !strings.Contains(out.String(), want) {
		t.Errorf("the answer lacks %q:\n%s", want, out.String())
	}
	if text, err := os.ReadFile(folded); err != nil || !strings.HasPrefix(string(text), "main;a.b.c: (I)V ") {
		t.Errorf("folded: %q, %v", text, err)
	}
}

func TestInspectOfNothingToKeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept.trace")
	for want, data := range map[string][]byte{
		"none was read so far":                          []byte("no method trace"),
		"the trace has the order of calls and no times": methodTrace().AllCalls(0xffffffff),
	} {
		in := clitest.WriteFile(t, filepath.Join(dir, "in"), string(data))
		got := clitest.Run(t, nil, "inspect", "art", in, "--newest", kept)
		if _, err := os.Stat(kept); err == nil || got.Status != 2 || !strings.Contains(got.Stderr, want) {
			t.Errorf("exit status %d, written: %v, want 2 and %q in\n%s", got.Status, err == nil, want, got.Stderr)
		}
	}
	got := clitest.Run(t, nil, "inspect", "art", filepath.Join(dir, "in"), "--newest", filepath.Join(dir, "missing", "kept.trace"))
	if got.Status == 0 {
		t.Errorf("%+v", got)
	}
}
