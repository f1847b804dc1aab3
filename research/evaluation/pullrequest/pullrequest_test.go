package pullrequest

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
)

// rare is how unlikely a result may be by chance before a test fails.
const rare = 1e-4

// within reports whether k of n is a likely draw of a share.
func within(k, n int, share float64) bool {
	b := distuv.Binomial{N: float64(n), P: math.Min(math.Max(share, 0.003), 0.997)}
	return b.CDF(float64(k)) > rare && 1-b.CDF(float64(k)-1) > rare
}

func change(t *testing.T, name string) Change {
	t.Helper()
	for _, c := range Changes() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no change %q", name)
	return Change{}
}

func try(t *testing.T, noise Noise, name string, trials int) Row {
	t.Helper()
	return tryWorld(t, Standard(noise, 6, Long, change(t, name)), trials)
}

func tryWorld(t *testing.T, w World, trials int) Row {
	t.Helper()
	p, known := gate.PolicyOf(gate.PresetDefault)
	if !known {
		t.Fatal("there is no default policy")
	}
	row, err := Try(t.Context(), w, p, 3, trials)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// A pull request of six scenarios is decided within the hour: an unchanged one passes, and one that
// is worse fails, on a quiet phone and on common runners.
func TestAPullRequestIsDecided(t *testing.T) {
	t.Parallel()
	trials := 12
	switch {
	case os.Getenv("APKGATE_EVALUATION") == "full":
		trials = 300
	case os.Getenv("APKGATE_FULL") != "":
		trials = 40
	}
	quiet, kind, rough := Noises()[0], Noises()[1], Noises()[2]
	for _, c := range []struct {
		noise            Noise
		change           string
		fails, undecided float64 // shares that are likely
		halfWithin       float64 // minutes of the half of them; 0: an hour
		worse            bool    // it should fail
	}{
		{quiet, "none", 0, 0.05, 25, false},
		{kind, "none", 0, 0.2, 0, false},
		{rough, "none", 0, 0.5, 0, false},
		{quiet, "a scenario +20 %", 0.95, 1, 0, true},
		{kind, "a scenario +20 %", 0.9, 1, 0, true},
		{kind, "a scenario +30 %", 0.97, 1, 0, true},
		{rough, "a scenario +30 %", 0.8, 1, 0, true},
		{quiet, "janky frames 1 to 4 %", 0.95, 1, 0, true},
		{kind, "janky frames 1 to 4 %", 0.95, 1, 0, true},
		{kind, "an ANR in 3 of 10", 0.95, 1, 0, true},
		{quiet, "a new Android, none", 0, 0.1, 0, false},
		{kind, "a new Android, none", 0, 0.5, 0, false},
		{kind, "a new Android, all +200 %", 0.95, 1, 0, true},
		{rough, "a new Android, all +200 %", 0.95, 1, 0, true},
	} {
		row := try(t, c.noise, c.change, trials)
		name := fmt.Sprintf("%s, %s: of %d fail %d, %d are undecided, half take %.0f min", c.noise.Name, c.change, trials, row.Failed, row.Inconclusive, row.Median())
		if c.worse && float64(row.Failed) < c.fails*float64(trials) && !within(row.Failed, trials, c.fails) {
			t.Errorf("%s; want %.0f %% to fail", name, 100*c.fails)
		}
		if !c.worse && float64(row.Failed) > 0.01*float64(trials) && !within(row.Failed, trials, 0.01) {
			t.Errorf("%s; want at most 1 %% to fail", name)
		}
		if float64(row.Inconclusive) > c.undecided*float64(trials) && !within(row.Inconclusive, trials, c.undecided) {
			t.Errorf("%s; want at most %.0f %% undecided", name, 100*c.undecided)
		}
		if c.halfWithin > 0 && row.Median() > 1.2*c.halfWithin {
			t.Errorf("%s; want %.0f min", name, c.halfWithin)
		}
		if longest := row.Minutes[len(row.Minutes)-1]; longest > 60 {
			t.Errorf("%s; the longest takes %.0f min of an hour", name, longest)
		}
	}
}

// The minutes of the table are those of apkgate.yml.
func TestTheMinutesAreTheDefault(t *testing.T) {
	if got := config.Default().Rounds.Minutes; float64(got) != DefaultMinutes {
		t.Errorf("rounds.minutes is %d by default, and the table has %g", got, DefaultMinutes)
	}
}

var documented = regexp.MustCompile(`(?m)^\| ([^|]+) \| (\d+) \| ([0-9.]+) min \| ([^|]+) \| ([0-9.]+) \([^)]*\) \| ([0-9.]+) \([^)]*\) \|`)

// documentedWorld is that of a row.
func documentedWorld(t *testing.T, row []string) World {
	t.Helper()
	scenarios, err := strconv.Atoi(row[2])
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range append(Noises(), Unkind()...) {
		for _, lasts := range []gate.RoundDurations{Long, Short} {
			if n.Name == row[1] && fmt.Sprintf("%.1f", lasts.Round(1)) == row[3] {
				return Standard(n, scenarios, lasts, change(t, row[4]))
			}
		}
	}
	t.Fatalf("no world has the noise %q and rounds of %s minutes", row[1], row[3])
	return World{}
}

// The shares of docs/evaluation/pull-requests.md are reproduced.
func TestTheTableIsWhatComesOut(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/evaluation/pull-requests.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := documented.FindAllStringSubmatch(string(text), -1)
	if len(rows) < 30 {
		t.Fatalf("%d rows of whole pull requests in docs/evaluation/pull-requests.md, want 30 or more", len(rows))
	}
	standard, others, trials := 13, 67, 15 // every so many rows
	switch {
	case os.Getenv("APKGATE_EVALUATION") == "full":
		standard, others, trials = 1, 1, 200
	case os.Getenv("APKGATE_FULL") != "":
		standard, others, trials = 7, 41, 25
	}
	for i, m := range rows {
		w := documentedWorld(t, m)
		if every := map[bool]int{true: standard, false: others}[w.Scenarios == 6 && w.Lasts == Long]; i%every != 0 {
			continue
		}
		row := tryWorld(t, w, trials)
		for k, got := range []int{row.Failed, row.Inconclusive} {
			said, err := strconv.ParseFloat(m[5+k], 64)
			if err != nil || !within(got, trials, said/100) {
				t.Errorf("%s: %d of %d are %s, and the document has %s %%", m[0], got, trials, []string{"failed", "undecided"}[k], m[5+k])
			}
		}
	}
}

// The duration of a round: one and a half set-ups, and the repetitions of both builds.
func TestHowLongRoundsTake(t *testing.T) {
	for got, want := range map[float64]float64{Long.Round(1): 1.5, Short.Round(1): 0.6, Long.Round(3): 2.7} {
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("a round takes %g min, want %g", got, want)
		}
	}
}
