package show

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// How much of a kind is listed.
const (
	listedAlarms  = 10
	listedMetrics = 12
	listedNames   = 4
)

func showNoise(c terminal.Console, noise Noise) error {
	for i, a := range noise.Apps {
		if i > 0 {
			fmt.Fprintln(c.Stdout)
		}
		if err := a.show(c); err != nil {
			return err
		}
	}
	return nil
}

func (a AppNoise) show(c terminal.Console) error {
	c.Paragraph("%s: %s in %s, each checked against the others", terminal.Plain(a.Package),
		prose.Count(a.Runs, "accepted run", "accepted runs"), prose.Count(a.Checks, "session", "sessions"))
	table := terminal.NewTable(c, "", "would fail", "95 % interval", "inconclusive", "improvement", "pass")
	for _, row := range []struct {
		title string
		o     Outcomes
	}{{"by the history alone", a.ByHistory}, {"with rounds, simulated", a.WithRounds}} {
		share := func(n int) string { return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(a.Checks)) }
		interval := fmt.Sprintf("%.1f to %.1f %%", 100*row.o.Low, 100*row.o.High)
		if err := table.Append(row.title, share(row.o.Regressions), interval, share(row.o.Inconclusive), share(row.o.Improvements), share(row.o.Passes)); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	c.Paragraph("Repetitions of a check: %s on average. Rounds are drawn from each session's own repetitions, so that their order in time is lost.", wording.OneDecimal(a.Repetitions))
	if 2*a.WithRounds.Inconclusive > a.Checks && !slices.ContainsFunc(a.Metrics, func(m Loudness) bool { return m.Advice == TooNoisy }) {
		c.Paragraph("Mostly inconclusive: the history has too few runs in similar contexts to tell a change from noise, or too few repetitions.")
	}
	if err := errors.Join(a.showDeciding(c), a.showMetrics(c)); err != nil {
		return err
	}
	for _, l := range a.Drift {
		m, _ := a.catalogue.Lookup(l.Metric)
		c.Paragraph("creeps: %s", terminal.Plain(layout.Creeping(m, l)))
	}
	for i, f := range a.Alarms {
		if i == listedAlarms {
			fmt.Fprintf(c.Stdout, "… and %d more\n", len(a.Alarms)-listedAlarms)
			break
		}
		by := ""
		if f.Simulated {
			by = " (by simulated rounds)"
		}
		c.Paragraph("would fail%s: %s: %s", by, terminal.Plain(f.ID), terminal.Plain(f.Reason))
	}
	return nil
}

// advice is what to do about a metric, in words.
var advice = map[Advice]string{
	TooNoisy:   "too noisy to gate",
	NeedsTurns: "mostly needs rounds",
}

// showMetrics prints which metrics cost, and what to do about them.
func (a AppNoise) showMetrics(c terminal.Console) error {
	loud := slices.DeleteFunc(slices.Clone(a.Metrics), func(m Loudness) bool { return m.Advice == "" })
	if len(loud) == 0 {
		return nil
	}
	table := terminal.NewTable(c, "what", "scenario", "cleared by history", "undecided after rounds", "would have shown", "")
	for _, m := range loud[:min(len(loud), listedMetrics)] {
		of := func(n int) string { return fmt.Sprintf("%d of %d", n, m.Decides) }
		if err := table.Append(terminal.Plain(wording.Event(m.Event)+": "+a.title(m.Metric)), terminal.Plain(m.Scenario), of(m.Cleared), of(m.Open), a.shows(m), advice[m.Advice]); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	if n := len(loud) - listedMetrics; n > 0 {
		c.Paragraph("… and %d more of them", n)
	}
	if names := namesOf(loud, TooNoisy); len(names) > 0 {
		c.Paragraph("Too noisy to gate: leave it out of gate.metrics (%s), or set ignore: true for an event; or ask for a larger min-effect, or allow more rounds (rounds.max).", terminal.Plain(prose.Few(names, listedNames)))
	}
	if slices.ContainsFunc(loud, func(m Loudness) bool { return m.Advice == NeedsTurns }) {
		c.Paragraph("Mostly needs rounds: the history needs more repetitions or more accepted runs to clear it. Until then each check measures both builds alternately.")
	}
	return nil
}

// title names a metric as reports do.
func (a AppNoise) title(name string) string {
	m, _ := a.catalogue.Lookup(name)
	return wording.Brief(m.Title)
}

// namesOf returns the names of the metrics with an advice, as a configuration has them.
func namesOf(loud []Loudness, advice Advice) (names []string) {
	for _, m := range loud {
		if m.Advice == advice && !slices.Contains(names, m.Metric) {
			names = append(names, m.Metric)
		}
	}
	return names
}
