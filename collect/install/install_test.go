package install

import (
	"slices"
	"testing"
)

func TestDensityOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer, property string
		want             int
	}{
		{"Physical density: 420\n", "480", 420},
		{"Physical density: 420\r\nOverride density: 380\r\n", "", 380},
		{"", "320", 320},
		{"Error: unknown command 'density'\n", "", 0},
		{"Physical density: 99999999999\n", "-5", 0},
	} {
		if got := densityOf(c.answer, c.property); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.answer, c.property, got, c.want)
		}
	}
}

func TestLanguagesOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sources []string
		want    []string
	}{
		{[]string{"en-US,de-Latn-DE,fil\n", "fr-FR"}, []string{"en", "de", "fil"}},
		{[]string{"null\n", "", "zh_CN"}, []string{"zh"}},
		{[]string{"", "", "", "pt"}, []string{"pt"}},
		{[]string{"Error: what?\n", "x"}, nil},
	} {
		if got := languagesOf(c.sources...); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.sources, got, c.want)
		}
	}
}
