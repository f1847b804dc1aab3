package export_test

import (
	"time"

	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// The frames of the made-up traces: main calls draw and sync.
var (
	mainFrame = methods.Frame{Name: "mail.Main.main", Kind: simpleperf.AOT}
	draw      = methods.Frame{Name: "mail.Inbox.draw", Kind: simpleperf.JIT}
	sync      = methods.Frame{Name: "Store::sync", File: "mail/lib/arm64/libstore.so", Kind: simpleperf.Native, Line: 12}
)

// iteration is a trace of one thread, sampled each millisecond of its CPU time: inDraw samples in
// draw at 2 W, and inSync in sync at 4 W.
func iteration(inDraw, inSync int) methods.Trace {
	t := methods.Trace{
		Event: "task-clock", Hz: 1000,
		Frames:  []methods.Frame{mainFrame, draw, sync},
		Threads: []methods.Thread{{PID: 7, TID: 7, Name: "main"}},
	}
	for i := range inDraw + inSync {
		s := methods.Sample{Time: time.Duration(i) * time.Millisecond, Period: time.Millisecond, Chain: []int{1, 0}, Watts: 2, Reading: i}
		if i >= inDraw {
			s.Chain, s.Watts = []int{2, 0}, 4
		}
		t.Samples = append(t.Samples, s)
	}
	return t
}

// Computed by hand. Base is two iterations: draw has 30+10 samples of 1 ms at 2 W, on average 20 ms
// and 40 mJ; sync has 10+30 at 4 W, 20 ms and 80 mJ. Head is one: draw as before, 20 ms and 40 mJ,
// sync 50 ms and 200 mJ.
var (
	base = []methods.Trace{iteration(30, 10), iteration(10, 30)}
	head = []methods.Trace{iteration(20, 50)}
)
