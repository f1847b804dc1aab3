package interleaved

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/measurement"
)

// roundsQuestions are questions at these places.
func roundsQuestions(places ...int) []rounds.Question {
	var out []rounds.Question
	for _, place := range places {
		out = append(out, rounds.Question{Place: place, Cell: run.Cell{Metric: "frames.duration_ms"}})
	}
	return out
}

// undecided is a verdict with an undecided time per frame of as many scenarios of one phone, of
// which so much is known.
func undecided(of ...gate.Prior) gate.Verdict {
	var v gate.Verdict
	for i, k := range of {
		name := string(rune('a' + i))
		v.Runs = append(v.Runs, gate.RunVerdict{
			Verdict: gate.Inconclusive, Scenario: "mail " + name, Context: map[string]string{"model": "phone"},
			Comparisons: []gate.Comparison{{Metric: "frames.duration_ms", Screen: gate.Open, Prior: k}},
		})
	}
	return v
}

func trialOf(t *testing.T, of ...gate.Prior) *rounds.Trial {
	t.Helper()
	p, _ := gate.PolicyOf(gate.PresetDefault)
	plan, err := rounds.PlanOf(p, 40, len(of))
	if err != nil {
		t.Fatal(err)
	}
	return rounds.New(p, metric.Default(), undecided(of...), plan)
}

// What the time is spent on is printed before any of it is spent: the number of devices, the base
// build, whether earlier rounds count, and what will probably stay undecided. A round of one
// repetition is assumed to take 1.5·0.5 + 2·0.25 minutes, and eight rounds ten: 45 minutes have
// room for four such places, and of the twenty of the other two five are left.
func TestPrintAgenda(t *testing.T) {
	unknown, hopeless := gate.Prior{}, gate.Prior{Repetition: 1, DF: 9}
	const within = ", 45m at most, the most suspect first; base: "
	for name, c := range map[string]struct {
		of      []gate.Prior
		base    Base
		resumed int
		want    string
	}{
		"one device": {[]gate.Prior{unknown}, Base{APK: "old.apk"}, 0,
			"1 comparison is undecided: measuring base and head alternately on 1 device" + within + "old.apk\n"},
		"with earlier rounds": {[]gate.Prior{unknown}, Base{APK: "old.apk"}, 1,
			"1 comparison is undecided: measuring base and head alternately on 1 device" + within + "old.apk; rounds of these two commits that the history keeps count too\n"},
		"with a build that was kept": {[]gate.Prior{unknown, unknown}, Base{APK: "/tmp/x/old.apk", From: "kept with run 4f2a", temporary: "/tmp/x"}, 0,
			"2 comparisons are undecided: measuring base and head alternately on 1 device" + within + "the build that was kept with run 4f2a\n"},
		"more than there is time for": {[]gate.Prior{unknown, unknown, unknown, unknown, unknown, unknown}, Base{APK: "old.apk"}, 0,
			"6 comparisons are undecided: measuring base and head alternately on 1 device" + within + "old.apk\n" +
				"that time is unlikely to settle mail e and mail f: about 15 more minutes would (rounds.minutes), or fewer scenarios, or a calmer device\n"},
		"what no time settles": {[]gate.Prior{hopeless, unknown, unknown, unknown, unknown, unknown}, Base{APK: "old.apk"}, 0,
			"6 comparisons are undecided: measuring base and head alternately on 1 device" + within + "old.apk\n" +
				"that time is unlikely to settle mail a and mail f: a calmer device would\n"},
	} {
		s, say := going(t)
		s.Base, s.Set.Policy.Budget = c.base, gate.Budget{}
		trial, v := trialOf(t, c.of...), undecided(c.of...)
		s.printAgenda(trial, s.agendaOf(trial, v), v, 60, len(c.of), c.resumed)
		if say.String() != c.want {
			t.Errorf("%s: it says\n%s\nwant\n%s", name, say, c.want)
		}
	}
}

// Each device has the minutes for itself: six such places fit on two devices, and of five on one
// and one on the other all but one.
func TestAgendaOfSeveralDevices(t *testing.T) {
	six := make([]gate.Prior, 6)
	for lacks, devices := range map[string]string{"": "ababab", "that time is unlikely to settle mail f: about 5 more minutes would": "aabaaa"} {
		s, say := going(t)
		s.Base, s.Set.Policy.Budget = Base{APK: "old.apk"}, gate.Budget{}
		v := undecided(six...)
		for i := range v.Runs {
			v.Runs[i].Context = map[string]string{"model": devices[i : i+1]}
		}
		trial := trialOf(t, six...)
		s.printAgenda(trial, s.agendaOf(trial, v), v, 60, len(six), 0)
		if _, said, _ := strings.Cut(say.String(), "old.apk\n"); !strings.HasPrefix(said, lacks) || lacks == "" && said != "" {
			t.Errorf("on %s: %q, want %q", devices, said, lacks)
		}
	}
}

// Without a base build only what looks worse is measured again, except in shards.
func TestAgain(t *testing.T) {
	const note = "What looks worse was not measured again: these runs were measured in shards"
	for name, c := range map[string]struct {
		comparisons []gate.Comparison
		again       bool
	}{
		"it looks worse":                     {[]gate.Comparison{{Screen: gate.Open, Direction: gate.ToRegression}}, true},
		"it may be worse":                    {[]gate.Comparison{{Screen: gate.Open, Direction: gate.Suspect}}, true},
		"it does not look worse":             {[]gate.Comparison{{Screen: gate.Open, Direction: gate.None}}, false},
		"it looks better":                    {[]gate.Comparison{{Screen: gate.Open, Direction: gate.ToImprovement}}, false},
		"what is worse is not open":          {[]gate.Comparison{{Screen: gate.Open}, {Screen: gate.Cleared, Direction: gate.ToRegression}}, false},
		"what broke a budget is no question": {[]gate.Comparison{{Screen: gate.Open}, {Direction: gate.ToRegression, Limit: new(3.0)}}, false},
	} {
		s, _ := going(t)
		s.Base, s.Flags.Merged = Base{}, true
		in := layout.Input{Verdict: gate.Verdict{Runs: []gate.RunVerdict{{Verdict: gate.Inconclusive, Comparisons: c.comparisons}}}}
		in, err := s.Settle(t.Context(), in, measurement.Measured{Runs: make([]run.Run, 1), Places: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		if again := len(in.Notes) == 1 && strings.HasPrefix(in.Notes[0], note); again != c.again || len(in.Notes) > 0 != c.again {
			t.Errorf("%s: notes %q, want one: %t", name, in.Notes, c.again)
		}
	}
}
