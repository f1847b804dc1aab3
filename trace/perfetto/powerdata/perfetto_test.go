package powerdata_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
)

// warned reports whether a trace has a warning with these words.
func warned(t *powerdata.Trace, words string) bool {
	for _, w := range t.Warnings {
		if strings.Contains(w.Text, words) {
			return true
		}
	}
	return false
}

func TestSuspensionBetweenSnapshots(t *testing.T) {
	t.Parallel()
	// Between the snapshots CLOCK_BOOTTIME advances by 100 s, CLOCK_MONOTONIC by 60 s: the device
	// slept for 40 s.
	got := read(t, file(
		clocks(100*second, 90*second),
		at(95*second).in(38, battery(-1, 1)),
		at(110*second).in(38, battery(-2, 1)),
		at(195*second).in(38, battery(-3, 1)),
		at(210*second).in(38, battery(-4, 1)),
		clocks(200*second, 150*second),
	))
	if got.Clock != "monotonic" || got.Suspended != 40*time.Second {
		t.Errorf("clock %q, suspended for %v", got.Clock, got.Suspended)
	}
	// The third reading came while the clock stood still, or after: it is not placed after the next
	// snapshot.
	want := []time.Duration{85 * time.Second, 100 * time.Second, 150 * time.Second, 160 * time.Second}
	var times []time.Duration
	for _, s := range got.Battery {
		times = append(times, s.Time)
	}
	if diff := cmp.Diff(want, times); diff != "" {
		t.Error(diff)
	}
	if got.Start != 85*time.Second || got.End != 160*time.Second {
		t.Errorf("the trace goes from %v to %v", got.Start, got.End)
	}
}

func TestClocksOfASequence(t *testing.T) {
	t.Parallel()
	// Clock 64 of sequence 7 counts microseconds, each packet from the one before.
	own := message(nil).in(6, message(nil).
		in(1, message(nil).num(1, 64).num(2, 5_000).num(3, 1).num(4, 1000)).
		in(1, message(nil).num(1, 6).num(2, 2*second))).on(7)
	onOwn := message(nil).in(59, message(nil).num(58, 64)).on(7)
	got := read(t, file(
		clocks(second, second/2),
		own,
		append(onOwn, at(3000).in(38, battery(-1, 1))...),         // 2.003 s
		at(2000).on(7).in(11, nil),                                // 2.005 s, itself unused
		at(1000).on(7).in(38, battery(-2, 1)),                     // 2.006 s
		at(9*second).on(7).num(58, 6).in(38, battery(-3, 1)),      // states its clock: 9 s
		at(1).on(8).num(58, 64).in(38, battery(-4, 1)),            // another sequence's clock 64
		at(10*second).on(7).num(41, 1).in(38, battery(-5, 1)),     // the default was cleared with the state
		at(11*second).on(7).num(58, 3).in(38, battery(-6, 1)),     // CLOCK_MONOTONIC
		at(12*second).on(7).num(58, 1).in(38, battery(-7, 1)),     // the wall's clock, not tied to any
		at(1<<62).on(7).num(58, 3).in(38, battery(-8, 1)),         // invalid
		at(1).on(7).num(58, 1<<31+5).in(38, battery(-9, 1)),       // an undefined clock
		at(3*second+millisecond).on(9).in(38, battery(-10, 1000)), // the trace's own
	))
	want := map[int64]time.Duration{
		-1: 1503 * time.Millisecond, -2: 1506 * time.Millisecond, -3: 8500 * time.Millisecond,
		-5: 9500 * time.Millisecond, -6: 11 * time.Second, -10: 2501 * time.Millisecond,
	}
	have := map[int64]time.Duration{}
	for _, s := range got.Battery {
		have[*s.CurrentUA] = s.Time
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	for _, words := range []string{"clock 64 of sequence 8", "on realtime, from which nothing leads to monotonic", "1 reading has no valid time"} {
		if !warned(got, words) {
			t.Errorf("no warning says %q: %v", words, got.Warnings)
		}
	}
}

func TestReadWithoutSnapshots(t *testing.T) {
	t.Parallel()
	got := read(t, file(at(7*second).in(38, battery(-1, 1))))
	if got.Clock != "boottime" || got.Battery[0].Time != 7*time.Second || !warned(got, "times are on boottime") {
		t.Errorf("clock %q, at %v, warnings %v", got.Clock, got.Battery[0].Time, got.Warnings)
	}
}

func TestReadKernelClockOfABundle(t *testing.T) {
	t.Parallel()
	// ftrace's global clock (2) shows 5 s where CLOCK_BOOTTIME shows 105 s.
	inner := message(nil).num(1, 0).in(2, event(4*second, 11, message(nil).num(1, 300_000).num(2, 3))).
		num(5, 2).num(6, 5*second).num(7, 105*second)
	got := read(t, file(clocks(100*second, 90*second), message(nil).in(1, inner)))
	want := []powerdata.Frequency{{CPU: 3, Changes: []powerdata.FrequencyChange{{Time: 94 * time.Second, KHz: 300_000}}}}
	if diff := cmp.Diff(want, got.Frequencies); diff != "" {
		t.Error(diff)
	}
}

func TestRails(t *testing.T) {
	t.Parallel()
	own := func(index, ms, uws int64) message {
		return message(nil).in(2, message(nil).num(1, index).num(2, ms).num(3, uws))
	}
	got := read(t, file(
		clocks(0, 0), clocks(10*second, 9*second), // 1 s of suspension
		at(second).in(40, append(rail(3, "S2M_VDD_CPUCL2"), rail(5, "odd")...)),
		at(second).in(40, rail(3, "S2M_VDD_CPUCL2")), // described again
		at(30*second).num(58, 3).in(40, append(own(3, 12_000, 2_000_000), own(3, 11_000, 1_000_000)...)),
		at(20*second).num(58, 3).in(40, energy(5, 70)),
		at(21*second).num(58, 3).in(40, energy(5, 90)),
		at(22*second).num(58, 3).in(40, energy(5, 10)), // reset
		at(23*second).num(58, 3).in(40, energy(5, 40)),
		at(24*second).num(58, 3).in(40, energy(6, 1)),                                    // never described
		at(24*second).num(58, 3).in(40, message(nil).in(2, message(nil).num(1, 5))),      // how much?
		at(24*second).num(58, 3).in(40, message(nil).in(2, message(nil).text(9, "new"))), // a field to come
	))
	if len(got.Rails) != 2 {
		t.Fatalf("%d rails", len(got.Rails))
	}
	// A reading's own time is on CLOCK_BOOTTIME, whatever its packet's clock.
	want := []powerdata.RailSample{{Time: 10 * time.Second, MicroWattSeconds: 1_000_000}, {Time: 11 * time.Second, MicroWattSeconds: 2_000_000}}
	if diff := cmp.Diff(want, got.Rails[0].Samples); diff != "" {
		t.Error(diff)
	}
	if j, over := got.Rails[0].Energy(); j != 1 || over != time.Second {
		t.Errorf("%v J in %v, want 1 J in 1 s", j, over)
	}
	// 20 µWs before the reset and 30 after it, in one second each.
	if j, over := got.Rails[1].Energy(); j != 50e-6 || over != 2*time.Second {
		t.Errorf("%v J in %v, want 50 µJ in 2 s", j, over)
	}
	for _, words := range []string{"1 reading is of a power rail that the trace does not describe", "2 readings of energy have no rail or no value"} {
		if !warned(got, words) {
			t.Errorf("no warning says %q: %v", words, got.Warnings)
		}
	}
}

func TestApart(t *testing.T) {
	t.Parallel()
	trace := func(sessions int64, names ...string) []byte {
		var packets []message
		for s := range sessions {
			for i, name := range names {
				packets = append(packets, at(0).in(40, rail(int64(i), name).num(3, s)))
				for reading := range int64(3) {
					packets = append(packets, at(reading*second).in(40, energy(int64(i), reading*1_000_000).num(3, s)))
				}
			}
		}
		return file(packets...)
	}
	for _, c := range []struct {
		name     string
		sessions int64
		rails    []string
		joules   float64 // 2 J by each rail that counts; 0: no sum is given
	}{
		{"bucks and loads", 1, []string{"S2M_VDD_CPUCL2", "S2S_VDD_G3D", "VSYS_PWR_DISPLAY", "PPVAR_VSYS_PWR_DISP", "PPVAR_VPH_PWR_OLED"}, 10},
		{"an LDO is inside a buck", 1, []string{"S8M_LLDO2", "L2S_VDD_AOC_RET"}, 2},
		{"all is inside the battery", 1, []string{"S2M_VDD_CPUCL2", "VSYS_PWR_VBATT"}, 2},
		{"a name that tells nothing", 1, []string{"S2M_VDD_CPUCL2", "total"}, 0},
		{"LDOs alone", 1, []string{"L2S_VDD_AOC_RET"}, 0},
		{"two data sources", 2, []string{"S2M_VDD_CPUCL2"}, 0},
	} {
		seen, err := powerdata.Inspect(bytes.NewReader(trace(c.sessions, c.rails...)))
		if err != nil {
			t.Fatal(err)
		}
		joules, given := seen.Metrics["energy.total_j"]
		if given != (c.joules > 0) || joules != c.joules || seen.Metrics["power.mean_w"] != c.joules/2 {
			t.Errorf("%s: %v J (%v), %v W; want %v J in 2 s", c.name, joules, given, seen.Metrics["power.mean_w"], c.joules)
		}
	}
}

func TestCompressedPackets(t *testing.T) {
	t.Parallel()
	plain := file(at(second).in(38, battery(-1, 1)), at(2*second).in(38, battery(-2, 1)))
	want := read(t, plain).Battery
	for name, packet := range map[string]message{
		"zlib": message(nil).in(50, deflate(t, plain)),
		"zstd": message(nil).in(133, zstandard(t, plain)),
	} {
		got := read(t, file(packet))
		if diff := cmp.Diff(want, got.Battery); diff != "" || len(got.Warnings) != 1 {
			t.Errorf("%s: %s\n%v", name, diff, got.Warnings)
		}
		again := read(t, file(message(nil).in(50, deflate(t, file(packet)))))
		if len(again.Battery) != 0 {
			t.Errorf("%s: compressed packets inside compressed ones were read", name)
		}
	}
	cut := deflate(t, plain)
	if got := read(t, file(message(nil).in(50, cut[:len(cut)/2]))); !warned(got, "can't be unpacked completely") {
		t.Errorf("warnings of half a bundle: %v", got.Warnings)
	}
}

func TestCompressedPacketsStayBounded(t *testing.T) {
	t.Parallel()
	bomb := zstandard(t, file(at(second).in(38, battery(-1, 1)), make(message, packets.MaxPacket)))
	got := read(t, file(message(nil).in(133, bomb), at(3*second).in(38, battery(-2, 1))))
	if len(got.Battery) != 2 || !warned(got, "larger than 67108864 bytes") {
		t.Errorf("%d readings, warnings %v", len(got.Battery), got.Warnings)
	}
}

func deflate(t *testing.T, b []byte) message {
	t.Helper()
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstandard(t *testing.T, b []byte) message {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

func TestReadTruncatedFile(t *testing.T) {
	t.Parallel()
	first := file(clocks(second, second), at(second).in(38, battery(-1, 1)))
	whole := append(first, file(at(2*second).in(38, battery(-2, 1)))...)
	for n := range whole {
		got := read(t, whole[:n])
		want := 0
		if n >= len(first) {
			want = 1
		}
		atEnd := n == 0 || n == len(file(clocks(second, second))) || n == len(first)
		if len(got.Battery) != want || warned(got, "ends in the middle") == atEnd {
			t.Errorf("%d bytes of %d: %d readings, warnings %v", n, len(whole), len(got.Battery), got.Warnings)
		}
	}
	if got := read(t, append(first, "\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"...)); len(got.Battery) != 1 || !warned(got, "there is no packet where one should begin") {
		t.Errorf("a length that is no number: %v", got.Warnings)
	}
	if got := read(t, append(first, "# and then text"...)); len(got.Battery) != 1 || !warned(got, "there is no packet where one should begin") {
		t.Errorf("text behind the packets: %v", got.Warnings)
	}
}

func TestReadSkipsALargePacket(t *testing.T) {
	t.Parallel()
	head := file(clocks(second, second))
	large := []byte{0x0a, 0x81, 0x80, 0x80, 0x20} // a packet of MaxPacket + 1 bytes
	zeros := io.LimitReader(endless{}, packets.MaxPacket+1)
	got, err := powerdata.Read(io.MultiReader(bytes.NewReader(head), bytes.NewReader(large), zeros, bytes.NewReader(file(at(second).in(38, battery(-1, 1))))))
	if err != nil || len(got.Battery) != 1 || !warned(got, "at most 67108864 are read") {
		t.Errorf("%d readings, %v, warnings %v", len(got.Battery), err, got.Warnings)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestOtherFiles(t *testing.T) {
	t.Parallel()
	for in, words := range map[string]string{
		"":                          "the file is empty",
		"# tracer: nop\n#\n":        "which the reader systrace reads",
		`{"traceEvents":[]}`:        "traces in JSON are not read",
		"\x1f\x8b\x08\x00\x00\x00":  "unpack it first",
		"PERFILE2":                  `it begins with "PERFILE2"`,
		"\x00":                      "the file is no Perfetto trace",
		string(file(nil)) + "\x0b.": "there is no packet",
	} {
		if got := read(t, []byte(in)); !warned(got, words) {
			t.Errorf("%q: warnings %v, want %q", in, got.Warnings, words)
		}
	}
}

func TestReadReportsTheError(t *testing.T) {
	t.Parallel()
	cable := errors.New("cable cut")
	whole := file(clocks(second, second))
	for _, n := range []int{0, 1, len(whole) - 1, len(whole)} {
		_, err := powerdata.Inspect(io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(cable)))
		if !errors.Is(err, cable) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

func TestLostPackets(t *testing.T) {
	t.Parallel()
	got := read(t, file(
		at(second).on(1).num(42, 1).in(38, battery(-1, 1)),              // the first one always has it
		at(2*second).on(1).num(13, 2).in(38, battery(-2, 1)),            // needs a state that never began
		at(3*second).on(1).num(13, 3).in(38, battery(-3, 1)),            // begins it
		at(4*second).on(1).num(13, 2).in(38, battery(-4, 1)),            // has it
		at(5*second).on(1).num(13, 2).num(42, 1).in(38, battery(-5, 1)), // lost it
		at(6*second).on(1).in(38, battery(-6, 1)),                       // needs none
	))
	var have []int64
	for _, s := range got.Battery {
		have = append(have, *s.CurrentUA)
	}
	if diff := cmp.Diff([]int64{-1, -3, -4, -6}, have); diff != "" {
		t.Error(diff)
	}
	if got.Lost != 1 || !warned(got, "2 packets need the state in a lost one") || !warned(got, "packets were lost in 1 place:") {
		t.Errorf("lost %d, warnings %v", got.Lost, got.Warnings)
	}
}
