package energy_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/energytest"
	"github.com/apkgate/apkgate/run"
)

// rail is one that draws constant power for 10 s.
func rail(name, subsystem string, watts float64) energy.Rail {
	return energy.Rail{Name: name, Subsystem: subsystem, Counts: []energy.Count{
		{Time: 0, Joules: 1000}, {Time: energytest.Seconds(5), Joules: 1000 + 5*watts}, {Time: energytest.Seconds(10), Joules: 1000 + 10*watts}}}
}

func TestOfRails(t *testing.T) {
	t.Parallel()
	p, err := energy.OfRails([]energy.Rail{
		rail("S2M_VDD_CPUCL2", "cpu_big", 0.7), rail("S3M_VDD_CPUCL1", "cpu_mid", 0.2), rail("S4M_VDD_CPUCL0", "cpu_little", 0.1),
		rail("VSYS_PWR_DISPLAY", "display", 1.5), rail("S2S_VDD_G3D", "gpu", 0.3), rail("S2S_VDD_G3D_L2", "gpu", 0.05),
		{Name: "L15M_VDD_SLC_M", Counts: []energy.Count{{Time: 0, Joules: 5}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	joules, covered := p.Total.Energy(0, energytest.Seconds(20))
	energytest.Near(t, "all rails", joules, 28.5)
	energytest.Near(t, "covered", covered.Seconds(), 10)
	want := []run.Component{{Name: "display", EnergyJ: 7.5}, {Name: "cpu_big", EnergyJ: 3.5}, {Name: "gpu", EnergyJ: 1.75}, {Name: "cpu_mid", EnergyJ: 1}, {Name: "cpu_little", EnergyJ: 0.5}}
	if d := cmp.Diff(want, p.Components(0, energytest.Seconds(5)), energytest.Alike); d != "" {
		t.Error("the first 5 s:", d)
	}
	if len(p.LeftOut) != 1 || p.LeftOut[0].Name != "L15M_VDD_SLC_M" || p.Update != energytest.Seconds(5) {
		t.Errorf("left out %v, an update in %v", p.LeftOut, p.Update)
	}
}

func TestOfRailsNested(t *testing.T) {
	t.Parallel()
	p, err := energy.OfRails([]energy.Rail{
		rail("PP1304_L2C", "", 0.5), rail("WCN3998_VDD13 [from PP1304_L2C]", "", 0.4), rail("PP1800_X [from VREG_UNWATCHED]", "", 0.2),
	})
	if err != nil {
		t.Fatal(err)
	}
	joules, _ := p.Total.Energy(0, energytest.Seconds(10))
	energytest.Near(t, "the rail that feeds, and one that no watched rail feeds", joules, 7)
	if len(p.LeftOut) != 1 || p.LeftOut[0].Why != "it is fed by PP1304_L2C, which is monitored" {
		t.Errorf("left out: %v", p.LeftOut)
	}
}

// TestOfRailsWithRegulators leaves out linear regulators that converters feed; without
// converters they are all that is known.
func TestOfRailsWithRegulators(t *testing.T) {
	t.Parallel()
	regulator := rail("L2S_VDD_AOC_RET", "aoc", 0.1)
	regulator.Derived = true
	p, err := energy.OfRails([]energy.Rail{rail("S8M_LLDO2", "", 0.3), regulator})
	if err != nil {
		t.Fatal(err)
	}
	joules, _ := p.Total.Energy(0, energytest.Seconds(10))
	energytest.Near(t, "the converter", joules, 3)
	if len(p.LeftOut) != 1 || p.LeftOut[0].Name != "L2S_VDD_AOC_RET" {
		t.Errorf("left out: %v", p.LeftOut)
	}
	if p, err = energy.OfRails([]energy.Rail{regulator}); err != nil {
		t.Fatal(err)
	}
	joules, _ = p.Total.Energy(0, energytest.Seconds(10))
	energytest.Near(t, "the regulator alone", joules, 1)
}

// TestOfRailsOfTwoDataSources has the same rail twice, and one of another component under the same
// name.
func TestOfRailsOfTwoDataSources(t *testing.T) {
	t.Parallel()
	p, err := energy.OfRails([]energy.Rail{rail("SHARED", "cpu", 0.5), rail("SHARED", "cpu", 0.5), rail("SHARED", "gpu", 0.2)})
	if err != nil {
		t.Fatal(err)
	}
	joules, _ := p.Total.Energy(0, energytest.Seconds(10))
	energytest.Near(t, "each part once", joules, 7)
	if len(p.LeftOut) != 1 || p.LeftOut[0].Name != "SHARED" {
		t.Errorf("left out: %v", p.LeftOut)
	}
}

func TestOfRailsWithATotalRail(t *testing.T) {
	t.Parallel()
	p, err := energy.OfRails([]energy.Rail{rail("VPH_PWR_S4C", "", 0.5), rail("VSYS", "", 2), rail("VSYS_PWR_DISPLAY", "display", 0.9)})
	if err != nil {
		t.Fatal(err)
	}
	joules, _ := p.Total.Energy(0, energytest.Seconds(10))
	energytest.Near(t, "what feeds all", joules, 20)
	want := []run.Component{{Name: "display", EnergyJ: 9}, {Name: energy.Rest, EnergyJ: 6}, {Name: "VPH_PWR_S4C", EnergyJ: 5}}
	if d := cmp.Diff(want, p.Components(0, energytest.Seconds(10)), energytest.Alike); d != "" {
		t.Error(d)
	}
}

// TestOfRailsNestedTwice has C fed by B, which is fed by A.
func TestOfRailsNestedTwice(t *testing.T) {
	t.Parallel()
	p, err := energy.OfRails([]energy.Rail{rail("C [from B_L2C]", "", 0.1), rail("B_L2C [from A_S1C]", "", 0.4), rail("A_S1C", "", 0.5)})
	if err != nil {
		t.Fatal(err)
	}
	joules, _ := p.Total.Energy(0, energytest.Seconds(10))
	energytest.Near(t, "the rail that feeds both", joules, 5)
}

// TestOfRailsWithTheBatterysRail uses it while the device is on battery. With a charger it counts
// next to nothing, and the single rails are all that is known.
func TestOfRailsWithTheBatterysRail(t *testing.T) {
	t.Parallel()
	parts := []energy.Rail{rail("S2M_VDD_CPUCL2", "cpu", 0.5), rail("VSYS_PWR_DISPLAY", "display", 0.9), rail("VSYS_PWR_VBATT_CHARGE", "", 5)}
	for _, c := range []struct {
		watts, want float64
	}{{2, 20}, {0.013, 14}} {
		p, err := energy.OfRails(append(parts, rail("VSYS_PWR_VBATT", "", c.watts)))
		if err != nil {
			t.Fatal(err)
		}
		joules, _ := p.Total.Energy(0, energytest.Seconds(10))
		energytest.Near(t, "joules in all", joules, c.want)
		sum := 0.0
		for _, part := range p.Components(0, energytest.Seconds(10)) {
			sum += part.EnergyJ
		}
		energytest.Near(t, "of all components", sum, c.want)
	}
	if p, err := energy.OfRails([]energy.Rail{rail("VBAT", "", 1), rail("VSYS", "", 0.9)}); err != nil || p.Total.Mean(0, energytest.Seconds(10)) != 1 {
		t.Errorf("of two rails that feed all: %g W, %v; want that of the battery, 1 W", p.Total.Mean(0, energytest.Seconds(10)), err)
	}
}

// TestOfRailsRefreshedSeldom has counters that are read every second and refreshed every second
// time: the 4 J are of both seconds. A rail that is off counts nothing in the meantime.
func TestOfRailsRefreshedSeldom(t *testing.T) {
	t.Parallel()
	counts := func(joules ...float64) []energy.Count {
		out := make([]energy.Count, len(joules))
		for i, j := range joules {
			out[i] = energy.Count{Time: energytest.Seconds(float64(i)), Joules: j}
		}
		return out
	}
	p, err := energy.OfRails([]energy.Rail{{Name: "CPU", Counts: counts(0, 0, 4, 4, 10)}, {Name: "TPU", Counts: counts(5, 5, 5, 5, 7)}})
	if err != nil {
		t.Fatal(err)
	}
	energytest.Near(t, "mean power in the first second", p.Total.Mean(0, energytest.Seconds(1)), 2)
	energytest.Near(t, "and in the last", p.Total.Mean(energytest.Seconds(3), energytest.Seconds(4)), 4)
	if p.Update != 2*time.Second {
		t.Errorf("an update in %v, want 2s", p.Update)
	}
}

func TestOfRailsWithoutRails(t *testing.T) {
	t.Parallel()
	for name, rails := range map[string][]energy.Rail{
		"none":               nil,
		"without counts":     {{Name: "S2M_VDD_CPUCL2"}},
		"counters stand":     {rail("S2M_VDD_CPUCL2", "", 0)},
		"at different times": {rail("A", "", 1), {Name: "B", Counts: []energy.Count{{Time: energytest.Seconds(20), Joules: 1}, {Time: energytest.Seconds(30), Joules: 9}}}},
	} {
		if _, err := energy.OfRails(rails); !errors.Is(err, energy.ErrNoRails) {
			t.Errorf("%s: %v, want ErrNoRails", name, err)
		}
	}
}
