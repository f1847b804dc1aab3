package simpleperf_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/simpleperf"
)

// A thread is away until the record of its return, without that until its next sample, and at the
// end until the newest record. Without --trace-offcpu a switch is an event like any other.
func TestTimeOffCPU(t *testing.T) {
	t.Parallel()
	const ms, idOnAll = 1_000_000, 1 << 18
	switched := func(misc uint16, tid uint32, at uint64) []byte {
		return rec(14, misc, uint32(7), tid, at*ms, uint64(100), uint32(0), uint32(0))
	}
	ran := func(tid uint32, at uint64) []byte { return hit(user, 0x1000, 7, tid, at*ms, 100, 0, ms) }
	leaves := func(tid uint32, at uint64) []byte { return hit(user, 0x1000, 7, tid, at*ms, 101, 0, 1) }
	records := bytes.Join([][]byte{
		ran(7, 1), leaves(7, 2), switched(1<<13, 7, 2), leaves(8, 3), leaves(9, 5), leaves(6, 6),
		rec(4, 0, uint32(7), uint32(1), uint32(6), uint32(1), uint64(8*ms), uint32(7), uint32(6), uint64(8*ms), uint64(100), uint32(0), uint32(0)), // thread 6 ends
		ran(8, 10), switched(0, 7, 414),
	}, nil)
	for _, c := range []struct {
		offCPU string
		want   []time.Duration // for which each sample stands
	}{
		{"true", []time.Duration{ms, 412 * ms, 7 * ms, 409 * ms, 0, ms}},
		{"false", []time.Duration{ms, 1, 1, 1, 1, ms}},
	} {
		meta := le("trace_offcpu\x00" + c.offCPU + "\x00event_type_info\x00task-clock,1,1\nsched:sched_switch,2,91\x00")
		p, err := simpleperf.Read(bytes.NewReader(perfData([][]byte{attr(1, 1, idOnAll), attr(2, 91, idOnAll)}, records, map[int][]byte{129: meta})))
		if err != nil {
			t.Fatal(err)
		}
		var got []time.Duration
		for i, s := range p.Samples {
			got = append(got, time.Duration(s.Period))
			if s.OffCPU != (c.offCPU == "true" && i > 0 && i < 5) {
				t.Errorf("trace_offcpu %s: sample %d has %v", c.offCPU, i, s.OffCPU)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("trace_offcpu %s: the samples stand for %v, want %v", c.offCPU, got, c.want)
		}
	}
}
