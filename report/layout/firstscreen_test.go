package layout

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
)

// A device that was measured in two sessions has one line, of the graver one; devices are counted once.
func TestOneLineForADevice(t *testing.T) {
	bad, good := compared("scroll", ms, 10, 1, 15, gate.Suspect), compared("scroll", ms, 10, 1, 10, gate.None)
	in := Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Inconclusive, Runs: []gate.RunVerdict{
		runVerdict("A1", gate.Pass, upgraded[0], good), runVerdict("A2", gate.Inconclusive, upgraded[0], bad), runVerdict("B1", gate.Pass, upgraded[1], good),
	}}}
	got := commentOf(t, in)
	lacks(t, got, "\n❔ Google Nexus 9 (Android 5.0.0): scroll: time per frame +50 %  \n✅ LG Nexus 5 (Android 5.0.0)  \n")
	if n := strings.Count(got, "Google Nexus 9 (Android 5.0.0)  \n"); n != 0 {
		t.Errorf("the device has another line:\n%s", got)
	}
	all := Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Pass, Runs: []gate.RunVerdict{
		runVerdict("A1", gate.Pass, upgraded[0], good), runVerdict("A2", gate.Pass, upgraded[0], good), runVerdict("B1", gate.Pass, upgraded[1], good),
	}}}
	lacks(t, commentOf(t, all), "\n✅ all 2 devices  \n")
}

// An app that stops responding is the headline, and not the time that becomes longer with it.
func TestNewANRLeads(t *testing.T) {
	cpu, anr := compared("", "cpu.time_ms", 2000, 50, 6000, gate.ToRegression), compared("", "anr.count", 0, 0, 1, gate.ToRegression)
	in := Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Regression, Runs: []gate.RunVerdict{runVerdict("A1", gate.Regression, upgraded[0], cpu, anr)}}}
	lacks(t, commentOf(t, in), "### ❌ Regression: in open-message, there is 1 ANR per repetition where none are expected on Google Nexus 9 with Android 5.0.0",
		"\n❌ Google Nexus 9 (Android 5.0.0): whole run: ANRs ")
}

// Of a ratio the chart shows what is missing to all: 98 % and 99 % look alike in bars from zero.
func TestChartOfARatio(t *testing.T) {
	c := beside(compared("", smoothRatio, 0.99, 0.002, 0.98, gate.None), -0.01, 2, gate.RoundsWorse)
	c.Rounds.Values = [][2]float64{{0.99, 0.98}, {0.995, 0.975}}
	lacks(t, commentOf(t, settled(gate.Regression, gate.StoppedSettled, 2, c)), `title "whole run: smooth ratio on Google Nexus 9 (Android 5.0.0): percent missing to 100"`, `y-axis "percent" 0.000 --> 2.625`,
		"bar [1.000, 0.5000]", "line [2.000, 2.500]")
}

// A command at the end of what would settle a doubt can be copied; other text stays text.
func TestCommandOfAHint(t *testing.T) {
	r := runVerdict("A1", gate.Inconclusive, upgraded[0])
	for hint, want := range map[string]string{
		"accept this run as the first of its history: apkgate baseline accept ea6f9f53": "**What would settle it:** accept this run as the first of its history: `apkgate baseline accept ea6f9f53`\n",
		"measure again: apkgate run `x`; $(id)":                                         "**What would settle it:** measure again: apkgate run \\`x\\`; <span>$</span>(id)\n",
	} {
		r.Hint = hint
		lacks(t, commentOf(t, Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Inconclusive, Runs: []gate.RunVerdict{r}}}), want)
	}
}
