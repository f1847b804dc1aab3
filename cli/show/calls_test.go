package show_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/trace/art/arttest"
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
		"it is read too, and would be lost":                  {"art", in, "--perfetto", in},
		"two things are to be written to it":                 {"art", in, "--perfetto", out, "--folded", out},
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
