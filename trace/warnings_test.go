package trace

import (
	"slices"
	"testing"
)

// A count is worded for one thing or for several, and 0 adds no warning.
func TestWarningsCounted(t *testing.T) {
	var w Warnings
	for n := range 3 {
		w.Counted(7, n, "%d reading is of %s: it is left out", "%d readings are of %s: they are left out", "a rail")
	}
	var got []string
	for _, warning := range w.List() {
		got = append(got, warning.Text)
	}
	want := []string{"1 reading is of a rail: it is left out", "2 readings are of a rail: they are left out"}
	if !slices.Equal(got, want) || w.List()[0].Line != 7 {
		t.Errorf("%q, want %q of line 7", got, want)
	}
}
