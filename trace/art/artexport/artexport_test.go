package artexport_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/art/artexport"
	"github.com/apkgate/apkgate/trace/art/arttest"
	"github.com/apkgate/apkgate/trace/perfetto/tables/tablestest"
	"github.com/apkgate/apkgate/trace/r8map"
)

const us = 1000 // ns

// app is 10 ms of a main thread that binds two items, one of which decodes an image, and of a
// worker that still runs.
func app() arttest.Trace {
	event := func(tid uint32, method, action int, wall, cpu uint64) arttest.Event {
		return arttest.Event{Thread: tid, Method: method, Action: action, Wall: wall * us, CPU: cpu * us}
	}
	return arttest.Trace{
		Methods: []string{"a.b\tc\t(I)V\tSourceFile\n", "com.example.Image\tdecode\t()V\tImage.java\n", "com.example.Sync\trun\t()V\tSync.java\n"},
		Threads: map[uint32]string{4711: "main", 4720: "worker"},
		Order:   []uint32{4711, 4720},
		Begin:   7_000_000 * us,
		Events: []arttest.Event{
			event(4711, 0, 0, 1000, 0), event(4711, 1, 0, 2000, 500), event(4720, 2, 0, 2500, 0), event(4711, 1, 1, 5000, 1500), event(4711, 0, 1, 6000, 2000),
			event(4711, 0, 0, 7000, 2100), event(4711, 0, 2, 10000, 2200), event(4720, 2, 0, 9000, 300),
		},
	}
}

func open(t *testing.T, data []byte, mapping string) *artexport.Source {
	t.Helper()
	var names *r8map.Map
	if mapping != "" {
		var err error
		if names, err = r8map.Read(strings.NewReader(mapping)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := artexport.Open(bytes.NewReader(data), names)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const mapping = "com.example.List -> a.b:\n    void bind(int) -> c\n"

func TestFolded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if warnings, err := open(t, app().Streaming(3, "dual"), mapping).Folded(&out); err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	want := []string{
		"main;com.example.List.bind: (I)V 5000",
		"main;com.example.List.bind: (I)V;com.example.Image.decode: ()V 3000",
		// The first call runs until the thread's last event; the second, within it, began there.
		"worker;com.example.Sync.run: ()V 6500",
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the stacks are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What separates frames is in no frame.
func TestFoldedNamesHaveNoSeparators(t *testing.T) {
	t.Parallel()
	a := app()
	a.Methods[1] = "com.example.Image\tdecode\t(Ljava/lang/String;)V\tImage.java\n"
	a.Threads[4720] = "a;b"
	var out bytes.Buffer
	if _, err := open(t, a.Streaming(2, "wall"), "").Folded(&out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if n := strings.Count(line, ";"); n > 2 {
			t.Errorf("%q has %d separators, want 2 at most", line, n)
		}
	}
	if !strings.Contains(out.String(), "a,b;com.example.Sync.run") || !strings.Contains(out.String(), "(Ljava/lang/String,)V 3000") {
		t.Errorf("the stacks are\n%s", out.String())
	}
}

func TestPprof(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if warnings, err := open(t, app().Streaming(3, "dual"), mapping).Pprof(&out, "com.example"); err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	p, err := profile.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, s := range p.SampleType {
		types = append(types, s.Type+"/"+s.Unit)
	}
	if want := []string{"calls/count", "wall/nanoseconds", "cpu/nanoseconds"}; !slices.Equal(types, want) || p.DefaultSampleType != "wall" || p.Mapping[0].File != "com.example" {
		t.Errorf("the types are %v, %s first, of %s", types, p.DefaultSampleType, p.Mapping[0].File)
	}
	got := map[string][]int64{}
	for _, s := range p.Sample {
		stack := s.Label["thread"][0]
		for _, l := range slices.Backward(s.Location) {
			stack += " > " + l.Line[0].Function.Name
		}
		got[stack] = s.Value
	}
	want := map[string][]int64{
		"main > com.example.List.bind: (I)V":                                 {2, 5_000_000, 1_100_000},
		"main > com.example.List.bind: (I)V > com.example.Image.decode: ()V": {1, 3_000_000, 1_000_000},
		"worker > com.example.Sync.run: ()V":                                 {1, 6_500_000, 300_000},
		"worker > com.example.Sync.run: ()V > com.example.Sync.run: ()V":     {1, 0, 0},
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the samples are\n%v\nwant\n%v", got, want)
	}
}

// A trace without a clock has counts of calls, and no slices.
func TestTraceWithoutAClock(t *testing.T) {
	t.Parallel()
	a := app()
	s := open(t, a.AllCalls(0xffffffff), "")
	if _, err := s.Perfetto(io.Discard); !errors.Is(err, artexport.ErrNoTimes) {
		t.Errorf("as slices: %v", err)
	}
	var out bytes.Buffer
	if _, err := s.Folded(&out); err != nil || !strings.Contains(out.String(), "main;a.b.c: (I)V 2\n") {
		t.Errorf("%v; the stacks are\n%s", err, out.String())
	}
	out.Reset()
	if _, err := s.Pprof(&out, ""); err != nil {
		t.Fatal(err)
	}
	if p, err := profile.Parse(&out); err != nil || len(p.SampleType) != 1 || p.DefaultSampleType != "calls" {
		t.Errorf("%v: %v", p, err)
	}
}

const slicesSQL = `select s.ts, s.dur, s.name, s.depth, t.tid, t.name as thread from slice s
	join thread_track tt on s.track_id = tt.id join thread t using (utid) order by t.tid, s.ts, s.depth, s.id`

// asPerfetto writes a trace for Perfetto to a file, and the original to another.
func asPerfetto(t *testing.T, data []byte) (exported, original string) {
	t.Helper()
	var out bytes.Buffer
	if warnings, err := open(t, data, "").Perfetto(&out); err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	folder := t.TempDir()
	exported, original = filepath.Join(folder, "exported.pftrace"), filepath.Join(folder, "original.trace")
	for path, data := range map[string][]byte{exported: out.Bytes(), original: data} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return exported, original
}

// Perfetto's engine reads what is exported: slices with their times, threads and depths.
func TestPerfettoReadsTheExport(t *testing.T) {
	t.Parallel()
	exported, _ := asPerfetto(t, app().Streaming(3, "dual"))
	var got []string
	for _, row := range tablestest.Query(t, exported, slicesSQL) {
		got = append(got, strings.Join([]string{row["thread"], row["tid"], row["depth"], row["name"], row["ts"], row["dur"]}, " "))
	}
	want := []string{
		"main 4711 0 a.b.c: (I)V 7001000000 5000000", "main 4711 1 com.example.Image.decode: ()V 7002000000 3000000", "main 4711 0 a.b.c: (I)V 7007000000 3000000",
		"worker 4720 0 com.example.Sync.run: ()V 7002500000 -1", "worker 4720 1 com.example.Sync.run: ()V 7009000000 -1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the slices are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Of a real trace, Perfetto's engine finds the same slices in the export and in the original, in
// which methods that the file does not name have no name at all.
func TestPerfettoReadsTheSameInBoth(t *testing.T) {
	t.Parallel()
	f, err := os.Open(corpustest.Path(t, "arttrace", "firefox_art-trace-regular.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	exported, original := asPerfetto(t, data)
	const totals = `select count(*) as slices, count(distinct case when name glob 'method 0x*' then null else name end) as names,
		max(dur) as longest, sum(dur) as total, sum(depth) as depths, min(ts) as first from slice`
	got, want := tablestest.Query(t, exported, totals), tablestest.Query(t, original, totals)
	if len(got) != 1 || len(want) != 1 || !maps.Equal(got[0], want[0]) || got[0]["slices"] != "6777" || got[0]["names"] != "2049" {
		t.Errorf("exported %v, original %v", got, want)
	}
}

// Names and times alone: what an app put into names at run time is in no output.
func TestNoValuesAreExported(t *testing.T) {
	t.Parallel()
	a := app()
	a.Methods = []string{
		"android.os.Trace\tbeginSection user=alice@example.com\t()V\tTrace.java\n",
		"load https://example.com/?token=s3cret\tsection\t()V\tTrace.java\n",
		"com.example.Sync\trun\t(id=0815)V\t/data/user/0/alice.db\n",
	}
	a.Threads[4720] = "OkHttp https://example.com/alice"
	var all bytes.Buffer
	for name, data := range map[string][]byte{"streaming": a.Streaming(2, "wall"), "text": a.Text(2, "wall"), "V2": a.V2Time(4, false, 1_000_000_000)} {
		s := open(t, data, "")
		for _, write := range []func(io.Writer) error{
			func(w io.Writer) error { _, err := s.Folded(w); return err },
			func(w io.Writer) error { _, err := s.Perfetto(w); return err },
			func(w io.Writer) error {
				var packed bytes.Buffer
				if _, err := s.Pprof(&packed, ""); err != nil {
					return err
				}
				z, err := gzip.NewReader(&packed)
				if err == nil {
					_, err = io.Copy(w, z)
				}
				return err
			},
		} {
			if err := write(&all); err != nil {
				t.Fatal(err)
			}
		}
		for _, value := range []string{"alice", "s3cret", "token", "0815", "example.com/", "https"} {
			if strings.Contains(all.String(), value) {
				t.Errorf("%s: %q is exported", name, value)
			}
		}
		if !strings.Contains(all.String(), "com.example.Sync.run") || !strings.Contains(all.String(), "OkHttp …") {
			t.Errorf("%s: the code's own names are missing:\n%s", name, all.String())
		}
	}
}
