package devctx

import (
	"maps"
	"testing"
)

func TestChosenPropertiesCountOnEmulatorsOnly(t *testing.T) {
	phone := Properties{"model": "Pixel 7", "sdk": "14"}
	told := Properties{"model": "Pixel 7", "sdk": "14", GPU: "Mali-G710", RAM: "8 GB", Cores: "8", Density: "420", Host: "x", SecurityPatch: "2026-01-05", CPUMHz: "4x1800"}
	if !Same(phone, told, nil) {
		t.Error("what follows from a phone's model makes its history another's")
	}
	emulator := maps.Clone(told)
	emulator[Virtual] = "emulator"
	for _, name := range Chosen {
		other := maps.Clone(emulator)
		other[name] = "another"
		if Same(emulator, other, nil) {
			t.Errorf("two emulators with another %s are taken for the same", name)
		}
		if other[name] = ""; Same(phone, other, nil) {
			t.Errorf("an emulator is taken for a phone")
		}
	}
	other := maps.Clone(emulator)
	other[Host], other[CPUMHz], other[SecurityPatch] = "y", "8x2400", "2026-02-05"
	if !Same(emulator, other, nil) {
		t.Error("another host makes another device")
	}
	if Same(phone, told, []string{RAM}) {
		t.Error("a property that is named does not count")
	}
	// Only is idempotent.
	if once := Only(emulator, nil); !maps.Equal(once, Only(once, nil)) {
		t.Errorf("of %v, %v counts the second time", once, Only(once, nil))
	}
}

func TestSupposedEmulatorHistory(t *testing.T) {
	old := Properties{"model": "sdk", "sdk": "14", "network": "wifi", Version: "1"}
	elsewhere := Properties{"model": "sdk", "sdk": "14", "network": "lte"}
	as := func(gpu string) Properties {
		return Properties{"model": "sdk", "sdk": "14", "network": "wifi", Version: "2", Virtual: "emulator", GPU: gpu, RAM: "2 GB"}
	}
	own := func(now Properties, past ...Properties) (out []bool) {
		for _, c := range Supposed(now, past) {
			out = append(out, Same(c, now, nil))
		}
		return out
	}
	check := func(what string, got []bool, want ...bool) {
		t.Helper()
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: of the run's own context are %v, want %v", what, got, want)
				return
			}
		}
	}
	check("nothing noted yet", own(as("swiftshader"), old, elsewhere), true, false)
	check("noted since", own(as("swiftshader"), old, old, as("swiftshader")), true, true, true)
	check("changed since", own(as("host"), old, as("swiftshader"), as("host")), false, false, true)
	check("and changed back", own(as("swiftshader"), old, as("swiftshader"), as("host")), true, true, false)
	check("a phone", own(Properties{"model": "sdk"}, old, Properties{"model": "sdk"}), false, true)
	if len(old) != 4 {
		t.Errorf("the history itself was changed: %v", old)
	}
	// Runs of one context share its map, and still do.
	got := Supposed(as("host"), []Properties{old, old})
	got[0]["x"] = "y"
	if got[1]["x"] != "y" {
		t.Error("each run has a copy of its own of what they shared")
	}
}

// An emulator that never had animations keeps its history from before that was recorded; a phone,
// where it was not read, does not.
func TestSupposedAnimations(t *testing.T) {
	old := Properties{"model": "sdk", "sdk": "14"}
	off := Properties{"model": "sdk", "sdk": "14", Virtual: "emulator", Animations: "off"}
	on := Properties{"model": "sdk", "sdk": "14", Virtual: "emulator"}
	for _, c := range []struct {
		what string
		now  Properties
		past []Properties
		want bool // the first of the past is the same
	}{
		{"off since it was noted", off, []Properties{old}, true},
		{"on since it was noted", on, []Properties{old}, true},
		{"off for the first time", off, []Properties{old, on}, false},
		{"on again", on, []Properties{old, on, off}, true},
		{"a phone", Properties{"model": "Pixel 7", Animations: "off"}, []Properties{{"model": "Pixel 7"}}, false},
		{"a phone as ever", Properties{"model": "Pixel 7"}, []Properties{{"model": "Pixel 7"}}, true},
		{"a phone under a load", Properties{"model": "Pixel 7", Load: "cpu 80%"}, []Properties{{"model": "Pixel 7"}}, false},
		{"an emulator without a load, as ever", on, []Properties{{"model": "sdk", "sdk": "14", Load: "cpu 80%"}}, false},
		{"a phone whose clocks are held", Properties{"model": "Pixel 7", Performance: "fixed"}, []Properties{{"model": "Pixel 7"}}, false},
	} {
		if got := Same(Supposed(c.now, c.past)[0], c.now, nil); got != c.want {
			t.Errorf("%s: of the run's own context: %v, want %v", c.what, got, c.want)
		}
	}
}
