package gate

import (
	"slices"
	"testing"
)

func TestSampleEvenly(t *testing.T) {
	five := []float64{1, 2, 3, 4, 5}
	for n, want := range map[int][]float64{1: {1}, 2: {1, 3}, 4: {1, 2, 3, 4}, 5: five, 6: five} {
		if got := SampleEvenly(five, n); !slices.Equal(got, want) {
			t.Errorf("%d of %v: %v, want %v", n, five, got, want)
		}
	}
}
