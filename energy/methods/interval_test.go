package methods

import (
	"math"
	"testing"
)

// Brown, Cai and DasGupta (2001) and any table of Wilson's interval: 1 of 10 is
// 1.79 % to 40.42 %, 5 of 10 is 23.66 % to 76.34 %, 0 of 10 is up to 27.75 %.
func TestWilson(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ p, n, low, high float64 }{
		{0.1, 10, 0.0179, 0.4042}, {0.5, 10, 0.2366, 0.7634}, {0, 10, 0, 0.2775}, {1, 10, 0.7225, 1},
	} {
		got := wilson(c.p, c.n, 1.959964)
		if math.Abs(got.Low-c.low) > 5e-5 || math.Abs(got.High-c.high) > 5e-5 {
			t.Errorf("%g of %g: %.4f to %.4f, want %g to %g", c.p*c.n, c.n, got.Low, got.High, c.low, c.high)
		}
	}
}

// The score interval of a count of 10 is 5.43 to 18.41 (10 + z²/2 ± z·√(10+z²/4)). For an amount of
// 3 J with the same relative variance, it is 3/10 of that.
func TestScaled(t *testing.T) {
	t.Parallel()
	got := scaled(3, 0.1, 1.959964)
	if math.Abs(got.Low-1.630) > 2e-3 || math.Abs(got.High-5.523) > 2e-3 {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct{ value, variance float64 }{{0, 1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if got := scaled(c.value, c.variance, 2); got.Low != 0 || got.High != 0 {
			t.Errorf("an amount of %g with the variance %g has the interval %+v", c.value, c.variance, got)
		}
	}
}

// Sums of 1 and 3 over two batches: their variance is 2, that of the total 4, and
// relative to the square of the total, 16, it is 0.25.
func TestRelativeVariance(t *testing.T) {
	t.Parallel()
	if got := relativeVariance(4, 1+9, 2); got != 0.25 {
		t.Errorf("%g, want 0.25", got)
	}
	if got := relativeVariance(4, 16, 1); got != 0 {
		t.Errorf("of one batch: %g, want 0", got)
	}
}

func TestRecordBoundsNames(t *testing.T) {
	t.Parallel()
	long := make([]byte, 5000)
	for i := range long {
		long[i] = "é"[i%2]
	}
	for in, want := range map[string]string{
		"a\xffb":     "a\uFFFDb",
		string(long): string(long[:4092]) + "…",
	} {
		if got := text(in); got != want {
			t.Errorf("%.10q… became %d bytes %.10q…, want %d", in, len(got), got, len(want))
		}
	}
}
