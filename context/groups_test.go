package devctx

import (
	"slices"
	"testing"
)

// Contexts have the same number where they agree in what counts; the battery does not count.
func TestGroups(t *testing.T) {
	of := func(pairs ...string) Properties {
		p := Properties{}
		for i := 0; i < len(pairs); i += 2 {
			p[pairs[i]] = pairs[i+1]
		}
		return p
	}
	g := NewGroups(nil)
	wifi, cell, other := of("model", "a", "network", "wifi"), of("model", "a", "network", "3g"), of("model", "b", "network", "wifi")
	var got []int
	for _, c := range []Properties{wifi, cell, wifi, other, of("model", "a", "network", "wifi", Battery, "0-19%")} {
		got = append(got, g.Of(c))
	}
	if want := []int{0, 1, 0, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if g.Find(of("network", "3g", "model", "a")) != 1 || g.Find(of("model", "c")) != -1 || len(g.Distinct()) != 3 {
		t.Errorf("found %d and %d of %v", g.Find(of("network", "3g", "model", "a")), g.Find(of("model", "c")), g.Distinct())
	}
	wifi["model"] = "c" // another context in the same map
	if g.Forget(); g.Of(wifi) != 3 {
		t.Errorf("a context that changed has the number %d, want a new one", g.Of(wifi))
	}
	if alone := NewGroups([]string{"model"}); alone.Of(cell) != alone.Of(of("model", "a")) {
		t.Error("a property that does not count tells contexts apart")
	}
}

func TestKey(t *testing.T) {
	all := []Properties{{}, {"a": ""}, {"a": "b"}, {"b": "a"}, {"a": "b", "c": "d"}, {"a": "bc", "d": ""}, {"ab": "c"}}
	for i, a := range all {
		for k, b := range all {
			if (Key(a) == Key(b)) != (i == k) {
				t.Errorf("%v and %v: keys %q and %q", a, b, Key(a), Key(b))
			}
		}
	}
}

func TestTelling(t *testing.T) {
	c := Properties{"model": "a", "cpu": "x86", Battery: "0-19%", Simulated: "true"}
	if got := Key(Telling(c, []string{"model"})); got != Key(Properties{"model": "a", Simulated: "true"}) {
		t.Errorf("%q, want the model, and that it is simulated", got)
	}
	if got := Key(Telling(c, nil)); got != Key(Properties{"model": "a", "cpu": "x86", Simulated: "true"}) {
		t.Errorf("%q, want all but the battery", got)
	}
}
