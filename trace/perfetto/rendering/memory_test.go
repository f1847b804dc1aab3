package rendering_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// A trace may say that it has a thousand CPUs: what a frame did not run on takes no memory.
func TestProcessorsThatNothingRanOnTakeNoMemory(t *testing.T) {
	const frames, most = 500, 1_000 // bytes of each
	reading := func(cpu int64) int64 {
		p := newPhone()
		p.clock(1, cpu, 500_000)
		for i := range frames {
			at, token := vsync+20*float64(i), int64(10+i)
			p.run(0, ui, at+1, at+15, asleep)
			p.slice(ui, fmt.Sprint("Choreographer#doFrame ", token), at+1, at+15)
			p.shown(token, at, at+16, at+1, at+15, noJank, 1)
		}
		raw := p.bytes()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		trace, err := rendering.Read(packets.Packets(bytes.NewReader(raw)), app)
		runtime.ReadMemStats(&after)
		if err != nil || len(trace.Frames) != frames || len(trace.Frames[9].Path) == 0 {
			t.Fatalf("%d frames, %v", len(trace.Frames), err)
		}
		return int64(after.TotalAlloc - before.TotalAlloc)
	}
	few, many := reading(7), reading(1_023)
	if each := (many - few) / frames; each > most {
		t.Errorf("a frame takes %d bytes more on a device of 1,024 CPUs, want %d at most", each, most)
	}
}
