package simpleperf_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/trace/simpleperf"
)

// simpleperf record -e cpu-cycles --add-counter instructions: each sample of cpu-cycles has the
// values of both counters.
func TestReadAddedCounters(t *testing.T) {
	t.Parallel()
	const read, id, group, enabled = 16, 4, 8, 1
	event := func(config, format uint64) []byte {
		return le(uint32(0), uint32(64), config, uint64(250000), sampleType|read, format, uint64(0), uint64(0), uint64(0))
	}
	for name, c := range map[string]struct {
		format uint64
		// the counters in a sample: cpu-cycles (id 100) and instructions (id 101)
		readings func(cycles, instructions uint64) []byte
	}{
		"a group":            {id | group, func(c, i uint64) []byte { return le(uint64(2), c, uint64(100), i, uint64(101)) }},
		"a group with times": {id | group | enabled, func(c, i uint64) []byte { return le(uint64(2), uint64(777), c, uint64(100), i, uint64(101)) }},
	} {
		sample := func(ns uint64, readings []byte) []byte {
			return rec(9, user, uint64(0x1010), uint32(7), uint32(7), ns, uint64(100), uint32(0), uint32(0), uint64(250000), readings, uint64(0))
		}
		records := bytes.Join([][]byte{
			comm(7, 7, "p"), sample(1000, c.readings(250_000, 100_000)), sample(2000, c.readings(500_000, 700_000)),
			rec(9, user, uint64(0x1010)), // too short to be a sample
		}, nil)
		in, err := simpleperf.Inspect(bytes.NewReader(perfData([][]byte{event(0, c.format), event(1, c.format)}, records, nil)))
		if err != nil {
			t.Fatal(err)
		}
		got := in.Details.(simpleperf.Details).Events
		if len(got) != 2 || got[0].Samples != 2 || got[0].Total != 500_000 {
			t.Errorf("%s: cpu-cycles: %+v", name, got)
		}
		// Counters are cumulative: the last reading is the total.
		if got[1].Name != "instructions" || got[1].Samples != 0 || got[1].Total != 700_000 {
			t.Errorf("%s: instructions: %+v, want 700000", name, got[1])
		}
	}
}

func TestInspectWarnsOfAnInstructionTrace(t *testing.T) {
	t.Parallel()
	const etm = 9
	trace := append(rec(71, 0, uint64(4096), uint64(0), uint64(0), uint32(0), uint32(0), uint32(0), uint32(0)), make([]byte, 4096)...)
	file := perfData([][]byte{attr(etm, 0, 0)}, trace, map[int][]byte{129: []byte("event_type_info\x00cs-etm,9,0\x00")})
	in, err := simpleperf.Inspect(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Warnings) != 1 || !strings.Contains(in.Warnings[0].Text, "4096 bytes of an instruction trace (ETM), which is not read") {
		t.Errorf("%v", in.Warnings)
	}
}

// A recording of known size is read into memory of its size.
func TestReadAllocatesOnce(t *testing.T) {
	const size = 64 << 20
	data := make([]byte, size)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := simpleperf.Read(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > size+1<<20 {
		t.Errorf("%d bytes were allocated for a file of %d", took, size)
	}
}
