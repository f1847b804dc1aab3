package run

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/metric"
)

// hungry returns a run with all fields of energy set.
func hungry() Run {
	cost := Cost{Samples: 40, Share: 0.4, CPUMS: 40, PowerW: 2, EnergyJ: 0.08, LowJ: 0.06, HighJ: 0.11}
	return Run{
		Format: Format, App: App{Package: "com.example.mail"}, Scenario: "open", Status: Complete,
		Context: map[string]string{metric.EnergyFrom: "rails"}, Warnings: []Warning{},
		Iterations: []Iteration{{Metrics: map[string]float64{"energy.total_j": 12.5}}},
		Energy: &Energy{
			Source: "rails", UpdateMS: 250, BatteryJ: 60_000,
			Components: []Component{{Name: "cpu", EnergyJ: 4}}, Wakelocks: []Wakelock{{Name: "sync", HeldMS: 2000, ScreenOffMS: 500}},
			Methods: &Methods{
				Event: "task-clock", SampleHz: 1000, Samples: 100, CPUMS: 100, EnergyJ: 0.2, Level: 0.95, Basis: Blocks,
				List:  []Method{{Name: "com.example.mail.Inbox.open", Kind: "aot", Local: cost, NonLocal: cost}},
				Calls: []Call{{Parent: -1, Name: "main", EnergyJ: 0.2}, {Parent: 0, Name: "com.example.mail.Inbox.open", EnergyJ: 0.16}},
			},
		},
	}
}

func TestEnergySurvivesTheCodec(t *testing.T) {
	data, err := Encode(hungry())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(hungry(), got); diff != "" {
		t.Errorf("after a round trip (-want +got):\n%s", diff)
	}
}

// A run without energy is encoded as before the section existed, so that its digest stays the same.
func TestEncodeWithoutEnergy(t *testing.T) {
	r := hungry()
	r.Energy = nil
	data, err := Encode(r)
	if err != nil || bytes.Contains(data, []byte(`"energy"`)) {
		t.Errorf("%v, %s", err, data)
	}
}

func TestInvalidEnergy(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Energy)
		want   string
	}{
		"no source":         {func(e *Energy) { e.Source = "" }, "energy.source is empty"},
		"negative battery":  {func(e *Energy) { e.BatteryJ = -1 }, "the amount -1"},
		"negative joules":   {func(e *Energy) { e.Components[0].EnergyJ = -0.1 }, "components[0]"},
		"negative time":     {func(e *Energy) { e.Wakelocks[0].HeldMS = -1 }, "wakelocks[0]"},
		"a call before all": {func(e *Energy) { e.Methods.Calls[0].Parent = 0 }, "calls[0].parent is 0"},
		"its own caller":    {func(e *Energy) { e.Methods.Calls[1].Parent = 1 }, "calls[1].parent is 1"},
		"negative samples":  {func(e *Energy) { e.Methods.List[0].Local.Samples = -1 }, "list[0]"},
		"level above one":   {func(e *Energy) { e.Methods.Level = 95 }, "level 95"},
		"too many methods":  {func(e *Energy) { e.Methods.List = make([]Method, MaxMethods+1) }, "at most 500"},
		"too many calls":    {func(e *Energy) { e.Methods.Calls = make([]Call, MaxCalls+1) }, "at most 2000"},
		"not UTF-8":         {func(e *Energy) { e.Methods.List[0].Name = "\xff" }, "not valid UTF-8"},
	} {
		r := hungry()
		c.change(r.Energy)
		if _, err := Encode(r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A null is not a measured zero.
func TestNullInEnergyIsRejected(t *testing.T) {
	data, err := Encode(hungry())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(bytes.Replace(data, []byte(`"battery_j":60000`), []byte(`"battery_j":null`), 1)); err == nil || !strings.Contains(err.Error(), "energy has a null") {
		t.Errorf("%v, want that energy has a null", err)
	}
	if _, err := Decode(bytes.Replace(data, []byte(`"status"`), []byte(`"session":null,"status"`), 1)); err != nil {
		t.Errorf("a null elsewhere: %v", err)
	}
}
