package layout

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

// amountOf returns a value of the finding's metric with its unit.
func (f finding) amountOf(v float64) string { return wording.Value(f.Metric, v) }

// status describes the state of a finding in words.
func (f finding) status() string {
	switch {
	case f.AfterEffectOf != "":
		return "after-effect of " + wording.Name(f.AfterEffectOf)
	case f.Direction == gate.ToRegression:
		return "worse"
	case f.Direction == gate.ToImprovement:
		return "better"
	case f.Direction == gate.Suspect:
		return "suspect"
	}
	return "as expected"
}

// share returns "3 of 5 runs"; fraction returns "3 of 5".
func (f finding) share() string    { return f.fraction() + prose.Plural(f.Compared, " run", " runs") }
func (f finding) fraction() string { return fmt.Sprintf("%d of %d", len(f.Hits), f.Compared) }

// where names the event for a table cell, with its scenario where there are several.
func (f finding) where() string {
	switch {
	case !f.scenarios:
		return wording.Event(f.Event)
	case f.Event == "":
		return wording.Brief(f.Scenario)
	}
	return wording.Brief(f.Scenario) + " / " + wording.Brief(wording.Event(f.Event))
}

// what names the event and the metric: "E2: frames rendered".
func (f finding) what() string {
	return prose.Clip(f.where(), 80) + ": " + wording.Brief(f.Metric.Title)
}

// happening describes the deviation, as the end of a sentence that began with its subject:
// "open-message renders 38 % fewer frames".
func (f finding) happening() string {
	c := f.middle()
	subject := wording.Name(f.Scenario)
	switch f.Event {
	case "":
	case run.Start:
		subject += " before the first event"
	default:
		subject += " after " + wording.Name(f.Event)
	}
	title := wording.Name(f.Metric.Title)
	value, expected := wording.Beside(f.Metric, c.Value, c.Expected)
	switch {
	case f.beyondLimit():
		return fmt.Sprintf("in %s, the %s %s %s, beyond the limit of %s,", subject, title, wording.IsOrAre(title), f.amountOf(c.Value), f.amountOf(*c.Limit))
	case c.Expected == 0 && f.Metric.Mean:
		are := "are"
		if value == "1" {
			are, title = "is", singular.Replace(title)
		}
		return fmt.Sprintf("in %s, there %s %s %s per repetition where none are expected", subject, f.verb(are, "be"), value, title)
	case c.Expected == 0 || f.Metric.Signed:
		return fmt.Sprintf("in %s, the %s %s %s where %s %s expected", subject, title, f.verb(wording.IsOrAre(title), "be"), value, expected, wording.IsOrAre(title))
	case f.MetricName == "frames.count":
		return fmt.Sprintf("%s %s %s frames", subject, f.verb("renders", "render"), wording.Amount(c.Change, "more", "fewer"))
	case f.Metric.Unit == "frames" || f.Metric.Unit == "":
		return fmt.Sprintf("%s %s %s %s", subject, f.verb("has", "have"), wording.Amount(c.Change, "more", "fewer"), title)
	case f.Metric.Ratio:
		return fmt.Sprintf("in %s, the %s %s %s instead of %s", subject, title, f.verb(wording.IsOrAre(title), "be"), value, expected)
	}
	return fmt.Sprintf("in %s, the %s %s %s", subject, title, f.verb(wording.IsOrAre(title), "be"), wording.Amount(c.Change, "higher", "lower"))
}

// singular turns the titles of rare events into one of them.
var singular = strings.NewReplacer("ANRs", "ANR", "frames", "frame")

// verb returns the verb for a finding or a suspect: "may render", where a finding "renders".
func (f finding) verb(certain, doubtful string) string {
	if f.Direction == gate.Suspect {
		return "may " + doubtful
	}
	return certain
}

// evidence describes how sure a finding is: its interval and p, or the fences that it lies outside
// of.
func (f finding) evidence(in Input) string {
	if f.beyondLimit() {
		return ""
	}
	c := f.middle()
	var parts []string
	if hasInterval(c) {
		level := ""
		if in.Verdict.Level > 0 && in.Verdict.Level < 1 {
			level = wording.Percent(in.Verdict.Level) + " "
		}
		if len(f.Hits) == 1 {
			parts = append(parts, level+"interval "+interval(f.Metric, c))
		} else {
			parts = append(parts, level+"interval of the median run "+interval(f.Metric, c))
		}
	}
	if c.Rounds != nil {
		return strings.Join(append(parts, "after "+prose.Count(c.Rounds.Rounds, "round", "rounds")+" of each build"), ", ")
	}
	if p := probability(c); p != "" {
		if len(f.Hits) > 1 && c.Together == 0 {
			p = strings.Replace(p, "=", "≤", 1)
		}
		if c.Together > 0 {
			p += " for " + prose.Count(c.Together, "run", "runs") + " together after correction for multiplicity"
		} else if n := comparisons(in.Verdict); n > 1 {
			p += " after correction for " + prose.Count(n, "comparison", "comparisons")
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 && f.Direction != gate.Suspect {
		parts = append(parts, f.fences())
	}
	return strings.Join(parts, "; ")
}

// beyondLimit reports whether a regression is based on an absolute limit of the policy.
func (f finding) beyondLimit() bool { return f.middle().Limit != nil }

// fences describes the fences of a finding where no test was made.
func (f finding) fences() string {
	if len(f.Hits) > 1 {
		return "outside the fences of the history in each of them"
	}
	c := f.Hits[0].Comparison
	return fmt.Sprintf("%s is outside the fences %s to %s of %s", f.amountOf(c.Value),
		f.amountOf(c.Lower), f.amountOf(c.Upper), prose.Count(c.N, "value", "values"))
}

func comparisons(v gate.Verdict) int {
	n := 0
	for _, r := range v.Runs {
		n += max(r.ComparisonsTotal, len(r.Comparisons))
	}
	return n
}

// change returns a comparison's change for a table cell: how far its value lies from the expected
// one, or in rounds from the base build.
func change(m metric.Metric, c gate.Comparison) string {
	switch {
	case c.N == 0:
		return "–"
	case m.Ratio:
		return points(c.Value - c.Expected)
	case m.Signed, ofRounds(c) != nil && c.Expected == 0:
		return wording.Shift(m, c.Value-c.Expected, 0)
	case c.Expected == 0 && c.Value == 0:
		return wording.Percent(0)
	case c.Expected == 0:
		return "new"
	}
	return wording.Shift(m, c.Value-c.Expected, c.Change)
}

// interval returns the change's confidence interval: "−41…−35 %", of a ratio in points; "–" where
// unknown.
func interval(m metric.Metric, c gate.Comparison) string {
	x := ofRounds(c)
	switch {
	case !hasInterval(c), x != nil && (x.ShiftLow == nil || x.ShiftHigh == nil):
		return "–"
	case x != nil && m.Ratio:
		return wording.FromTo(points(*x.ShiftLow), points(*x.ShiftHigh))
	case x != nil && (m.Signed || c.Expected == 0):
		return wording.FromTo(wording.Shift(m, *x.ShiftLow, 0), wording.Shift(m, *x.ShiftHigh, 0))
	case m.Ratio:
		return wording.FromTo(points(*c.Low*c.Expected), points(*c.High*c.Expected))
	case *c.Low >= wording.Manifold:
		return wording.Times(*c.Low) + "…" + wording.Times(*c.High)
	}
	return strings.TrimSuffix(wording.Signed(*c.Low), wording.Unit("%")) + "…" + wording.Signed(*c.High)
}

// percentagePoints is the short unit of a shift of a ratio.
const percentagePoints = "pp"

// points returns a shift of a ratio for a table cell: "−17.3 pp".
func points(shift float64) string {
	text := strings.Replace(wording.Points(shift), "points", percentagePoints, 1)
	if shift > 0 {
		return "+" + text
	}
	return text
}

// probability returns a p value: "p = 0.002", "p < 0.001", "" where it was not computed.
func probability(c gate.Comparison) string {
	switch {
	case c.P >= 1 || c.P < 0 || math.IsNaN(c.P):
		return ""
	case c.P < 0.001:
		return "p" + wording.NBSP + "<" + wording.NBSP + "0.001"
	}
	return "p" + wording.NBSP + "=" + wording.NBSP + strconv.FormatFloat(c.P, 'g', 2, 64)
}

// contexts describes where the runs of a finding ran: "Android 5.0.0 and 5.1.0", a device where no
// version is known, "" where there is no short description.
func (f finding) contexts() string {
	var versions, devices []string
	for _, h := range f.Hits {
		sdk := wording.Name(h.Run.Context["sdk"])
		if sdk != "" && !slices.Contains(versions, sdk) {
			versions = append(versions, sdk)
		}
		if d := wording.Model(h.Run.Context); d != "" && !slices.Contains(devices, d) {
			devices = append(devices, d)
		}
	}
	slices.SortFunc(versions, wording.CompareVersions)
	switch {
	case len(devices) == 1 && len(versions) == 1:
		return devices[0] + " with Android " + versions[0]
	case 1 <= len(versions) && len(versions) <= 3:
		return "Android " + prose.List(versions)
	case len(versions) > 3:
		return fmt.Sprintf("%d versions of Android", len(versions))
	case len(devices) == 1:
		return devices[0]
	case len(devices) > 1:
		return fmt.Sprintf("%d devices", len(devices))
	}
	return ""
}

// device names the device of a run: "LG Nexus 5 (Android 5.0.0)", or the run's ID.
func device(r gate.RunVerdict) string {
	m, sdk := wording.Model(r.Context), wording.Name(r.Context["sdk"])
	switch {
	case m != "" && sdk != "":
		return m + " (Android " + sdk + ")"
	case sdk != "":
		return "Android " + sdk
	case m != "":
		return m
	}
	return wording.Name(r.ID)
}
