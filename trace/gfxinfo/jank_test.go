package gfxinfo_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/gfxinfo"
	"github.com/apkgate/apkgate/trace/jank"
)

// TestFrameCountedAndJankyByFlag compares each flag with JankTracker::finishFrame: all but
// skipped frames count, and only one drawn through a locked canvas is never late (nor the first
// frame of a window, on Android 6).
func TestFrameCountedAndJankyByFlag(t *testing.T) {
	t.Parallel()
	const head6 = "Flags,IntendedVsync,Vsync,SyncQueued,SyncStart,FrameCompleted,\n"
	for _, c := range []struct {
		flags                   int
		counts, late, lateOnSix bool
	}{
		{0, true, true, true},
		{gfxinfo.FlagWindowChanged, true, true, false},
		{gfxinfo.FlagRTAnimation, true, true, true},
		{gfxinfo.FlagWindowChanged | gfxinfo.FlagRTAnimation, true, true, false},
		{gfxinfo.FlagSurfaceCanvas, true, false, false},
		{gfxinfo.FlagSkipped, false, false, false},
		{gfxinfo.FlagSkipped | gfxinfo.FlagRTAnimation, false, false, false},
	} {
		want := func(late bool) string { return fmt.Sprint(b2i(c.counts), b2i(late)) }
		got := func(text string) string {
			m := gfxinfo.Metrics(read(t, text).Rows(), jank.Display{})
			return fmt.Sprint(m["frames.count"], m["frames.janky"])
		}
		now := got(window("A", "1", row16(c.flags, 1e9, 20*time.Millisecond)))
		six := got("---PROFILEDATA---\n" + head6 + fmt.Sprintf("%d,1000000000,1000000000,1001000000,1001000000,1020000000,\n", c.flags) + "---PROFILEDATA---\n")
		if now != want(c.late) {
			t.Errorf("flags %d: frames and janky ones are %s, want %s", c.flags, now, want(c.late))
		}
		if six != want(c.lateOnSix) {
			t.Errorf("flags %d on Android 6: frames and janky ones are %s, want %s", c.flags, six, want(c.lateOnSix))
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestFrameJankyForgivesWaits: on Android 7 to 11 a frame is not late because of the time in
// which the render thread was busy with the frame before, or a wait for a buffer that could not be
// free yet.
func TestFrameJankyForgivesWaits(t *testing.T) {
	t.Parallel()
	const ms = 1_000_000
	for _, c := range []struct {
		name             string
		stalled, dequeue int64
		issued           int64 // after the vsync
		forgiven         time.Duration
		tookNS           int64
		late             bool
		lateOnSix        bool
	}{
		{name: "nothing is taken off", tookNS: 17 * ms, late: true, lateOnSix: true},
		{name: "the thread was at the frame before", stalled: 2 * ms, tookNS: 18 * ms, late: false, lateOnSix: true},
		{name: "not for long enough", stalled: 1 * ms, tookNS: 18 * ms, late: true, lateOnSix: true},
		{name: "a wait that is forgiven", dequeue: 3 * ms, issued: 2 * ms, forgiven: 5 * ms, tookNS: 19 * ms, late: false},
		{name: "no more than was waited", dequeue: 1 * ms, issued: 2 * ms, forgiven: 5 * ms, tookNS: 19 * ms, late: true},
		{name: "no more than till the buffer had to be free", dequeue: 9 * ms, issued: 4 * ms, forgiven: 5 * ms, tookNS: 19 * ms, late: true},
		{name: "it had to be free already", dequeue: 9 * ms, issued: 7 * ms, forgiven: 5 * ms, tookNS: 17 * ms, late: true},
		{name: "a wait that is not looked at", dequeue: ms / 2, issued: 0, forgiven: 5 * ms, tookNS: 17 * ms, late: true},
		{name: "a display that forgives nothing", dequeue: 3 * ms, issued: 2 * ms, tookNS: 19 * ms, late: true},
	} {
		const at = 1_000_000_000
		row := func(tail string) string {
			return fmt.Sprintf("0,%d,%d,%d,%d,%d,%d,%s\n", at, at, at+ms, at+ms+c.stalled, at+c.issued, at+c.tookNS, tail)
		}
		const head = "Flags,IntendedVsync,Vsync,SyncQueued,SyncStart,IssueDrawCommandsStart,FrameCompleted,"
		d := read(t, "---PROFILEDATA---\n"+head+"DequeueBufferDuration,\n"+row(fmt.Sprintf("%d,", c.dequeue))+"---PROFILEDATA---\n")
		if got := d.Rows()[0].Janky(jank.Display{Forgiven: c.forgiven}); got != c.late {
			t.Errorf("%s: late is %v", c.name, got)
		}
		six := read(t, "---PROFILEDATA---\n"+head+"\n"+row("")+"---PROFILEDATA---\n")
		if c.lateOnSix && !six.Rows()[0].Janky(jank.Display{}) {
			t.Errorf("%s: Android 6 takes nothing off", c.name)
		}
	}
}

// TestFrameOverrun: the overrun is measured at the GPU's end, and only where a deadline is stated.
func TestFrameOverrun(t *testing.T) {
	t.Parallel()
	const head = "Flags,IntendedVsync,FrameDeadline,FrameCompleted,GpuCompleted,\n"
	rows := read(t, "---PROFILEDATA---\n"+head+strings.Join([]string{
		"0,1000000000,1016000000,1020000000,1019000000,", // the GPU was done 3 ms late
		"0,2000000000,2016000000,2010000000,2010000000,", // 6 ms early
		"0,3000000000,9223372036854775807,3020000000,3020000000,",
	}, "\n")+"\n---PROFILEDATA---\n").Rows()
	for i, want := range []string{"3ms true", "-6ms true", "0s false"} {
		over, stated := rows[i].Overrun()
		if got := fmt.Sprint(over, stated); got != want {
			t.Errorf("frame %d: %s, want %s", i, got, want)
		}
	}
	got := gfxinfo.Metrics(rows, jank.Display{})
	for name, want := range map[string]float64{ // 3 and -6, interpolated at p
		"frames.overrun_ms": -1.5, "frames.overrun_ms.p50": -1.5, "frames.overrun_ms.p90": 2.1,
		"frames.overrun_ms.p95": 2.55, "frames.overrun_ms.p99": 2.91, "frames.count": 3,
	} {
		if v, has := got[name]; !has || math.Abs(v-want) > 1e-9 {
			t.Errorf("%s is %g, want %g", name, v, want)
		}
	}
	if _, has := gfxinfo.Metrics(rows[2:], jank.Display{})["frames.overrun_ms"]; has {
		t.Error("frames without a deadline have an overrun")
	}
}
