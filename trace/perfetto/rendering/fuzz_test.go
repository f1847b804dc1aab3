package rendering_test

import (
	"bytes"
	"testing"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// The frames of any trace are consistent.
func FuzzRead(f *testing.F) {
	whole := newPhone()
	whole.run(0, ui, begun, 1003, asleep)
	whole.call(70, ui, peerBinder, 1003, 1003, 1020)
	whole.run(2, peerBinder, 1003, 1020, asleep)
	whole.wake(1020, ui, peerBinder)
	whole.run(0, ui, 1020, 1021, waiting)
	whole.drawnFrom(1021)
	whole.display(5, 1016, 1032, 1048)
	whole.clock(1, 0, 1_000_000)
	whole.count(1000, "BufferTX - "+layer, 1)
	f.Add([]byte(whole.bytes()))
	older := newPhone()
	older.count(1000, "VSYNC-app", 1)
	older.older(1001, 10, 6.6)
	f.Add([]byte(older.bytes()))
	f.Fuzz(func(t *testing.T, raw []byte) {
		trace, err := rendering.Read(packets.Packets(bytes.NewReader(raw)), rendering.App{Process: func(int) bool { return true }})
		if err != nil {
			return
		}
		for i := range trace.Frames {
			if err := sound(&trace.Frames[i]); err != nil {
				t.Fatalf("frame %d: %v", i, err)
			}
		}
	})
}

// Whatever threads did, in whatever order a trace reports it, each frame's path is complete.
func FuzzPath(f *testing.F) {
	f.Add([]byte("a call and an answer, a wake, turns"))
	f.Add(bytes.Repeat([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 250, 128, 77}, 20))
	threads := []int64{ui, render, worker, gpuThread, peer, peerBinder, flinger, rival}
	slicesOf := []string{"Choreographer#doFrame 5", "DrawFrames 5", "Lock contention on a monitor lock (owner tid: 102)", "monitor contention with owner DefaultDispatch (3) at x waiters=0 blocking from y", "dequeueBuffer", "measure", "fsync", "commit 6"}
	f.Fuzz(func(t *testing.T, script []byte) {
		p := newPhone()
		for ; len(script) >= 4; script = script[4:] {
			tid, other := threads[script[0]%8], threads[script[0]/8%8]
			at := vsync - 10 + float64(script[1])/4
			end := at + float64(script[2])/8
			switch n := script[3]; n % 8 {
			case 0, 1:
				p.run(int(n/8%4), tid, at, end, int64(n/32%3))
			case 2:
				p.wake(at, tid, other)
			case 3:
				p.slice(tid, slicesOf[n/8%8], at, end)
			case 4:
				p.call(int64(n)*2, tid, other, at, (at+end)/2, end)
			case 5:
				p.blockedIn(at, tid, int64(n/8%3), n > 128)
			case 6:
				p.event(at, tid, 4, message(nil).Num(2, tid).Num(4, int64(n/8)).Num(6, other)) // a switch that may contradict others
			case 7:
				p.count(at, "BufferTX - "+layer, int(n))
			}
		}
		p.shown(5, vsync, due, begun, 1030, appLate, 2)
		p.display(5, 1016, 1032, 1048)
		if trace := p.read(t); len(trace.Frames) != 1 {
			t.Fatalf("%d frames", len(trace.Frames))
		}
	})
}
