package anrcause

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/run"
)

// Equations 1 and 2 by hand. Each vector has, in addition to its functions, its thread's and its
// process's name, no lock, and a length of 1, which is 1/2 as a dimension: 2.25 more in each
// product. Its functions are the app's own, and count twice. Two more dimensions are numbers.
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
		"one function more":           {of("", java(16)...), of("", java(17)...), 34.25 / math.Sqrt(34.25*36.25)},
		"another function of 21":      {of("", java(20, "a.B.x(B.java:1)")...), of("", java(20, "a.B.y(B.java:1)")...), 42.25 / 44.25},
		"half of the features":        {of("cpu: high,heap: good", java(20)...), of("cpu: low,heap: good", java(20)...), (1.0 + 24) / (3 + 24)},
		"a feature that is not told":  {of("cpu: high,heap: good", java(20)...), of("heap: good", java(20)...), 1},
		"frames of a kind not shown":  {of("", java(5, "native: #00 pc 1  /system/lib/libc.so (read+4)", "kernel: fsync+0x1/0x2")...), of("", java(5)...), 1},
		"one that both dumps show":    {of("", java(20, "kernel: a+0x1/0x2")...), of("", java(20, "kernel: b+0x1/0x2")...), 42.25 / 43.25},
		"nothing in common but shape": {of("", java(20)...), of("", "x.Y.z(Z.java:1)"), 2.25 / math.Sqrt(42.25*4.25)},
	} {
		for _, got := range []float64{similarity(&test.a, &test.b), similarity(&test.b, &test.a)} {
			if math.Abs(got-test.want) > 1e-12 {
				t.Errorf("%s: %.6f, want %.6f", name, got, test.want)
			}
		}
	}
}

// numbers are those of the features of all vectors of a test.
var numbers vectors

// Pairs that are skipped because of their size are not alike.
func TestAlikeIsSimilarity(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var points []point
	for range 60 {
		var stack []string
		for i := range 12 {
			if random.IntN(5) > 0 {
				stack = append(stack, fmt.Sprintf("a.B.f%c(B.java:1)", 'a'+i))
			}
		}
		a := threads(thread("main", "", "", append(stack, "java.lang.Math.abs(Math.java:1)")...))
		a.Features = [][]string{nil, {"cpu: high"}, {"cpu: low", "heap: full"}}[random.IntN(3)]
		points = append(points, numbers.points(a, 0, 0)...)
	}
	for _, above := range []float64{0.5, 0.8, 0.9, 0.95} {
		for _, a := range points {
			for _, b := range points {
				if got, want := alike(&a, &b, above), similarity(&a, &b) > above; got != want {
					t.Fatalf("above %g: %v, but the similarity is %g", above, got, similarity(&a, &b))
				}
			}
		}
	}
}

// Components are connected through others, whatever the order.
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
