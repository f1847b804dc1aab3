package rendering_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// What a thread waits for is read for a stretch of time in which no frame is drawn: it runs, waits
// for a lock whose owner waits for storage, for the answer to a call, sleeps until an interrupt,
// and waits for a processor.
func TestStretchOfAWorker(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, worker, 2000, 2010, asleep)
	p.slice(worker, "monitor contention with owner RenderThread (9) at void Store.write()(S.java:8) waiters=0 blocking from void A.b()(A.java:1)", 2009, 2111)
	p.run(1, render, 2000, 2020, blocked)
	p.blockedIn(2100, render, 1, true)
	p.run(1, render, 2100, 2110, asleep)
	p.wake(2110, worker, render)
	p.run(0, worker, 2110, 2120, asleep)
	p.call(60, worker, peerBinder, 2120, 2120, 2200)
	p.run(2, peerBinder, 2120, 2200, asleep)
	p.wake(2200, worker, peerBinder)
	p.run(0, worker, 2200, 2205, asleep)
	p.run(0, worker, 2300, 2310, waiting)
	p.run(0, rivalWorker, 2310, 2400, asleep)
	p.run(0, worker, 2400, 2410, asleep)
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	read := func(all ...rendering.Stretch) [][]rendering.Step {
		t.Helper()
		asked := app
		asked.Stretches = all
		trace, err := rendering.Read(packets.Packets(bytes.NewReader(p.bytes())), asked)
		if err != nil {
			t.Fatal(err)
		}
		return trace.Stretches
	}
	name := names[worker] + "er-worker-1" // the kernel keeps 15 bytes
	got := read(rendering.Stretch{Thread: name, From: at(2000), To: at(2205)}, rendering.Stretch{Thread: "other", From: at(2000), To: at(2200)},
		rendering.Stretch{Thread: name, From: at(2200), To: at(2405)}, rendering.Stretch{Thread: name, From: at(2200), To: at(2200)}, rendering.Stretch{Thread: names[rivalWorker], From: at(2310), To: at(2400)})
	want := []map[string]float64{
		{"running DefaultDispatch": 25, "lock io RenderThread": 80, "lock running RenderThread": 20, "binder running binder:200_1": 80}, nil,
		{"running DefaultDispatch": 20, "sleep DefaultDispatch": 95, "runnable DefaultDispatch": 90}, nil, nil,
	}
	for i := range want {
		took := map[string]float64{}
		for _, s := range got[i] {
			kind := s.Kind
			if s.Does != s.Kind {
				kind += " " + s.Does
			}
			took[kind+" "+s.Thread] += s.To.Seconds()*1000 - s.From.Seconds()*1000
		}
		expect(t, fmt.Sprint("stretch ", i), took, want[i])
		if len(got[i]) > run.MaxTaskSteps {
			t.Errorf("%d steps", len(got[i]))
		}
	}
}
