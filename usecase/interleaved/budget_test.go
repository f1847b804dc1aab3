package interleaved

import (
	"maps"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/measurement"
)

// withRounds is a configuration of an app that may be measured in twenty rounds, in 45 minutes.
func withRounds() *config.Config {
	return &config.Config{App: config.App{Package: "app", APK: "new.apk"}, Rounds: config.Rounds{Max: 20, Minutes: 45}}
}

// If nothing can be measured alternately, only the history decides.
func TestBudgetOfWithoutRounds(t *testing.T) {
	base := Base{APK: "base.apk"}
	without := func(change func(*config.Config)) *config.Config {
		cfg := withRounds()
		change(cfg)
		return cfg
	}
	for name, c := range map[string]struct {
		cfg   *config.Config
		base  Base
		alone bool
	}{
		"with all of it":       {withRounds(), base, false},
		"no configuration":     {nil, base, true},
		"no base":              {withRounds(), Base{}, true},
		"no file of the app":   {without(func(cfg *config.Config) { cfg.App.APK = "" }), base, true},
		"rounds that are none": {without(func(cfg *config.Config) { cfg.Rounds.Max = 0 }), base, true},
	} {
		b := BudgetOf(c.cfg, c.base, measurement.Measured{}, nil)
		if b.Alone != c.alone {
			t.Errorf("%s: alone %t, want %t", name, b.Alone, c.alone)
		}
		if !c.alone && (b.Rounds != 20 || b.Minutes != 45) {
			t.Errorf("%s: %d rounds in %g minutes, want 20 in 45", name, b.Rounds, b.Minutes)
		}
	}
}

// A round takes the median of the runs, the longer of two, by scenario and of all; runs of a shard
// have no duration. Half a minute and a quarter are assumed if no run has one.
func TestBudgetOfEstimatesRounds(t *testing.T) {
	took := func(setUp, repetition time.Duration) collect.Took {
		return collect.Took{SetUp: setUp * time.Minute, Repetition: repetition * time.Minute}
	}
	var runs []run.Run
	for _, scenario := range []string{"mail", "mail", "mail", "mail", "map", "map", "chat"} {
		runs = append(runs, run.Run{Scenario: scenario})
	}
	for name, c := range map[string]struct {
		took []collect.Took
		want map[string]gate.RoundDurations
	}{
		"each by its own, and one that was not measured here": {
			[]collect.Took{took(3, 1), took(1, 2), took(2, 3), took(9, 0), took(7, 5), took(5, 4)},
			map[string]gate.RoundDurations{"mail": {SetUp: 2, Repetition: 2}, "map": {SetUp: 7, Repetition: 5}, "": {SetUp: 3, Repetition: 3}},
		},
		"nobody knows": {nil, map[string]gate.RoundDurations{"": {SetUp: 0.5, Repetition: 0.25}}},
	} {
		if got := BudgetOf(withRounds(), Base{APK: "base.apk"}, measurement.Measured{Runs: runs, Took: c.took}, nil).Durations; !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
