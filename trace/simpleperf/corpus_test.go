package simpleperf_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/trace/simpleperf"
)

// corpus returns the path of a real recording that the repository does not hold.
func corpus(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("APKGATE_CORPUS")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	path := filepath.Join(root, "perfdata", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the corpus of real recordings is not here (APKGATE_CORPUS): %v", err)
	}
	return path
}

func read(t testing.TB, name string) *simpleperf.Profile {
	t.Helper()
	f, err := os.Open(corpus(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	p, err := simpleperf.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// scripted is a sample as simpleperf's report_sample.py has printed it.
type scripted struct {
	comm     string
	pid, tid int
	cpu      int
	micros   int64
	period   uint64
	event    string
	frames   []scriptedFrame
}

type scriptedFrame struct {
	address      uint64
	symbol, file string
}

var (
	scriptHead  = regexp.MustCompile(`^(.*)\t(\d+)/(\d+) \[(\d+)\] (\d+)\.(\d{6}): (\d+) (.*):$`)
	scriptFrame = regexp.MustCompile(`^\s+([0-9a-f]+) (.*) \((.*)\)$`)
)

func readScript(t *testing.T, name string) []scripted {
	t.Helper()
	data, err := os.ReadFile(corpus(t, name))
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var out []scripted
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if m := scriptHead.FindStringSubmatch(line); m != nil {
			out = append(out, scripted{
				comm: m[1], pid: int(number(m[2])), tid: int(number(m[3])), cpu: int(number(m[4])),
				micros: number(m[5])*1e6 + number(m[6]), period: uint64(number(m[7])), event: m[8],
			})
		} else if m := scriptFrame.FindStringSubmatch(line); m != nil {
			address, err := strconv.ParseUint(m[1], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			last := &out[len(out)-1]
			last.frames = append(last.frames, scriptedFrame{address, m[2], m[3]})
		} else if line != "" {
			t.Fatalf("%s: what is %q?", name, line)
		}
	}
	return out
}

// TestAgainstSimpleperfScript compares every sample, and every frame of every
// sample, with what simpleperf itself printed of the recording. C++ names are
// printed demangled: the test asks that each mangled name stands for one
// printed name.
func TestAgainstSimpleperfScript(t *testing.T) {
	t.Parallel()
	p := read(t, "testdata/perf_display_bitmaps.data")
	ui := 0
	for _, s := range p.Samples {
		if p.Threads[s.Thread].TID == 31850 {
			ui++
		}
	}
	if want := len(readScript(t, "testdata/perf_display_bitmaps.UiThread.perf-script")); ui != want {
		t.Errorf("%d samples of the main thread, simpleperf printed %d", ui, want)
	}
	want := readScript(t, "testdata/perf_display_bitmaps.perf-script")
	if len(p.Samples) != len(want) {
		t.Fatalf("%d samples, simpleperf printed %d", len(p.Samples), len(want))
	}
	printed := map[string]string{}
	frames := 0
	for i, s := range p.Samples {
		w := want[i]
		th := p.Threads[s.Thread]
		got := scripted{
			comm: th.Name, pid: th.PID, tid: th.TID, cpu: s.CPU, micros: s.Time.Microseconds(),
			period: s.Period, event: p.Events[s.Event].Name,
		}
		w.frames = nil
		if !reflect.DeepEqual(got, w) {
			t.Fatalf("sample %d is %+v, simpleperf printed %+v", i, got, w)
		}
		chain := p.Visible(s.Chain)
		frames += len(chain)
		if len(chain) != len(want[i].frames) {
			t.Fatalf("sample %d has %d frames, simpleperf printed %d", i, len(chain), len(want[i].frames))
		}
		for depth, at := range chain {
			f := want[i].frames[depth]
			compareFrame(t, i, p.Frames[at], f, printed)
			if got := p.Frames[at].Address; got != f.address {
				t.Errorf("sample %d: frame at %x, simpleperf printed %x", i, got, f.address)
			}
		}
	}
	if frames < 16_000 || len(printed) < 700 {
		t.Errorf("only %d frames with %d C++ names were compared", frames, len(printed))
	}
}

// javaSignature is "void a.b.run(int)".
var javaSignature = regexp.MustCompile(`^(?:.* )?([^ ]+)\(.*\)$`)

func compareFrame(t *testing.T, sample int, got simpleperf.Frame, want scriptedFrame, printed map[string]string) {
	t.Helper()
	if got.Kind == simpleperf.Unknown {
		got.File, got.Offset = "unknown", got.Address
	}
	// simpleperf prints for a method that was compiled while it ran the file and
	// the name of its code before that, where the recording has it.
	switch got.Kind {
	case simpleperf.JIT:
		if want.file != got.File && want.file != "[JIT cache]" {
			got.Symbol = javaSignature.ReplaceAllString(got.Symbol, "$1")
		}
	default:
		if got.File != want.file {
			t.Errorf("sample %d: frame %q of %q, simpleperf printed %q of %q", sample, got.Symbol, got.File, want.symbol, want.file)
		}
	}
	name := got.Symbol
	switch {
	case name == "":
		name = fmt.Sprintf("%s[+%x]", filepath.Base(got.File), got.Offset)
	case strings.HasPrefix(name, "_Z"):
		if seen, ok := printed[name]; ok {
			name = seen
		} else {
			printed[name] = want.symbol
			name = want.symbol
		}
	}
	if name != want.symbol {
		t.Errorf("sample %d: frame %q, simpleperf printed %q", sample, name, want.symbol)
	}
}

// gecko is the part of Firefox's profile format that simpleperf's
// gecko_profile_generator.py fills in.
type gecko struct {
	Threads []struct {
		Name        string
		TID, PID    int
		StringTable []string
		Samples     struct{ Data [][]float64 }
		StackTable  struct{ Data [][]*int }
		FrameTable  struct{ Data [][]json.RawMessage }
	}
}

var geckoName = regexp.MustCompile(`^(.*) \(in (.*)\)$`)

// stacks are the stacks of a thread of the profile, the innermost frame first.
func (g gecko) stacks(t *testing.T, thread int) [][]scriptedFrame {
	t.Helper()
	th := g.Threads[thread]
	var out [][]scriptedFrame
	for _, s := range th.Samples.Data {
		var stack []scriptedFrame
		for at := new(int(s[0])); at != nil; at = th.StackTable.Data[*at][0] {
			var name int
			if err := json.Unmarshal(th.FrameTable.Data[*th.StackTable.Data[*at][1]][0], &name); err != nil {
				t.Fatal(err)
			}
			m := geckoName.FindStringSubmatch(th.StringTable[name])
			stack = append(stack, scriptedFrame{symbol: m[1], file: m[2]})
		}
		out = append(out, stack)
	}
	return out
}

// TestAgainstSimpleperfGecko compares threads and stacks with the profiles that
// simpleperf made for Firefox.
func TestAgainstSimpleperfGecko(t *testing.T) {
	t.Parallel()
	for name, samples := range map[string]int{"perf_with_interpreter_frames": 4032, "perf_with_tracepoint_event": 45} {
		data, err := os.ReadFile(corpus(t, "script_testdata/"+name+".gecko.json"))
		if err != nil {
			t.Fatal(err)
		}
		var g gecko
		if err := json.Unmarshal(data, &g); err != nil {
			t.Fatal(err)
		}
		p := read(t, "testdata/"+name+".data")
		if len(p.Samples) != samples {
			t.Errorf("%s: %d samples, want %d", name, len(p.Samples), samples)
		}
		chains := map[int][][]uint32{}
		names := map[int]string{}
		for _, s := range p.Samples {
			th := p.Threads[s.Thread]
			chains[th.TID] = append(chains[th.TID], p.Visible(s.Chain))
			names[th.TID] = th.Name
		}
		if len(chains) != len(g.Threads) {
			t.Errorf("%s: %d threads, simpleperf has %d", name, len(chains), len(g.Threads))
		}
		printed := map[string]string{}
		for i, th := range g.Threads {
			want := g.stacks(t, i)
			got := chains[th.TID]
			if len(got) != len(want) || names[th.TID] != th.Name {
				t.Errorf("%s: thread %d %q has %d samples, in simpleperf %q %d", name, th.TID, names[th.TID], len(got), th.Name, len(want))
				continue
			}
			for j := range want {
				if len(got[j]) != len(want[j]) {
					t.Errorf("%s: sample %d of thread %d has %d frames, in simpleperf %d", name, j, th.TID, len(got[j]), len(want[j]))
					continue
				}
				for depth, at := range got[j] {
					compareFrame(t, j, p.Frames[at], want[j][depth], printed)
				}
			}
		}
	}
}
