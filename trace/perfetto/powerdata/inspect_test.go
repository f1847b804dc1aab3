package powerdata_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
)

// TestBatteryEnergyOnlyWhereSound checks current × voltage over 10 s, and that there is no energy
// if the readings contradict each other or the interface.
func TestBatteryEnergyOnlyWhereSound(t *testing.T) {
	t.Parallel()
	plugged := at(0).in(86, message(nil).in(1, message(nil).text(1, "debug.tracing.plug_type").text(2, "1")))
	for _, c := range []struct {
		name     string
		currents []int64 // µA, every 5 s
		voltage  int64   // µV
		charges  []int64 // µAh
		more     []message
		joules   float64 // 0: none is given
		doubt    string
	}{
		{name: "steady", currents: []int64{-1_000_000, -1_000_000, -1_000_000}, voltage: 4_000_000, joules: 40},
		// Trapezoids of (4 + 8) / 2 × 5 s and (8 + 2) / 2 × 5 s.
		{name: "changing", currents: []int64{-1_000_000, -2_000_000, -500_000}, voltage: 4_000_000, charges: []int64{2_000_000, 1_999_000, 1_997_000}, joules: 55},
		{name: "charging, or the other sign", currents: []int64{1_000_000, 1_000_000, 1_000_000}, voltage: 4_000_000, doubt: "above 0"},
		{name: "both directions", currents: []int64{-1_000_000, 200_000, -1_000_000}, voltage: 4_000_000, doubt: "changes its direction"},
		{name: "in mA", currents: []int64{-900, -1_000, -950}, voltage: 4_000_000, doubt: "amount to 0.0038"},
		{name: "in nA", currents: []int64{-1e9, -1e9, -1e9}, voltage: 4_000_000, doubt: "amount to 4e+03 W"},
		{name: "voltage in mV", currents: []int64{-1_000_000, -1_000_000}, voltage: 4_000, doubt: "4000 µV"},
		{name: "a charge that rises", currents: []int64{-1_000_000, -1_000_000}, voltage: 4_000_000, charges: []int64{1_000, 3_000}, doubt: "rose by 2000 µAh"},
		{name: "a charger", currents: []int64{-1_000_000, -1_000_000}, voltage: 4_000_000, more: []message{plugged}, doubt: "a charger was connected"},
		{name: "one reading", currents: []int64{-1_000_000}, voltage: 4_000_000},
	} {
		packets := c.more
		for i, current := range c.currents {
			reading := battery(current, c.voltage)
			if c.charges != nil {
				reading = reading.num(1, c.charges[i])
			}
			packets = append(packets, at(int64(i)*5*second).in(38, reading))
		}
		seen, err := powerdata.Inspect(bytes.NewReader(file(packets...)))
		if err != nil {
			t.Fatal(err)
		}
		joules, given := seen.Metrics["energy.total_j"]
		if given != (c.joules > 0) || math.Abs(joules-c.joules) > 1e-9 || math.Abs(seen.Metrics["power.mean_w"]-c.joules/10) > 1e-9 {
			t.Errorf("%s: %v J (%v), %v W, want %v J in 10 s", c.name, joules, given, seen.Metrics["power.mean_w"], c.joules)
		}
		doubted := false
		for _, w := range seen.Warnings {
			doubted = doubted || c.doubt != "" && strings.Contains(w.Text, c.doubt)
		}
		if doubted != (c.doubt != "") {
			t.Errorf("%s: warnings %v, want %q", c.name, seen.Warnings, c.doubt)
		}
	}
}

func TestInspectUpdateIntervals(t *testing.T) {
	t.Parallel()
	// The rail is read every 100 ms and changes every 200 ms; the battery is read
	// every 250 ms and changes every 500 ms.
	packets := []message{at(0).in(40, rail(1, "S2M_VDD_CPUCL2"))}
	for i := range int64(21) {
		packets = append(packets, at(i*100*millisecond).in(40, energy(1, i/2*1000)))
	}
	for i := range int64(21) {
		packets = append(packets, at(i*250*millisecond).in(38, battery(-500_000-i/2, 4_000_000).float(2, 50)))
	}
	seen, err := powerdata.Inspect(bytes.NewReader(file(packets...)))
	if err != nil {
		t.Fatal(err)
	}
	d := seen.Details.(powerdata.Details)
	if d.Rails[0].UpdateMS != 200 || d.Rails[0].Readings != 21 || d.Rails[0].Joules != 0.01 {
		t.Errorf("rail %+v", d.Rails[0])
	}
	if b := d.Batteries[0]; b.UpdateMS != 500 || b.Readings != 21 || *b.FirstPercent != 50 || *b.MeanVoltageUV != 4_000_000 {
		t.Errorf("battery %+v", b)
	}
	if text := strings.Join(d.Summary(), "\n"); !strings.Contains(text, "a new one every 500 ms") || !strings.Contains(text, "0.010 J") {
		t.Errorf("summary:\n%s", text)
	}
}
