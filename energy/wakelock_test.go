package energy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/energytest"
	"github.com/apkgate/apkgate/run"
)

func TestWakelocksWithTheScreenOff(t *testing.T) {
	t.Parallel()
	p := energytest.Read(t, energytest.Dump)
	want := []run.Wakelock{{Name: "Sync", HeldMS: 7000, ScreenOffMS: 7000}}
	if d := cmp.Diff(want, energy.Wakelocks(p, 10_086)); d != "" {
		t.Error(d)
	}
	wantMetrics := map[string]float64{"wakelock.time_ms": 9000, "wakelock.screen_off_ms": 7000, "network.rx_bytes": 400, "network.tx_bytes": 600}
	if d := cmp.Diff(wantMetrics, energy.AppMetrics(p, 10_086)); d != "" {
		t.Error(d)
	}
}

// TestWakelocksAtTheSameTime has two that were held for 50 s of a minute in which the screen was
// off for 55 s.
func TestWakelocksAtTheSameTime(t *testing.T) {
	t.Parallel()
	p := energytest.Read(t, `9,0,l,bt,0,60000,60000,60000,60000,0,55000,55000,0,0,0,0
9,10086,l,wl,one,0,f,0,0,0,0,50000,p,2,0,0,0,0,bp,0,0,0,0,0,w,0,0,0,0
9,10086,l,wl,two,0,f,0,0,0,0,50000,p,2,0,0,0,0,bp,0,0,0,0,0,w,0,0,0,0
9,10086,l,wl,screen,3000,f,1,0,0,0,0,p,0,0,0,0,0,bp,0,0,0,0,0,w,0,0,0,0
`)
	got := energy.AppMetrics(p, 10_086)
	want := map[string]float64{"wakelock.time_ms": 60000, "wakelock.screen_off_ms": 55000, "network.rx_bytes": 0, "network.tx_bytes": 0}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if locks := energy.Wakelocks(p, 10_086); len(locks) != 3 || locks[2] != (run.Wakelock{Name: "screen", HeldMS: 3000}) {
		t.Errorf("%+v", locks)
	}
}

// TestWakelocksThatTheSumMissed has a sum of 0 although a wakelock lasted 4 s, as some devices
// write it.
func TestWakelocksThatTheSumMissed(t *testing.T) {
	t.Parallel()
	p := energytest.Read(t, "9,0,l,bt,0,60000,60000,60000,60000,0,55000,55000,0,0,0,0\n9,10086,l,awl,0,0\n"+
		"9,10086,l,wl,one,0,f,0,0,0,0,4000,p,2,0,0,0,0,bp,0,0,0,0,0,w,0,0,0,0\n")
	if got := energy.AppMetrics(p, 10_086); got["wakelock.time_ms"] != 4000 || got["wakelock.screen_off_ms"] != 4000 {
		t.Errorf("%v, want 4000 ms of both", got)
	}
}

// TestWakelocksBeforeAndroid5 has one of 50 s, counted with the screen on or off. The screen was on
// for 20 s, so it was off for at least 30 s.
func TestWakelocksBeforeAndroid5(t *testing.T) {
	t.Parallel()
	p := energytest.Read(t, "7,0,l,bt,0,60000,60000,60000,60000\n7,0,l,m,20000,0\n7,10086,l,wl,Sync,0,f,0,50000,p,1,0,w,0\n")
	want := []run.Wakelock{{Name: "Sync", HeldMS: 50000, ScreenOffMS: 30000}}
	if d := cmp.Diff(want, energy.Wakelocks(p, 10_086)); d != "" {
		t.Error(d)
	}
}

func TestAppMetricsOfAnUnlistedUID(t *testing.T) {
	t.Parallel()
	want := map[string]float64{"wakelock.time_ms": 0, "wakelock.screen_off_ms": 0, "network.rx_bytes": 0, "network.tx_bytes": 0}
	if d := cmp.Diff(want, energy.AppMetrics(energytest.Read(t, energytest.Dump), 10_999)); d != "" {
		t.Error(d)
	}
	if got := energy.AppMetrics(nil, 10_999); got != nil {
		t.Errorf("without statistics: %v", got)
	}
}
