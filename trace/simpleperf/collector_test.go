package simpleperf

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Samples of 1 ms: three of bind, called by layout, two of layout itself, one of the system alone,
// one before the window and one of another thread. The main thread ran the app for 5 ms.
func TestCollectorAddsUpSamples(t *testing.T) {
	t.Parallel()
	const bind, layout, loop = 0, 1, 2
	p := &Profile{
		Threads: []Thread{{PID: 7, TID: 7}, {PID: 7, TID: 9}},
		Frames: []Frame{
			{Symbol: "com.example.List.bind", File: "/data/app/base.odex"}, {Symbol: "com.example.List.layout", File: "/data/app/base.odex"},
			{Symbol: "android.os.Looper.loop", File: "/system/framework/boot.oat"},
		},
	}
	add := func(at, thread int, chain ...uint32) {
		p.Samples = append(p.Samples, Sample{Time: time.Duration(at) * time.Millisecond, Thread: thread, Period: 1_000_000, Chain: chain})
	}
	add(9, 0, bind, layout, loop)
	for at := 10; at < 13; at++ {
		add(at, 0, bind, layout, loop)
	}
	add(13, 0, layout, loop)
	add(14, 0, layout, loop)
	add(15, 0, loop)
	add(16, 1, bind, loop)
	var c Collector
	if c.MethodTraces() != nil {
		t.Error("nothing was added, and there is a section")
	}
	if seen := c.Add(p, Window{Repetition: 2, Event: "swipe", From: 10 * time.Millisecond, To: 20 * time.Millisecond, Why: "a frame took 10 ms"}); seen != 5*time.Millisecond {
		t.Errorf("the app ran for %v, want 5 ms", seen)
	}
	got := c.MethodTraces()
	want := map[string][2]float64{"com.example.List.bind": {3, 3}, "com.example.List.layout": {2, 5}, "android.os.Looper.loop": {1, 6}}
	if len(got.List) != 3 || got.List[0].Name != "com.example.List.bind" {
		t.Fatalf("methods %+v", got.List)
	}
	for _, m := range got.List {
		if w := want[m.Name]; m.SelfMS != w[0] || m.TotalMS != w[1] || m.Event != "swipe" {
			t.Errorf("%+v, want %v", m, w)
		}
	}
	if c := got.Chains[0]; len(c.Methods) != 3 || c.Methods[2] != "com.example.List.bind" || c.MS[0] != 6 || c.MS[2] != 3 || c.AtMS != 10 {
		t.Errorf("the chain is %+v", c)
	}
}

// With off-CPU time a method that waits has the part of its time that is in the window; a thread that
// waits for messages has nothing to do.
func TestCollectorAddsUpWaits(t *testing.T) {
	t.Parallel()
	const sleep, restore, poll = 0, 1, 2
	p := &Profile{
		Meta: map[string]string{"trace_offcpu": "true"}, Threads: []Thread{{PID: 7, TID: 7}},
		Frames: []Frame{{Symbol: "java.lang.Thread.sleep", File: "/apex/core.jar"}, {Symbol: "com.example.Audio.restore", File: "/data/app/base.odex"}, {Symbol: "android.os.MessageQueue.nativePollOnce"}},
		Samples: []Sample{
			{Time: 5 * time.Millisecond, Period: 8_000_000, OffCPU: true, Chain: []uint32{poll}},
			{Time: 14 * time.Millisecond, Period: 1_000_000, Chain: []uint32{restore}},
			{Time: 15 * time.Millisecond, Period: 412_000_000, OffCPU: true, Chain: []uint32{sleep, restore}},
		},
	}
	var c Collector
	if seen := c.Add(p, Window{Repetition: 1, From: 10 * time.Millisecond, To: 215 * time.Millisecond}); seen != 201*time.Millisecond {
		t.Errorf("the app was in its methods for %v, want 201 ms", seen)
	}
	got := c.MethodTraces()
	if chain := got.Chains[0]; got.Clock != run.WallClock || chain.MS[0] != 201 || chain.MS[1] != 200 || chain.BlockedMS != 200 || len(got.List) != 2 {
		t.Errorf("by the %s clock %+v of %+v", got.Clock, chain, got.List)
	}
}
