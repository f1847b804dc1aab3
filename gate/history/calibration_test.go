package history

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/research/evaluation/published"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// rates checks many worlds and returns the shares of checks that fail and that stay undecided, each
// of `batch` runs of a build that is slow times slower.
func rates(t *testing.T, w gatetest.World, preset string, trials, batch int, slow float64) (failed, undecided float64) {
	p := gatetest.Policy(t, preset)
	for trial := range trials {
		rng := rand.New(rand.NewPCG(uint64(trial), 99))
		var history []run.Run
		for c := range w.Contexts {
			for i := range w.PerContext {
				history = append(history, w.Run(rng, fmt.Sprint("h", c, ".", i), c, 1))
			}
		}
		refs := gatetest.Summaries(p, history...)
		var subjects []Subject
		for b := range batch {
			subjects = append(subjects, Subject{Run: w.Run(rng, fmt.Sprint("new", b), b%w.Contexts, slow), References: refs})
		}
		switch Check(p, metric.Default(), subjects).Verdict {
		case gate.Regression:
			failed++
		case gate.Inconclusive:
			undecided++
		}
	}
	return failed / float64(trials), undecided / float64(trials)
}

// At most one unchanged pull request in a hundred may fail, with an allowance for the number of
// trials, however many comparisons a check makes. APKGATE_FULL triples the number of trials, the
// full evaluation takes six times as many, and reports the rates of the paper's preset.
func TestUnchangedBuildsPass(t *testing.T) {
	full := os.Getenv("APKGATE_EVALUATION") == "full"
	for name, w := range gatetest.Worlds {
		trials := 120
		if w.Contexts*w.PerContext*w.Events < 200 { // a small history is judged quickly
			trials = 360
		}
		switch {
		case full:
		case os.Getenv("APKGATE_FULL") != "":
			trials /= 2
		default:
			trials /= 6
		}
		for _, batch := range []int{1, 5, 15} {
			trials := trials
			if batch > 5 {
				trials /= 2
			}
			failed, undecided := rates(t, w, gate.PresetDefault, trials, batch, 1)
			if full {
				dune, _ := rates(t, w, gate.PresetDune, trials/4, batch, 1)
				t.Logf("%-32s %d run(s): failed %.3f, undecided %.3f; dune fails %.2f", name, batch, failed, undecided, dune)
			}
			if limit := 0.01 + 2*math.Sqrt(0.01*0.99/float64(trials)); failed > limit {
				t.Errorf("%s, %d run(s): %.3f of unchanged builds fail, want at most %.3f", name, batch, failed, limit)
			}
		}
	}
}

// A build that takes 60 % longer per frame never passes, and fails by the history alone where that
// is long enough.
func TestSlowBuildsFail(t *testing.T) {
	for name, least := range map[string]float64{
		"one phone, 5 runs": 0.6, "one phone, 20 runs": 1, "three phones, 3 runs each": 0, "three noisy phones, 20 events": 0,
	} {
		failed, undecided := rates(t, gatetest.Worlds[name], gate.PresetDefault, 60, 1, 1.6)
		t.Logf("%-32s failed %.3f, undecided %.3f", name, failed, undecided)
		if failed < least || failed+undecided < 1 {
			t.Errorf("%s: %.3f of builds 60 %% slower fail, want at least %.2f, and %.3f are undecided", name, failed, least, undecided)
		}
	}
}

// real returns worlds with the noise of real phones: the factors by which the sessions of metered
// workloads lie off their middle and repetitions off their session's, and those of two phones'
// estimates, which are quiet.
func real(t *testing.T) map[string]gatetest.World {
	t.Helper()
	monsoon, batterystats, err := published.Energy(filepath.Dir(corpustest.Path(t, "dataset")))
	if errors.Is(err, published.ErrNoXZ) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	metered := gatetest.World{Contexts: 1, PerContext: 9, Events: 3, Repetitions: 3}
	for _, s := range monsoon {
		middle := stat.Median(s.Values)
		for _, session := range s.Sessions() {
			own := stat.Median(session.Values)
			metered.Sessions = append(metered.Sessions, own/middle)
			for _, v := range session.Values {
				metered.Values = append(metered.Values, v/own)
			}
		}
	}
	estimated := gatetest.World{Contexts: 2, PerContext: 9, Events: 3, Repetitions: 3}
	for _, s := range batterystats {
		for _, v := range s.Values {
			estimated.Values = append(estimated.Values, v/stat.Median(s.Values))
		}
	}
	return map[string]gatetest.World{"metered joules": metered, "estimated joules": estimated}
}

// The same with the noise of real phones.
func TestUnchangedBuildsPassWithRealNoise(t *testing.T) {
	const trials = 200
	for name, w := range real(t) {
		failed, undecided := rates(t, w, gate.PresetDefault, trials, 1, 1)
		t.Logf("%-32s failed %.3f, undecided %.3f", name, failed, undecided)
		if limit := 0.01 + 2*math.Sqrt(0.01*0.99/trials); failed > limit {
			t.Errorf("%s: %.3f of unchanged builds fail, want at most %.3f", name, failed, limit)
		}
	}
}
