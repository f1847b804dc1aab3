package devctx

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/metric"
)

// Paper, Figure 2 and Table 1.
func paper() (t4 Properties, history []Properties) {
	t1 := Properties{"version": "v1", "sdk": "4.1", "manufacturer": "samsung", "model": "S3", "cpu": "x86", "network": "wifi"}
	t2 := Properties{"version": "v1", "sdk": "4.2", "manufacturer": "htc", "model": "Evo", "cpu": "x86", "network": "3g"}
	t3 := Properties{"version": "v1", "sdk": "4.3", "manufacturer": "lg", "model": "L3", "cpu": "x86", "network": "wifi"}
	t4 = Properties{"version": "v1.2", "sdk": "4.1", "manufacturer": "lg", "model": "G4", "cpu": "x86", "network": "wifi"}
	return t4, []Properties{t1, t2, t3}
}

func TestTable1(t *testing.T) {
	t4, history := paper()
	want := map[int]Ranked{
		0: {Similarity: 1.73, Weight: 0.39, Cluster: 1},
		1: {Similarity: 1, Weight: 0.22, Cluster: 2},
		2: {Similarity: 1.73, Weight: 0.39, Cluster: 1},
	}
	for _, r := range Rank(t4, history, nil) {
		w := want[r.Index]
		if math.Abs(r.Similarity-w.Similarity) > 0.005 || math.Abs(r.Weight-w.Weight) > 0.005 || r.Cluster != w.Cluster {
			t.Errorf("T%d: %+v, want %+v", r.Index+1, r, w)
		}
	}
}

func TestShared(t *testing.T) {
	t4, history := paper()
	if n := Shared(t4, history[0], []string{"cpu", "model", "absent"}); n != 1 {
		t.Errorf("shared = %d, want 1 (the cpu)", n)
	}
	if Same(t4, history[0], nil) || !Same(t4, history[0], []string{"sdk", "network"}) {
		t.Error("T4 and T1 differ as a whole and agree in sdk and network")
	}
	for _, pair := range [][2]Properties{{{"a": ""}, {}}, {{}, {"a": ""}}, {{}, {}}} {
		if n := Shared(pair[0], pair[1], []string{"a"}); n != 0 {
			t.Errorf("%v and %v share %d properties: one that is absent is none", pair[0], pair[1], n)
		}
	}
	if Same(Properties{"a": "1"}, Properties{}, []string{"a"}) {
		t.Error("a property that only one has is a difference")
	}
}

func TestRankWithoutSharedProperties(t *testing.T) {
	ranked := Rank(Properties{"a": "1"}, []Properties{{"a": "2"}, {}, {"b": "1"}, {"a": "3"}}, nil)
	sum := 0.0
	for _, r := range ranked {
		sum += r.Weight
		if r.Weight != 0.25 || r.Cluster != 1 {
			t.Errorf("%+v, want weight 0.25 in cluster 1", r)
		}
	}
	if sum != 1 {
		t.Errorf("weights sum to %v", sum)
	}
	if got := Rank(Properties{}, nil, nil); len(got) != 0 {
		t.Errorf("Rank of no history = %v", got)
	}
}

func TestHardPropertiesKeepRunsApart(t *testing.T) {
	real := Properties{"model": "a"}
	for _, other := range []Properties{{"model": "a", "simulated": "true"}, {"model": "a", "measured_by": "macrobenchmark"}, {"measured_by": "x"}} {
		if Comparable(real, other) || !Comparable(other, other) {
			t.Errorf("%v and %v: want these apart and each comparable with itself", real, other)
		}
	}
}

// A phone whose joules come from another source, or whose battery is low, is the same phone; an app
// that was compiled ahead of time is another context.
func TestEnergySourceKeepsTheContext(t *testing.T) {
	plain := Properties{"model": "a", "network": "wifi"}
	rails := Properties{"model": "a", "network": "wifi", metric.EnergyFrom: "rails", Powered: "usb", Battery: "80-100%"}
	battery := Properties{"model": "a", "network": "wifi", metric.EnergyFrom: "battery", Powered: "battery", Battery: "0-19%"}
	for _, other := range []Properties{plain, rails, battery} {
		if n := Shared(rails, other, nil); n != 2 || !Same(rails, other, nil) {
			t.Errorf("%v and %v share %d properties, want 2 and the same context", rails, other, n)
		}
	}
	if len(rails) != 5 {
		t.Errorf("the context itself was changed: %v", rails)
	}
	if Same(rails, battery, []string{metric.EnergyFrom}) || Shared(rails, rails, []string{metric.EnergyFrom}) != 1 {
		t.Error("a property that is named counts, set aside or not")
	}
	if Same(plain, Properties{"model": "a", "network": "wifi", "compiled": "speed"}, nil) {
		t.Error("compiled ahead of time is a difference")
	}
	timeline := Properties{"model": "a", "network": "wifi", metric.FramesBy: "timeline"}
	if !Same(plain, timeline, nil) || !Comparable(plain, timeline) || Shared(timeline, timeline, nil) != 2 {
		t.Error("where the frames are taken from makes another phone")
	}
}
