package rendering_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// A trace may claim a thousand CPUs: those on which a frame did not run take no memory.
func TestUnusedCPUsTakeNoMemory(t *testing.T) {
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

// Frames that each last as long as the trace would take hours to analyze: those beyond the limit of
// work are described by the frame timeline alone.
func TestWorkForFramesIsBounded(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.count(900, "BufferTX - "+layer, 1)
	p.scroll(40, true)
	p.shown(1, 900, 5_000, 900, 5_200, unknownJank, 5)
	raw := p.bytes()
	trace, err := rendering.ReadTired(packets.Packets(bytes.NewReader(raw)), app, 5_000)
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, f := range trace.Frames {
		if err := sound(&f); err != nil {
			t.Error(err)
		}
		if f.Path != nil {
			looked++
			continue
		}
		if f.Stages != nil || f.Class == "" {
			t.Errorf("a frame that was not looked at: %+v", f)
		}
	}
	left := fmt.Sprintf("%d frames have no critical path", 41-looked)
	if len(trace.Frames) != 41 || looked == 0 || looked > 38 || !slices.ContainsFunc(trace.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, left) }) {
		t.Errorf("%d frames, %d with a path, %v", len(trace.Frames), looked, trace.Warnings)
	}
	worn, err := rendering.ReadTired(packets.Packets(bytes.NewReader(raw)), app, 0)
	if err != nil || len(worn.Frames) != 41 {
		t.Fatalf("%d frames, %v", len(worn.Frames), err)
	}
	for _, f := range worn.Frames {
		if f.Ready != -1 || f.Stages != nil || f.Path != nil || f.Class == "" {
			t.Errorf("with no work left: %+v", f)
		}
	}
}
