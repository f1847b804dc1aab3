package simpleperf_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// corpus returns the path of a real recording outside the repository.
func corpus(t testing.TB, name string) string {
	t.Helper()
	return corpustest.Path(t, "perfdata", name)
}

func read(t testing.TB, name string) *simpleperf.Profile {
	t.Helper()
	return corpustest.Read(t, corpus(t, name), simpleperf.Read)
}

// scripted is a sample as printed by simpleperf's report_sample.py.
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

// TestAgainstSimpleperfScript compares every sample, and every frame of every sample, with
// simpleperf's own output for the recording. C++ names are printed demangled: each mangled name
// must correspond to one printed name.
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
	// For a method compiled at run time simpleperf prints the file and the name of its bytecode, if
	// the recording has it.
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

// gecko is the part of Firefox's profile format that simpleperf's gecko_profile_generator.py fills
// in.
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

// stacks returns the stacks of a thread of the profile, the innermost frame first.
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

// TestAgainstSimpleperfGecko compares threads and stacks with the profiles that simpleperf
// generated for Firefox.
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

// TestCorpusCounts compares counts with those of another reader, Linux perf 6.1, `perf report
// --stats -i FILE`, for the recordings that it can read.
func TestCorpusCounts(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		samples, mappings, comms int
		event                    string
	}{
		"testdata/generated_by_linux_perf.data":                    {156, 114 + 13090, 3039, "cycles"},
		"testdata/perf_b.data":                                     {150, 131, 1, "cpu-cycles"},
		"testdata/perf_display_bitmaps.data":                       {525, 31 + 1480, 25, "cpu-clock"},
		"testdata/perf_g_fp.data":                                  {10, 131, 1, "cpu-cycles"},
		"testdata/perf_merge2.data":                                {31, 1 + 210, 2, "cpu-cycles"},
		"testdata/perf_need_proguard_mapping.data":                 {1, 73, 0, "cpu-cycles"},
		"testdata/perf_unwind_embedded_lib_in_apk.data":            {1, 1 + 1390, 21, "cpu-cycles"},
		"testdata/perf_with_arm_regs.data":                         {1, 70, 0, "cpu-cycles"},
		"testdata/perf_with_generic_git_symbols.data":              {60, 39 + 129, 2, "task-clock:u"},
		"testdata/perf_with_interpreter_frames.data":               {4032, 972 + 195, 17, "cpu-cycles"},
		"testdata/perf_with_ip_zero_in_callchain.data":             {1, 0, 0, "cache-misses"},
		"testdata/perf_with_kernel_symbols_available_false.data":   {205, 972 + 4, 15, "cpu-cycles"},
		"testdata/perf_with_kernel_symbols_available_true.data":    {228, 972 + 14, 17, "cpu-cycles"},
		"testdata/perf_with_multiple_pids_and_tids.data":           {533, 147, 2, "cpu-cycles"},
		"testdata/perf_with_symbols.data":                          {935, 6, 1, "cpu-cycles"},
		"testdata/perf_with_symbols_for_nonzero_minvaddr_dso.data": {317, 8, 1, "cpu-cycles"},
		"testdata/perf_with_two_event_types.data":                  {10, 153, 3, "cpu-cycles"},
		"script_testdata/aggregatable_perf1.data":                  {13452, 1 + 1411, 21, "cpu-cycles"},
		"script_testdata/aggregatable_perf2.data":                  {13150, 1 + 1383, 21, "cpu-cycles"},
		"script_testdata/two_process_perf.data":                    {271, 14 + 54, 2, "cpu-cycles:u"},
	} {
		p := read(t, name)
		if len(p.Samples) != want.samples || p.Records["mmap"]+p.Records["mmap2"] != want.mappings ||
			p.Records["comm"] != want.comms || p.Events[0].Name != want.event {
			t.Errorf("%s: %d samples of %q, records %v; want %+v", name, len(p.Samples), p.Events[0].Name, p.Records, want)
		}
	}
}

// TestCorpusHasNoOtherWarnings reads every file: one that is no recording is reported as such, and the
// others have no warnings except that some lack symbols.
func TestCorpusHasNoOtherWarnings(t *testing.T) {
	t.Parallel()
	root := corpus(t, "")
	recordings := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		p, err := simpleperf.Read(bytes.NewReader(data))
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(data, []byte("PERFILE2")) {
			if p.Source != simpleperf.Nothing || len(p.Warnings) != 1 {
				t.Errorf("%s: source %q, warnings %v", path, p.Source, p.Warnings)
			}
			return nil
		}
		recordings++
		for _, w := range p.Warnings {
			if !strings.Contains(w.Text, "symbols") {
				t.Errorf("%s: %s", path, w)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if recordings < 32 {
		t.Errorf("only %d recordings in the corpus", recordings)
	}
}

// TestAgainstSimpleperfFolded compares the sums of periods with the folded stacks of simpleperf's
// stackcollapse.py, for each event.
func TestAgainstSimpleperfFolded(t *testing.T) {
	t.Parallel()
	p := read(t, "testdata/perf_with_two_event_types.data")
	for event, name := range map[string]string{"cpu-cycles": "", "cpu-clock": "_cpu_clock"} {
		data, err := os.ReadFile(corpus(t, "testdata/perf_with_two_event_types.foldedstack"+name))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(string(data))
		sums := map[string]uint64{}
		for _, s := range p.Samples {
			if p.Events[s.Event].Name == event {
				sums[p.Threads[s.Thread].Name] += s.Period
			}
		}
		var got []string
		for _, thread := range slices.Sorted(maps.Keys(sums)) {
			got = append(got, thread, strconv.FormatUint(sums[thread], 10))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, simpleperf printed %q", event, got, want)
		}
	}
}

// TestAgainstSimpleperfsOwnTests has the expectations of AOSP's report_lib_test.py about the
// recording: a build id, a sample and a function.
func TestAgainstSimpleperfsOwnTests(t *testing.T) {
	t.Parallel()
	p := read(t, "testdata/perf_with_symbols.data")
	want := simpleperf.BuildID{File: "/data/t2", ID: "70f1fe24500fc8b0d9eb477199ca1ca21acca4de"}
	if !slices.Contains(p.BuildIDs, want) {
		t.Errorf("build ids %v, want %v among them", p.BuildIDs, want)
	}
	for _, s := range p.Samples {
		if f := p.Frames[s.Chain[0]]; s.Time == 7637889424953 {
			if f.Address != 0x4004ff || f.Symbol != "_Z5func2ii" || f.File != "/data/t2" {
				t.Errorf("the sample is at %+v", f)
			}
			return
		}
	}
	t.Error("the sample of 7637889424953 ns is missing")
}

func TestCPUTimeOfARealRecording(t *testing.T) {
	t.Parallel()
	f, err := os.Open(corpus(t, "testdata/perf_display_bitmaps.data"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	seen, err := simpleperf.Inspect(f)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for _, s := range readScript(t, "testdata/perf_display_bitmaps.perf-script") {
		want += float64(s.period) / 1e6
	}
	if got := seen.Metrics["cpu.time_ms"]; math.Abs(got-want) > 1e-6 {
		t.Errorf("cpu.time_ms %g, the periods that simpleperf printed add up to %g", got, want)
	}
}

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"testdata/perf_with_interpreter_frames.data", "script_testdata/aggregatable_perf1.data"} {
		data, err := os.ReadFile(corpus(b, name))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Base(name), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := simpleperf.Read(bytes.NewReader(data)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
