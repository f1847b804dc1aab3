package rounds

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/research/evaluation/published"
	"github.com/apkgate/apkgate/stat"
)

// The numbers of docs/design/gate.md on turns of real phones: how much device time rounds take to reach
// the same precision, as a share of the time with one repetition per turn, where a set-up takes 35
// s and a repetition 15 s. Rounds are all neighbouring turns of a series, in its own order.
func TestTurnsOnRealPhones(t *testing.T) {
	corpus := filepath.Dir(corpustest.Path(t, "dataset"))
	_, all, err := published.Energy(corpus)
	if errors.Is(err, published.ErrNoXZ) {
		t.Skip(err)
	}
	macro, err2 := published.Benchmarks(corpus)
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	lasts := gate.RoundDurations{SetUp: 35.0 / 60, Repetition: 15.0 / 60}
	var chosen, three []float64
	for _, s := range append(all, macro...) {
		logs := make([]float64, len(s.Values))
		for i, v := range s.Values {
			logs[i] = math.Log(v)
		}
		r := min(max(stat.Autocorrelation(slices.Collect(slices.Chunk(logs, 5))), 0), mostAutocorrelation)
		turn := 1
		for k := 2; k <= mostRepetitions; k++ {
			if lasts.Round(k)*longer(k, r) < lasts.Round(turn)*longer(turn, r) {
				turn = k
			}
		}
		takes := func(turn int) float64 { return lasts.Round(turn) * betweenTurns(logs, turn) }
		chosen, three = append(chosen, takes(turn)/takes(1)), append(three, takes(3)/takes(1))
	}
	mean := func(of []float64) (sum float64) {
		for _, x := range of {
			sum += x / float64(len(of))
		}
		return sum
	}
	want := fmt.Sprintf("Of %d series of real phones in their own order, rounds take %.2f times as long to the same precision as with one repetition a turn, and %.1f times at worst; with three a turn %.2f and %.1f times",
		len(chosen), mean(chosen), slices.Max(chosen), mean(three), slices.Max(three))
	text, err := os.ReadFile("../../docs/design/gate.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
		t.Errorf("docs/design/gate.md does not say: %s", want)
	}
}

// betweenTurns returns the mean square of the differences between neighbouring turns.
func betweenTurns(values []float64, turn int) (mean float64) {
	n := len(values) - 2*turn + 1
	for i := range n {
		d := 0.0
		for k := range turn {
			d += (values[i+k] - values[i+turn+k]) / float64(turn)
		}
		mean += d * d / float64(n)
	}
	return mean
}
