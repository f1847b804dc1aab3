package hostprogram

import "testing"

// A program's name may contain the separators of the other fields.
func TestParseStat(t *testing.T) {
	t.Parallel()
	const rest = " S 1 4711 4700 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 88231 1000 10 18446744073709551615"
	for _, name := range []string{"emulator", "a) Z 1 2 3 (b", "a b", ""} {
		s, err := parseStat("4712 (" + name + ")" + rest)
		if err != nil || s != (stat{"S", 4711, 4700, "88231"}) || !s.lives() {
			t.Errorf("%q: %+v, %v", name, s, err)
		}
	}
	for _, line := range []string{"", ")", "1 (x) S 1", "1 (x) S 1 group 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"} {
		if s, err := parseStat(line); err == nil {
			t.Errorf("%q is read as %+v", line, s)
		}
	}
	if (stat{state: "Z"}).lives() {
		t.Error("a zombie lives")
	}
}
