package run_test

import (
	"testing"

	"github.com/apkgate/apkgate/run"
)

func TestSameCommit(t *testing.T) {
	const whole = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{whole, whole, true},
		{whole, "4b825dc", true},
		{"4b825dc642cb", "4b825dc", true},
		{whole, "4b825d", false}, // too short to identify it
		{"4b825d", "4b825d", true},
		{whole, "4b825dd", false},
		{whole, "", false},
	} {
		if run.SameCommit(c.a, c.b) != c.want || run.SameCommit(c.b, c.a) != c.want {
			t.Errorf("%q and %q: want %v", c.a, c.b, c.want)
		}
	}
}
