package anr

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/run"
)

// TestSimilarity works equations 1 and 2 out by hand. Each vector has, beside its
// functions, four features of its thread: its name, its process, no lock, a length of 1.
func TestSimilarity(t *testing.T) {
	of := func(features string, functions ...string) point {
		a := threads(thread("main", run.WaitRunning, "", functions...))
		if features != "" {
			a.Features = strings.Split(features, ",")
		}
		return numbers.points(a, 0, 0)[0]
	}
	java := func(n int, more ...string) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("a.B.f%c(B.java:1)", 'a'+i))
		}
		return append(out, more...)
	}
	for name, test := range map[string]struct {
		a, b point
		want float64
	}{
		"equal":                       {of("cpu: high", java(5)...), of("cpu: high", java(5)...), 1},
		"one function of 20 more":     {of("", java(16)...), of("", java(17)...), 20 / math.Sqrt(20*21)},
		"another function of 25":      {of("", java(20, "a.B.x(B.java:1)")...), of("", java(20, "a.B.y(B.java:1)")...), 24.0 / 25},
		"half of the features":        {of("cpu: high,heap: good", java(20)...), of("cpu: low,heap: good", java(20)...), (1.0 + 24) / (3 + 24)},
		"a feature that is not told":  {of("cpu: high,heap: good", java(20)...), of("heap: good", java(20)...), 1},
		"frames of a kind not shown":  {of("", java(5, "native: #00 pc 1  /system/lib/libc.so (read+4)", "kernel: fsync+0x1/0x2")...), of("", java(5)...), 1},
		"one that both dumps show":    {of("", java(20, "kernel: a+0x1/0x2")...), of("", java(20, "kernel: b+0x1/0x2")...), 24.0 / 25},
		"nothing in common but shape": {of("", java(20)...), of("", "x.Y.z(Z.java:1)"), 0},
	} {
		for _, got := range []float64{similarity(test.a, test.b), similarity(test.b, test.a)} {
			if math.Abs(got-test.want) > 1e-12 {
				t.Errorf("%s: %.6f, want %.6f", name, got, test.want)
			}
		}
	}
}

// numbers are those of the features of all vectors of a test.
var numbers vectors

// TestBestIsNoLess: what is passed over for its size could not have been alike.
func TestBestIsNoLess(t *testing.T) {
	for m := 1; m < 40; m++ {
		for n := m; n < 40; n++ {
			for either := range 6 {
				// The most that they can have in common: all features and the smaller vector.
				s := (float64(either) + float64(n)*math.Sqrt(float64(m)/float64(n))) / float64(either+n)
				if got := best(float64(either), m, n); math.Abs(got-s) > 1e-12 || got != best(float64(either), n, m) {
					t.Fatalf("sizes %d and %d: %.6f, want %.6f", m, n, got, s)
				}
			}
		}
	}
}

// TestConnected: parts hang together through others, whichever comes first.
func TestConnected(t *testing.T) {
	near := func(places []int) []int {
		return connected(len(places), func(a, b int) bool { return places[a]-places[b] == 1 || places[b]-places[a] == 1 })
	}
	if got := fmt.Sprint(near([]int{1, 9, 3, 2, 8, 5})); got != "[0 1 0 0 1 2]" {
		t.Errorf("parts %s", got)
	}
	if got := connected(0, nil); len(got) != 0 {
		t.Errorf("parts of nothing: %v", got)
	}
}
