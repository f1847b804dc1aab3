package profile

import (
	"fmt"
	"testing"
)

func properties(p Profile) map[string]string {
	return map[string]string{
		"sdk": p.SDK, "api": fmt.Sprint(p.API), "manufacturer": p.Manufacturer, "model": p.Model,
		"cpu": p.ABI, "screen": p.Screen, "dpi": fmt.Sprint(p.DPI), "hz": fmt.Sprint(p.Hz),
	}
}

func lab(t *testing.T, name string) []Profile {
	t.Helper()
	l, err := Lab(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The paper's section 7.2: 20 devices on four versions, 5 on three newer ones.
func TestLabsMatchThePaper(t *testing.T) {
	sdks := func(l []Profile) map[string]int {
		n := map[string]int{}
		for _, p := range l {
			n[p.SDK]++
		}
		return n
	}
	old, upgraded := lab(t, "device-lab"), lab(t, "upgraded-lab")
	if len(old) != 20 || len(sdks(old)) != 4 {
		t.Errorf("the device lab has %d devices on %v", len(old), sdks(old))
	}
	if got := fmt.Sprint(sdks(upgraded)); got != "map[5.0.0:2 5.1.0:2 6.0.0:1]" {
		t.Errorf("the upgraded lab is on %s", got)
	}
}

// The paper's section 8.2 finds seven contexts that only the upgraded devices have: three
// versions, three API levels, one model. No other property, and no pair of properties, may
// distinguish an upgraded device.
func TestOnlySevenContextsAreNew(t *testing.T) {
	history := map[string]bool{}
	for _, p := range lab(t, "device-lab") {
		for k, v := range properties(p) {
			history[k+"="+v] = true
			for k2, v2 := range properties(p) {
				history[k+"="+v+","+k2+"="+v2] = true
			}
		}
	}
	fresh := map[string]bool{}
	for _, p := range lab(t, "upgraded-lab") {
		for k, v := range properties(p) {
			if item := k + "=" + v; !history[item] {
				fresh[item] = true
			}
		}
	}
	if len(fresh) != 7 {
		t.Errorf("new contexts: %v, want the seven of the paper", fresh)
	}
	for _, p := range lab(t, "upgraded-lab") {
		for k, v := range properties(p) {
			for k2, v2 := range properties(p) {
				a, b := k+"="+v, k2+"="+v2
				if !fresh[a] && !fresh[b] && !history[a+","+b] {
					t.Errorf("%s: %s and %s together are nowhere in the device lab", p.Name, a, b)
				}
			}
		}
	}
}

func TestProfilesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range All() {
		if seen[p.Name] {
			t.Errorf("two profiles are named %s", p.Name)
		}
		seen[p.Name] = true
		if w, h := p.Size(); w < 240 || h < 320 || p.Hz < 60 || p.Speed <= 0 || p.API < 16 {
			t.Errorf("%s is not a phone: %+v", p.Name, p)
		}
		if got, err := Find(p.Name); err != nil || got != p {
			t.Errorf("Find(%q) is %+v, %v", p.Name, got, err)
		}
	}
	if _, err := Find("nokia-3310"); err == nil {
		t.Error("a Nokia 3310 is found")
	}
}
