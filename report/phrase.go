package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// nbsp keeps a number and its unit on one line.
const nbsp = "\u00a0"

func unit(u string) string { return nbsp + u }

// amountOf is a value of the finding's metric with its unit.
func (f finding) amountOf(v float64) string { return showValue(f.Metric, v) }

func showValue(m metric.Metric, v float64) string {
	return minus(strings.ReplaceAll(name(m.Format(v)), " ", nbsp))
}

// percent shows a fraction as a percentage: 0.0444 is "4.4 %", 1 is "100 %".
func percent(fraction float64) string {
	v := 100 * fraction
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case a != 0 && a < 0.05:
		return minus(strconv.FormatFloat(v, 'f', 2, 64)) + unit("%")
	case a < 9.95:
		return oneDecimal(v) + unit("%")
	default:
		return minus(strconv.FormatFloat(v, 'f', 0, 64)) + unit("%")
	}
}

// signed is percent with a sign: "+38 %", "−38 %".
func signed(fraction float64) string {
	if s := percent(fraction); fraction > 0 && s != "–" {
		return "+" + s
	} else {
		return s
	}
}

// minus writes a negative number with a minus sign, not a hyphen.
func minus(number string) string {
	if rest, negative := strings.CutPrefix(number, "-"); negative {
		if strings.Trim(rest, "0.") == "" {
			return rest
		}
		return "−" + rest
	}
	return number
}

// change is a comparison's change for a table cell.
func change(c gate.Comparison) string {
	switch {
	case c.N == 0:
		return "–"
	case c.Expected == 0 && c.Value == 0:
		return percent(0)
	case c.Expected == 0:
		return "new"
	case c.Change >= manifold:
		return times(c.Change)
	}
	return signed(c.Change)
}

// manifold is the change from which on a factor is easier to read than a percentage.
const manifold = 9.95

func times(change float64) string { return "×" + factor(change) }

// factor is how many times as much a change makes: 11.1, 150.
func factor(change float64) string {
	if 1+change < 99.95 {
		return oneDecimal(1 + change)
	}
	return strconv.FormatFloat(1+change, 'f', 0, 64)
}

// interval is the change's confidence interval: "−41…−35 %", "–" where unknown.
func interval(c gate.Comparison) string {
	if !hasInterval(c) {
		return "–"
	}
	if c.Low >= manifold {
		return times(c.Low) + "…" + times(c.High)
	}
	return strings.TrimSuffix(signed(c.Low), unit("%")) + "…" + signed(c.High)
}

// probability is a p value: "p = 0.002", "p < 0.001", "" where it was not worked out.
func probability(c gate.Comparison) string {
	switch {
	case c.P >= 1 || c.P < 0 || math.IsNaN(c.P):
		return ""
	case c.P < 0.001:
		return "p" + nbsp + "<" + nbsp + "0.001"
	}
	return "p" + nbsp + "=" + nbsp + strconv.FormatFloat(c.P, 'g', 2, 64)
}

// status says in words what became of a finding.
func (f finding) status() string {
	switch {
	case f.AfterEffectOf != "":
		return "after-effect of " + name(f.AfterEffectOf)
	case f.Direction == gate.ToRegression:
		return "worse"
	case f.Direction == gate.ToImprovement:
		return "better"
	case f.Direction == gate.Suspect:
		return "suspect"
	}
	return "as expected"
}

// share is "3 of 5 runs"; fraction is "3 of 5".
func (f finding) share() string    { return f.fraction() + plural(f.Compared, " run", " runs") }
func (f finding) fraction() string { return fmt.Sprintf("%d of %d", len(f.Hits), f.Compared) }

// where names the event for a table cell, with its scenario where there are several.
func (f finding) where() string {
	switch {
	case !f.scenarios:
		return eventTitle(f.Event)
	case f.Event == "":
		return brief(f.Scenario)
	}
	return brief(f.Scenario) + " / " + brief(eventTitle(f.Event))
}

// what names the event and the metric: "E2: frames rendered".
func (f finding) what() string { return clip(f.where(), 80) + ": " + brief(f.Metric.Title) }

func eventTitle(event string) string {
	switch event {
	case "":
		return "whole run"
	case run.Start:
		return "start"
	}
	return name(event)
}

// happening says what deviates, as the end of a sentence that began with its
// subject: "open-message renders 38 % fewer frames".
func (f finding) happening() string {
	c := f.middle()
	subject := name(f.Scenario)
	switch f.Event {
	case "":
	case run.Start:
		subject += " before the first event"
	default:
		subject += " after " + name(f.Event)
	}
	title := name(f.Metric.Title)
	value, expected := f.amountOf(c.Value), f.amountOf(c.Expected)
	switch {
	case c.N == 0:
		return fmt.Sprintf("in %s, the %s %s %s, with no history to compare with", subject, title, f.verb("is", "be"), value)
	case c.Expected == 0:
		return fmt.Sprintf("in %s, the %s %s %s where %s is expected", subject, title, f.verb("is", "be"), value, expected)
	case f.MetricName == "frames.count":
		return fmt.Sprintf("%s %s %s frames", subject, f.verb("renders", "render"), amount(c.Change, "more", "fewer"))
	case f.Metric.Unit == "frames" || f.Metric.Unit == "":
		return fmt.Sprintf("%s %s %s %s", subject, f.verb("has", "have"), amount(c.Change, "more", "fewer"), title)
	case f.Metric.Unit == "ratio":
		return fmt.Sprintf("in %s, the %s %s %s instead of %s", subject, title, f.verb("is", "be"), value, expected)
	}
	return fmt.Sprintf("in %s, the %s %s %s", subject, title, f.verb("is", "be"), amount(c.Change, "higher", "lower"))
}

// verb says a suspicion as one: "may render", where a finding "renders".
func (f finding) verb(certain, doubtful string) string {
	if f.Direction == gate.Suspect {
		return "may " + doubtful
	}
	return certain
}

// amount is "38 % fewer", or "18 times as high" where a percentage says little.
func amount(change float64, more, less string) string {
	switch {
	case change >= manifold && more == "higher":
		return factor(change) + " times as high"
	case change >= manifold:
		return factor(change) + " times as many"
	case change < 0:
		return percent(-change) + " " + less
	}
	return percent(change) + " " + more
}

// evidence says how sure a finding is: its interval and p, or the fences that
// it lies outside of.
func (f finding) evidence(in Input) string {
	c := f.middle()
	var parts []string
	if hasInterval(c) {
		level := ""
		if in.Meta.Level > 0 && in.Meta.Level < 1 {
			level = percent(in.Meta.Level) + " "
		}
		if len(f.Hits) == 1 {
			parts = append(parts, level+"interval "+interval(c))
		} else {
			parts = append(parts, level+"interval of the middle run "+interval(c))
		}
	}
	if p := probability(c); p != "" {
		if len(f.Hits) > 1 {
			p = strings.Replace(p, "=", "≤", 1)
		}
		if n := comparisons(in.Verdict); n > 1 {
			p += " after correction for " + count(n, "comparison", "comparisons")
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 && f.Direction != gate.Suspect {
		parts = append(parts, f.fences())
	}
	return strings.Join(parts, "; ")
}

// fences says what a finding was measured against where no test was made.
func (f finding) fences() string {
	for _, h := range f.Hits {
		if c := h.Comparison; c.N == 0 || (c.Lower <= c.Value && c.Value <= c.Upper) {
			return "beyond a limit that the policy sets"
		}
	}
	if len(f.Hits) > 1 {
		return "outside the fences of the history in each of them"
	}
	c := f.Hits[0].Comparison
	return fmt.Sprintf("%s is outside the fences %s to %s of %s", f.amountOf(c.Value),
		f.amountOf(c.Lower), f.amountOf(c.Upper), count(c.N, "value", "values"))
}

func comparisons(v gate.Verdict) int {
	n := 0
	for _, r := range v.Runs {
		n += len(r.Comparisons)
	}
	return n
}

// contexts says where the runs of a finding ran: "Android 5.0.0 and 5.1.0",
// a device where no version is known, "" where nothing short can be said.
func (f finding) contexts() string {
	var versions, devices []string
	for _, h := range f.Hits {
		sdk := name(h.Run.Context["sdk"])
		if sdk != "" && !slices.Contains(versions, sdk) {
			versions = append(versions, sdk)
		}
		if d := model(h.Run.Context); d != "" && !slices.Contains(devices, d) {
			devices = append(devices, d)
		}
	}
	slices.SortFunc(versions, compareVersions)
	switch {
	case len(devices) == 1 && len(versions) == 1:
		return devices[0] + " with Android " + versions[0]
	case 1 <= len(versions) && len(versions) <= 3:
		return "Android " + list(versions)
	case len(versions) > 3:
		return fmt.Sprintf("%d versions of Android", len(versions))
	case len(devices) == 1:
		return devices[0]
	case len(devices) > 1:
		return fmt.Sprintf("%d devices", len(devices))
	}
	return ""
}

// compareVersions puts 9 before 10 and 5.0.2 before 5.1.
func compareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		m, errX := strconv.Atoi(x)
		n, errY := strconv.Atoi(y)
		if errX == nil && errY == nil {
			return m - n
		}
		return strings.Compare(x, y)
	})
}

// model is a device for people: "LG Optimus L3".
func model(context map[string]string) string {
	maker, model := name(context["manufacturer"]), name(context["model"])
	if maker == "" || strings.HasPrefix(strings.ToLower(model), strings.ToLower(maker)) {
		return model
	}
	return strings.TrimSpace(maker + " " + model)
}

// device names the device of a run: "LG Nexus 5 (Android 5.0.0)", or the run's ID.
func device(r gate.RunVerdict) string {
	m, sdk := model(r.Context), name(r.Context["sdk"])
	switch {
	case m != "" && sdk != "":
		return m + " (Android " + sdk + ")"
	case sdk != "":
		return "Android " + sdk
	case m != "":
		return m
	}
	return name(r.ID)
}

// list joins with commas and a last "and".
func list(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// few is list, cut after n items.
func few(items []string, n int) string {
	if len(items) <= n {
		return list(items)
	}
	return strings.Join(items[:n], ", ") + fmt.Sprintf(" and %d more", len(items)-n)
}

// count is "1 run", "5 runs".
func count(n int, one, many string) string { return thousands(n) + " " + plural(n, one, many) }

// thousands writes 500000 as "500,000".
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && n >= 10_000; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
