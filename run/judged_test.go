package run

import (
	"strings"
	"testing"
	"time"
)

// The later outcome counts, and of two at one time the greater word.
func TestJudgedOver(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	said := &Judged{Outcome: "pass", At: noon}
	for name, c := range map[string]struct {
		now    Judged
		before *Judged
		want   bool
	}{
		"nothing before":        {Judged{Outcome: "pass", At: noon}, nil, true},
		"later":                 {Judged{Outcome: "invalid", At: noon.Add(1)}, said, true},
		"before":                {Judged{Outcome: "regression", At: noon.Add(-1)}, said, false},
		"then, a greater word":  {Judged{Outcome: "regression", At: noon}, said, true},
		"then, a smaller word":  {Judged{Outcome: "invalid", At: noon}, said, false},
		"the same":              {*said, said, false},
		"then, in another zone": {Judged{Outcome: "regression", At: noon.In(time.FixedZone("", 3600))}, said, true},
	} {
		if got := c.now.Over(c.before); got != c.want {
			t.Errorf("%s: it counts: %t", name, got)
		}
	}
}

// An outcome is a word, given in a year from 1 to 9998.
func TestJudgedCheck(t *testing.T) {
	in := func(year int) time.Time { return time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		of   Judged
		want string
	}{
		{Judged{"pass", in(2026)}, ""}, {Judged{"pass", in(1)}, ""}, {Judged{"pass", in(9998)}, ""},
		{Judged{"", in(2026)}, `outcome is "", want a word in lower case`}, {Judged{"Pass it", in(2026)}, `outcome is "Pass it"`},
		{Judged{"pass", in(9999)}, "at is in the year 9999, want 1 to 9998"}, {Judged{"pass", in(0)}, "at is in the year 0"},
	} {
		err := c.of.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.of, err, c.want)
		}
	}
}

// The name of a kept file has no folder, on every system.
func TestFileNames(t *testing.T) {
	for name, want := range map[string]bool{
		"open-1.pftrace": true, "Z": true, "A_z.9": true, "AZ": true, "": false, "-a": false, "a.": false, "a/b": false, "a b": false, "[a": false, "a{": false, "@": false, "`": false, "é": false,
		strings.Repeat("a", 128): true, strings.Repeat("a", 129): false,
	} {
		if got := ValidFileName(name); got != want {
			t.Errorf("%.40q is a file's name: %t", name, got)
		}
	}
}

// A record where more than all, or less than none, of its frames were seen is rejected.
func TestFramesSeenIsAShare(t *testing.T) {
	for seen, want := range map[float64]bool{0: true, 0.5: true, 1: true, -0.1: false, 1.1: false} {
		if err := (Iteration{FramesSeen: seen}).validate(); (err == nil) != want {
			t.Errorf("%g: %v", seen, err)
		}
	}
}
