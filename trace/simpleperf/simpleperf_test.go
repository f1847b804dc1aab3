package simpleperf_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/apkgate/apkgate/trace/simpleperf"
)

var taskAndSwitch = [][]byte{attr(1, 1, 0), attr(2, 47, 1<<5)} // task-clock; a tracepoint of user space

// small are the records of a made-up app: a library, dex code and the kernel are mapped; two
// threads run, the second under two names.
func small() []byte {
	const contextKernel, contextUser = ^uint64(127), ^uint64(511)
	return bytes.Join([][]byte{
		mmap2(kernel, 0, 0xffffff0000000000, 0x100000, 0, 0, "[kernel.kallsyms]_stext"),
		comm(10, 10, "example.app"),
		mmap2(user, 10, 0x7000000000, 0x10000, 0x4000, 5, "/data/app/libgame.so"),
		mmap2(user, 10, 0x7100000000, 0x10000, 0x1000, 5, "/data/app/base.vdex"),
		// Half of the library is covered by another mapping: the file offset of the rest stays.
		mmap2(user, 10, 0x7000000000, 0x8000, 0, 5, "/system/lib64/libc.so"),
		hit(user, 0x7000009010, 10, 10, 1000, 100, 3, 250000, 0x7000009010, 0x7100000020, 0x7000001000),
		hit(kernel, 0xffffff0000000800, 10, 11, 2000, 100, 0, 500000, contextKernel, 0xffffff0000000800, contextUser, 0x7000009010),
		comm(10, 11, "Worker"),
		hit(user, 0x5, 10, 11, 3000, 101, 0, 1),
		rec(2, 0, uint64(100), uint64(7)), // 7 samples lost
	}, nil)
}

func smallFeatures() map[int][]byte {
	return map[int][]byte{
		11: le(uint32(2), uint32(16), padded("simpleperf\x00\x00\x00\x00"), uint32(8), padded("record")),
		128: bytes.Join([][]byte{
			// First executable byte at 0x2000 in memory and 0x1000 in the file.
			fileV1("/data/app/libgame.so", 2, 0x2000, le(uint64(0x1000)), sym{0xd000, 0x1100, "game_loop"}, sym{0xf000, 1, "other"}),
			fileV1("/data/app/base.vdex", 3, 0, le(uint32(1), uint64(40)), sym{0x1000, 0x40, "com.example.Main.run"}),
			fileV1("[kernel.kallsyms]", 0, 0, nil, sym{0xffffff0000000700, 0x200, "do_work"}),
		}, nil),
		129: []byte("simpleperf_version\x001.build.1\x00clockid\x00monotonic\x00event_type_info\x00task-clock,1,1\nsched:sched_switch,2,47\x00"),
	}
}

func parse(t *testing.T, data []byte) *simpleperf.Profile {
	t.Helper()
	p, err := simpleperf.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lines formats a profile as lines, one per sample.
func lines(p *simpleperf.Profile) []string {
	var out []string
	for _, s := range p.Samples {
		t := p.Threads[s.Thread]
		line := fmt.Sprintf("%d %d/%d %s cpu%d %s %d:", s.Time, t.PID, t.TID, t.Name, s.CPU, p.Events[s.Event].Name, s.Period)
		for _, index := range s.Chain {
			f := p.Frames[index]
			line += fmt.Sprintf(" %s %s+%x %q", f.Kind, f.File, f.Offset, f.Symbol)
		}
		out = append(out, line)
	}
	return out
}

// smallLines was computed by hand. 0x7000009010 is 0x9010 into the mapping, so at
// 0x9010+0x4000-0x1000+0x2000 = 0xe010 in libgame.so's memory.
var smallLines = []string{
	`1000 10/10 example.app cpu3 task-clock 250000: native /data/app/libgame.so+e010 "game_loop"` +
		` interpreted /data/app/base.vdex+1020 "com.example.Main.run" native /system/lib64/libc.so+1000 ""`,
	`2000 10/11 example.app cpu0 task-clock 500000: kernel [kernel.kallsyms]+ffffff0000000800 "do_work"` +
		` native /data/app/libgame.so+e010 "game_loop"`,
	`3000 10/11 Worker cpu0 sched:sched_switch:u 1: unknown +0 ""`,
}

func TestReadsPerfData(t *testing.T) {
	t.Parallel()
	p := parse(t, perfData(taskAndSwitch, small(), smallFeatures()))
	if diff := cmp.Diff(smallLines, lines(p)); diff != "" {
		t.Error(diff)
	}
	if len(p.Warnings) > 0 || p.Lost != 7 || p.Clock != "monotonic" || p.Command != "simpleperf record" || p.Recorder != "simpleperf" {
		t.Errorf("lost %d, clock %q, command %q, recorder %q, warnings %v", p.Lost, p.Clock, p.Command, p.Recorder, p.Warnings)
	}
	if got := p.CPUTime(); got != 750*time.Microsecond {
		t.Errorf("CPU time %v, want 250 + 500 µs of task-clock", got)
	}
}

// TestReadsTheNewerFileSection has the same symbols as protocol buffers.
func TestReadsTheNewerFileSection(t *testing.T) {
	t.Parallel()
	f := smallFeatures()
	delete(f, 128)
	for _, m := range [][]byte{
		pb(1, "/data/app/libgame.so", 2, 2, 3, 0x2000, 4, pb(1, 0xd000, 2, 0x1100, 3, "game_loop"), 6, pb(1, 0x1000)),
		pb(1, "/data/app/base.vdex", 2, 3, 4, pb(1, 0x1000, 2, 0x40, 3, "com.example.Main.run"), 5, pb(1, 40)),
	} {
		f[132] = append(f[132], le(uint32(len(m)), m)...)
	}
	kallsyms := "ffffff0000000700 T do_work\nffffff0000000900 t next\n0000000000000000 T hidden\nffffff0000000780 d data\n"
	list := le(uint32(32769), uint16(0), uint16(8+4+len(kallsyms)), uint32(len(kallsyms)), kallsyms)
	p := parse(t, perfData(taskAndSwitch, append(list, small()...), f))
	if diff := cmp.Diff(smallLines, lines(p)); diff != "" {
		t.Error(diff)
	}
}

// compressed packs records into records of at most 100 bytes each.
func compressed(t *testing.T, records []byte) []byte {
	t.Helper()
	var out []byte
	for part := range slices.Chunk(packed(t, records), 100) {
		out = append(out, rec(81, 0, part)...)
	}
	return out
}

func packed(t *testing.T, records []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(records, nil)
}

// TestReadsACompressedInitMap: with -a and -z simpleperf writes two compressed streams, one in the
// section of the first mappings and one in that of the samples.
func TestReadsACompressedInitMap(t *testing.T) {
	t.Parallel()
	all := small()
	maps := 0 // all records before the first sample
	for all[maps] != 9 {
		maps += int(all[maps+6]) | int(all[maps+7])<<8
	}
	f := smallFeatures()
	f[134] = compressed(t, all[:maps])
	p := parse(t, perfData(taskAndSwitch, compressed(t, all[maps:]), f))
	if diff := cmp.Diff(smallLines, lines(p)); diff != "" || len(p.Warnings) > 0 {
		t.Error(diff, p.Warnings)
	}
}

// TestReadsPaddedCompressedRecords: those of Linux perf since 6.16 state their size and end with
// zeros.
func TestReadsPaddedCompressedRecords(t *testing.T) {
	t.Parallel()
	var records []byte
	for part := range slices.Chunk(packed(t, small()), 101) {
		records = append(records, rec(83, 0, uint64(len(part)), part, make([]byte, 8-len(part)%8))...)
	}
	p := parse(t, perfData(taskAndSwitch, records, smallFeatures()))
	if diff := cmp.Diff(smallLines, lines(p)); diff != "" || len(p.Warnings) > 0 {
		t.Error(diff, p.Warnings)
	}
}

// TestReadsCompressedRecords packs the records as simpleperf does with -z: one stream of Zstandard,
// cut into records at arbitrary places.
func TestReadsCompressedRecords(t *testing.T) {
	t.Parallel()
	records := compressed(t, small())
	p := parse(t, perfData(taskAndSwitch, records, smallFeatures()))
	if diff := cmp.Diff(smallLines, lines(p)); diff != "" || len(p.Warnings) > 0 {
		t.Error(diff, p.Warnings)
	}
	short := parse(t, perfData(taskAndSwitch, records[:len(records)-50], smallFeatures()))
	if len(short.Warnings) == 0 {
		t.Error("no warning of compressed records that are cut off")
	}
}

// TestJoinsSplitRecords splits each record in two.
func TestJoinsSplitRecords(t *testing.T) {
	t.Parallel()
	var records []byte
	for all := small(); len(all) > 0; {
		size := int(all[6]) | int(all[7])<<8
		one := all[:size]
		all = all[size:]
		for _, part := range [][]byte{one[:8], one[8:]} {
			records = append(records, le(uint32(32772), uint16(0), uint16(8+len(part)), part)...)
		}
		records = append(records, le(uint32(32773), uint16(0), uint16(8))...)
	}
	p := parse(t, perfData(taskAndSwitch, records, smallFeatures()))
	if diff := cmp.Diff(smallLines, lines(p)); diff != "" || len(p.Warnings) > 0 {
		t.Error(diff, p.Warnings)
	}
}

// TestForkedProcess: a process begins with its parent's memory and name, and later mappings are its
// own.
func TestForkedProcess(t *testing.T) {
	t.Parallel()
	records := bytes.Join([][]byte{
		comm(10, 10, "zygote"),
		mmap2(user, 10, 0x1000, 0x1000, 0, 5, "/lib/a.so"),
		rec(7, 0, uint32(20), uint32(10), uint32(20), uint32(10), uint64(0)), // pid, ppid, tid, ptid
		mmap2(user, 20, 0x1000, 0x1000, 0, 5, "/lib/b.so"),
		hit(user, 0x1800, 20, 20, 1, 100, 0, 1),
		hit(user, 0x1800, 10, 10, 2, 100, 0, 1),
		rec(4, 0, uint32(20), uint32(10), uint32(20), uint32(10), uint64(0)), // exit
		hit(user, 0x1800, 20, 20, 3, 100, 0, 1),                              // the id is reused
	}, nil)
	p := parse(t, perfData(taskAndSwitch, records, nil))
	want := []string{
		`1 20/20 zygote cpu0 task-clock 1: native /lib/b.so+800 ""`,
		`2 10/10 zygote cpu0 task-clock 1: native /lib/a.so+800 ""`,
		`3 20/20  cpu0 task-clock 1: unknown +0 ""`,
	}
	if diff := cmp.Diff(want, lines(p)); diff != "" {
		t.Error(diff)
	}
}

// A process with a mapping before its fork also has its parent's mappings (ThreadTree::ForkThread
// in simpleperf/thread_tree.cpp).
func TestForkAfterMapping(t *testing.T) {
	t.Parallel()
	records := bytes.Join([][]byte{
		comm(10, 10, "zygote"),
		mmap2(user, 10, 0x1000, 0x1000, 0, 5, "/lib/a.so"),
		mmap2(user, 20, 0x8000, 0x1000, 0, 5, "/lib/b.so"),
		rec(7, 0, uint32(20), uint32(10), uint32(20), uint32(10), uint64(0)), // pid, ppid, tid, ptid
		hit(user, 0x8800, 20, 20, 1, 100, 0, 1, 0x8800, 0x1800),
	}, nil)
	want := []string{`1 20/20 zygote cpu0 task-clock 1: native /lib/b.so+800 "" native /lib/a.so+800 ""`}
	if diff := cmp.Diff(want, lines(parse(t, perfData(taskAndSwitch, records, nil)))); diff != "" {
		t.Error(diff)
	}
}

// A thread has its process's name although the main thread has no samples and was named later.
func TestThreadProcessName(t *testing.T) {
	t.Parallel()
	records := bytes.Join([][]byte{
		comm(10, 10, "zygote64"), comm(10, 11, "Render"), hit(user, 1, 10, 11, 1, 100, 0, 1), comm(10, 10, "om.example.mail"),
		comm(20, 21, "lonely"), hit(user, 1, 20, 21, 2, 100, 0, 1),
	}, nil)
	p := parse(t, perfData(taskAndSwitch, records, nil))
	want := []simpleperf.Thread{{PID: 10, TID: 11, Name: "Render", Process: "om.example.mail"}, {PID: 20, TID: 21, Name: "lonely"}}
	if diff := cmp.Diff(want, p.Threads); diff != "" {
		t.Error(diff)
	}
}

// Samples that simpleperf itself dropped are in no record, but in its meta info.
func TestCountsWhatSimpleperfDropped(t *testing.T) {
	t.Parallel()
	f := smallFeatures()
	f[129] = append(f[129], "record_stat\x00sample_record_count=3,kernelspace_lost_records=5,userspace_lost_samples=20,userspace_lost_non_samples=1,userspace_truncated_stack_samples=2\x00"...)
	p := parse(t, perfData(taskAndSwitch, small(), f))
	if p.Lost != 27 { // 7 in a record of the kernel
		t.Errorf("%d samples were lost, want 7 and 20", p.Lost)
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].Text, "2 of 3 samples had their stacks cut") {
		t.Errorf("warnings %v", p.Warnings)
	}
	f[129] = []byte("record_stat\x00,=,userspace_lost_samples=-1,userspace_lost_samples=99999999999999999999\x00")
	if p := parse(t, perfData(taskAndSwitch, small(), f)); p.Lost != 7 {
		t.Errorf("%d samples were lost by counts that can't be, want 7", p.Lost)
	}
}

func smallReport() []byte {
	chain := func(symbol, kind int) []byte { return pb(1, 0x40, 2, 1, 3, symbol, 4, kind) }
	return reportSample(
		pb(1, pb(1, 5000, 2, 11, 3, chain(1, 0), 3, chain(0, 1), 4, 250000, 5, 1)),
		pb(1, pb(1, 6000, 2, 11, 3, pb(1, 7, 2, 1, 3, -1), 4, 750000, 5, 1)),
		pb(6, pb(1, 1, 2, 5500, 3, 11)),
		pb(2, pb(1, 2, 2, 4)),
		pb(3, pb(1, 1, 2, "/data/app/base.odex", 3, "a.b.run", 3, "a.b.call")),
		pb(4, pb(1, 11, 2, 10, 3, "Worker")),
		pb(5, pb(1, "cpu-cycles", 1, "cpu-clock:u", 2, "com.example", 3, "debuggable")),
	)
}

// TestReadsReportSample names what follows the samples in the file.
func TestReadsReportSample(t *testing.T) {
	t.Parallel()
	p := parse(t, smallReport())
	want := []string{
		`5000 10/11 Worker cpu-1 cpu-clock:u 250000: aot /data/app/base.odex+40 "a.b.call" interpreted /data/app/base.odex+40 "a.b.run"`,
		`6000 10/11 Worker cpu-1 cpu-clock:u 750000: aot /data/app/base.odex+7 ""`,
	}
	if diff := cmp.Diff(want, lines(p)); diff != "" {
		t.Error(diff)
	}
	if p.Lost != 4 || p.Meta["app_type"] != "debuggable" || p.Meta["app_package_name"] != "com.example" || len(p.Warnings) > 0 {
		t.Errorf("lost %d, meta %v, warnings %v", p.Lost, p.Meta, p.Warnings)
	}
}

// report-sample has each name in two forms. C++ names are read as in perf.data, Java names
// deobfuscated.
func TestReportSampleNamesAgreeWithPerfData(t *testing.T) {
	t.Parallel()
	p := parse(t, reportSample(
		pb(1, pb(2, 11, 3, pb(2, 1, 3, 0), 3, pb(2, 1, 3, 1), 3, pb(2, 1, 3, 2), 3, pb(2, 1, 3, 3), 4, 1)),
		pb(3, pb(1, 1, 2, "x.so", 3, "Mail::send(int)", 3, "mail.Inbox.open", 3, "main", 3, "[linker]soinfo::link()",
			4, "_ZN4Mail4sendEi", 4, "a.b", 4, "main", 4, "__dl__ZN6soinfo4linkEv")),
		pb(5, pb(1, "cpu-clock")),
	))
	want := []string{`0 0/11  cpu-1 cpu-clock 1: native x.so+0 "_ZN4Mail4sendEi" native x.so+0 "mail.Inbox.open" native x.so+0 "main" native x.so+0 "__dl__ZN6soinfo4linkEv"`}
	if diff := cmp.Diff(want, lines(p)); diff != "" {
		t.Error(diff)
	}
}

// TestInspectCountsAFunctionOncePerSample: recursion does not count twice.
func TestInspectCountsAFunctionOncePerSample(t *testing.T) {
	t.Parallel()
	records := bytes.Join([][]byte{
		mmap2(user, 10, 0x7000000000, 0x10000, 0x4000, 5, "/data/app/libgame.so"),
		hit(user, 0x7000009010, 10, 10, 1000, 100, 0, 40, 0x7000009010, 0x7000009020, 0x7000009010),
		hit(user, 0x7000000000, 10, 10, 4000, 100, 0, 2, 0x7000000000, 0x7000009020),
		hit(user, 0x7000000000, 0, 0, 5000, 100, 0, 1000), // the idle thread
	}, nil)
	seen, err := simpleperf.Inspect(bytes.NewReader(perfData(taskAndSwitch, records, smallFeatures())))
	if err != nil {
		t.Fatal(err)
	}
	d := seen.Details.(simpleperf.Details)
	got := map[string][2]uint64{}
	for _, s := range d.Events[0].Top {
		got[s.Symbol] = [2]uint64{s.Self, s.Total}
	}
	if got["game_loop"] != [2]uint64{40, 42} {
		t.Errorf("game_loop has self and total %v, want 40 and 42", got["game_loop"])
	}
	if seen.Metrics["cpu.time_ms"] != 42e-6 || d.First != 1000 || d.Last != 5000 {
		t.Errorf("cpu.time_ms %g, want 42 ns; from %d to %d", seen.Metrics["cpu.time_ms"], d.First, d.Last)
	}
}

// TestReadReportsFaultyFiles has files that are no recordings, or truncated.
func TestReadReportsFaultyFiles(t *testing.T) {
	t.Parallel()
	whole := perfData(taskAndSwitch, small(), smallFeatures())
	records := small()
	short := bytes.Clone(records)
	short[6] = 4 // of the first record's size
	killed := perfData(taskAndSwitch, small(), nil)
	copy(killed[48:56], make([]byte, 8)) // the size of the records, written last
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":          {nil, "the file is empty"},
		"text":           {[]byte("hello"), `begins with "hello", not with "PERFILE2" or "SIMPLEPERF"`},
		"header alone":   {whole[:50], "byte 50: the file ends in its header"},
		"pipe":           {le("PERFILE2", uint64(16)), "pipe mode"},
		"big-endian":     {[]byte("2ELIFREP........"), "big-endian"},
		"no end":         {whole[:700], "but the file ends at byte 700"},
		"nothing hit":    {perfData(taskAndSwitch, nil, nil), "no samples"},
		"killed":         {killed, "the recording was not finished"},
		"tiny record":    {perfData(taskAndSwitch, short, nil), "a record of type 10 claims a size of 4 bytes, less than its header"},
		"wrong event":    {perfData(taskAndSwitch, hit(user, 1, 1, 1, 1, 999, 0, 1), nil), "1 sample has the id of no event"},
		"short sample":   {perfData(taskAndSwitch, rec(9, 0, uint64(1)), nil), "a sample of task-clock is too short"},
		"cycles":         {perfData([][]byte{attr(0, 0, 0)}, hit(user, 1, 1, 1, 1, 0, 0, 1), nil), "the samples of cpu-cycles measure no time"},
		"lost":           {whole, "7 samples were lost in addition to the 3 in the file"},
		"hostile name":   {reportSample(pb(5, pb(1, "a\x1b[31m\n")), pb(1, pb(4, 1))), "the samples of a\uFFFD[31m\uFFFD measure no time"},
		"version":        {le("SIMPLEPERF", uint16(2)), "version 2"},
		"report cut off": {smallReport()[:40], "the file is incomplete"},
		"other count":    {reportSample(pb(2, pb(1, 9))), "the file states 9 samples, 0 are in it"},
		"bad message":    {reportSample([]byte{0x0A, 0x50}), "byte 16: a record of 2 bytes can't be read"},
	} {
		seen, err := simpleperf.Inspect(bytes.NewReader(c.data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found := false
		for _, w := range seen.Warnings {
			found = found || strings.Contains(w.Text, c.want)
		}
		if !found {
			t.Errorf("%s: no warning says %q: %v", name, c.want, seen.Warnings)
		}
	}
}

// TestReadsAKilledRecording: a killed recording is read up to its last complete record.
func TestReadsAKilledRecording(t *testing.T) {
	t.Parallel()
	data := perfData(taskAndSwitch, small(), nil)
	copy(data[48:56], make([]byte, 8))
	if p := parse(t, data[:len(data)-10]); len(p.Samples) != 3 || p.Lost != 0 || len(p.Warnings) != 2 {
		t.Errorf("%d samples, %d lost, warnings %v; want 3, none, and two", len(p.Samples), p.Lost, p.Warnings)
	}
}

// TestBoundsTheMappings: a hostile file with ever more mappings is read in time and with a warning.
func TestBoundsTheMappings(t *testing.T) {
	t.Parallel()
	var records []byte
	const more = 70_000 // than Linux allows
	for i := range uint64(more) {
		records = append(records, mmap2(user, 10, (more-i)<<12, 1<<11, 0, 5, "x")...)
	}
	p := parse(t, perfData(taskAndSwitch, records, nil))
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].Text, "more than 65536 mappings") {
		t.Errorf("warnings %v", p.Warnings)
	}
}

// TestBoundsTheWorkForMappings: one of many mappings is split and joined repeatedly, and each time
// all others are moved.
func TestBoundsTheWorkForMappings(t *testing.T) {
	t.Parallel()
	var records []byte
	for i := range uint64(65_000) {
		records = append(records, mmap2(user, 10, i<<13, 1<<12, 0, 5, "x")...)
	}
	churn := append(mmap2(user, 10, 1<<10, 1<<10, 0, 5, "x"), mmap2(user, 10, 0, 1<<12, 0, 5, "x")...)
	p := parse(t, perfData(taskAndSwitch, append(records, bytes.Repeat(churn, 20_000)...), nil))
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].Text, "or changes them too often") {
		t.Errorf("warnings %v", p.Warnings)
	}
}

// TestBoundsTheSymbols: two bytes of a file can state a symbol that takes twenty times as much
// memory.
func TestBoundsTheSymbols(t *testing.T) {
	t.Parallel()
	empty := func(field byte) []byte { return bytes.Repeat([]byte{field<<3 | 2, 0}, simpleperf.MaxSymbols+1) }
	f := smallFeatures()
	m := empty(4)
	f[132] = le(uint32(len(m)), m)
	for name, data := range map[string][]byte{
		"too many":  perfData(taskAndSwitch, small(), f),
		"more than": reportSample(pb(3, empty(3))),
	} {
		p := parse(t, data)
		if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].Text, name) {
			t.Errorf("%s: warnings %v", name, p.Warnings)
		}
	}
}

// TestBoundsTheIDsOfEvents: thousands of events all refer to the same ids, which fill the file.
func TestBoundsTheIDsOfEvents(t *testing.T) {
	t.Parallel()
	attrs := slices.Repeat([][]byte{attr(1, 1, 0)}, 4_000)
	data := perfData(attrs, make([]byte, 4<<20), nil)
	const header = 104
	for i := range attrs {
		ids := data[header+8*len(attrs)+80*i+64:]
		copy(ids, le(uint64(0), uint64(len(data))))
	}
	p := parse(t, data)
	if len(p.Warnings) == 0 || !strings.Contains(p.Warnings[0].Text, "the events have more than 1048576 ids") {
		t.Errorf("warnings %v", p.Warnings)
	}
}

// FuzzRead must not panic, and its result must be consistent.
func FuzzRead(f *testing.F) {
	f.Add(perfData(taskAndSwitch, small(), smallFeatures()))
	f.Add(perfData([][]byte{attr(0, 0, 0)}, small(), nil))
	f.Add(smallReport())
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := simpleperf.Read(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Samples {
			_ = p.Threads[s.Thread]
			_ = p.Events[s.Event]
			for _, f := range s.Chain {
				_ = p.Frames[f]
			}
			_ = p.Visible(s.Chain)
		}
		if _, err := simpleperf.Inspect(bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	})
}
