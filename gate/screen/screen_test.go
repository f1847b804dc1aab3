package screen

import (
	"math"
	"math/rand/v2"
	"testing"
)

func prior() Prior { return Prior{Between: 0.02, Repetition: 0.05, Floor: 0.005} }

func draw(rng *rand.Rand, level, tau, sigma float64, n int, w *Within) Session {
	l := level + tau*rng.NormFloat64()
	sum, sq := 0.0, 0.0
	for range n {
		x := l + sigma*rng.NormFloat64()
		sum += x
		sq += x * x
	}
	m := sum / float64(n)
	if n > 1 {
		w.Squares += sq - float64(n)*m*m
		w.DF += float64(n - 1)
	}
	return Session{m, n}
}

func TestX(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, k := range []int{5, 9, 18} {
		for _, ns := range [][2]int{{1, 1}, {1, 10}, {3, 3}, {10, 1}, {10, 3}, {0, 3}} {
			for _, c := range [][2]float64{{0, .01}, {0, .05}, {.01, .02}, {.03, .02}, {.06, .03}, {.03, .15}, {.1, .1}} {
				miss, clear, tail := 0, 0, 0
				const draws = 2000
				for range draws {
					var w Within
					var past []Session
					for i := range k {
						n := ns[0]
						if n == 0 {
							n = []int{1, 3, 10}[i%3]
						}
						past = append(past, draw(rng, 2, c[0], c[1], n, &w))
					}
					s := draw(rng, 2, c[0], c[1], ns[1], &w)
					o := Of(past, ns[1], w, prior())
					d := math.Log(1.1)
					if o.Below(s.Centre-d) <= .02 {
						clear++
					}
					if o.Below(s.Centre) <= .02 {
						miss++
					}
					if o.Rarely(s.Centre, true) <= .01 {
						tail++
					}
				}
				t.Logf("k %d n %v tau %g sigma %g: missed %.2f %% cleared %.1f %% heavy p<.01 %.2f", k, ns, c[0], c[1], 100*float64(miss)/draws, 100*float64(clear)/draws, 100*float64(tail)/draws)
			}
		}
	}
}

func BenchmarkOf(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		var w Within
		var past []Session
		for i := range 50 {
			past = append(past, draw(rng, 2, .03, .05, []int{1, 3, 10}[i%3], &w))
		}
		o := Of(past, 3, w, prior())
		o.Quantile(.02)
		o.Quantile(.1)
		o.Reach(.005)
		o.Reach(.995)
	}
}
