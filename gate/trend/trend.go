// Package trend finds the levels of a history's numbers over time: when each metric and event
// changed, on which devices, and whether it drifts.
//
// Runs are put together by the night that they were measured in. In each scenario, each number has
// a series for every device and one for the fleet: what a night shows on several devices, each
// compared with itself, so that a night without the slow phone is no improvement. Levels are found
// by stat.Segments, on the scale on which the gate judges the metric. Builds that were judged and
// not accepted, as of pull requests, have a place next to the series and no part in its levels.
// Levels decide nothing: a verdict belongs to the neighbouring packages, and the drift of a quarter
// to package drift.
package trend

import (
	"cmp"
	"slices"
	"time"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/drift"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Run is a run of the history: an accepted one, or one that was judged and not accepted.
type Run struct {
	run.Summary
	Package, Scenario string
	Decision          Decision
	// Outcome is what the gate said of a run that is not accepted, "" for an accepted one, and Ref
	// what it was built from, such as "refs/pull/7/merge".
	Outcome gate.Outcome
	Ref     string
}

// Decision is what was decided about a run. The zero value is a run that was accepted without a
// word.
type Decision struct {
	// NewLevel is set where the run was accepted as the first of a new level.
	NewLevel bool      `json:"new_level"`
	At       time.Time `json:"at,omitzero"`
	Note     string    `json:"note"` // why, in the words of the person who decided
}

// told reports whether someone decided on purpose.
func (d Decision) told() bool { return d.NewLevel || d.Note != "" }

// Scenario is a scenario of an app over time.
type Scenario struct {
	Package  string   `json:"package"`
	Scenario string   `json:"scenario"`
	Runs     int      `json:"runs"`
	LeftOut  int      `json:"left_out"` // older runs, beyond MostNights
	Nights   []Night  `json:"nights"`   // oldest first
	Devices  []Device `json:"devices"`
	Judged   []Judged `json:"judged"`  // not accepted, since the first night, oldest first
	Numbers  []Number `json:"numbers"` // by metric, the whole run before its events
	// Abridged counts the numbers whose devices were left out: there were too many points.
	Abridged int `json:"abridged"`
	points   int // of all devices
}

// Night is what was measured together: the runs of one session, and those of one commit that began
// within twelve hours.
type Night struct {
	Started time.Time `json:"started"`
	Commit  string    `json:"commit"`
	Runs    []string  `json:"runs"`
	// Decisions are those with a reason, or that began a new level, each once.
	Decisions []Decision `json:"decisions,omitempty"`
}

// Judged is a build that was judged and not accepted, such as a pull request's: the runs of one
// session, and those of one commit that began within twelve hours.
type Judged struct {
	Started time.Time    `json:"started"`
	Commit  string       `json:"commit"`
	Ref     string       `json:"ref"`
	Outcome gate.Outcome `json:"outcome"` // the gravest of its runs
	Runs    []string     `json:"runs"`
	Night   int          `json:"night"` // the last one that began before it
}

// Device is a context, as far as the policy distinguishes them.
type Device struct {
	Context map[string]string `json:"context"`
	Runs    int               `json:"runs"`
}

// Number is a metric of a UI event; of the whole run if Event is "".
type Number struct {
	Event   string        `json:"event"`
	Metric  metric.Metric `json:"-"`
	Name    string        `json:"metric"`
	Unit    string        `json:"unit"`
	Better  string        `json:"better"` // "higher" or "lower"
	Fleet   Series        `json:"fleet"`
	Devices []Series      `json:"devices"` // those with values, where the scenario has several
	// Drift is the trend within the quarter, of the whole run only; nil where it was not computed, or
	// a step in the quarter explains it.
	Drift *drift.Line `json:"drift"`
}

// Series are the values of a number on a device, or on the whole fleet.
type Series struct {
	Device  int      `json:"device"` // its place in Scenario.Devices, -1 for the fleet
	Points  []Point  `json:"points"`
	Levels  []Level  `json:"levels"`
	Changes []Change `json:"changes"`
	Judged  []Beside `json:"judged"` // of builds that are not accepted, on the devices of the series
}

// Beside is the value of a build that is not accepted, comparable with the points of its series.
type Beside struct {
	Judged int     `json:"judged"` // its place in Scenario.Judged
	Value  float64 `json:"value"`
}

// Point is a night's value, in the metric's unit. The fleet's is that of a device with the mean
// level.
type Point struct {
	Night int     `json:"night"` // its place in Scenario.Nights
	Value float64 `json:"value"`
}

// Level is a stretch without a step: From is its first night and To its last one. Start and End are
// equal unless it moves.
type Level struct {
	From   int     `json:"from"`
	To     int     `json:"to"`
	Nights int     `json:"nights"` // with a value
	Start  float64 `json:"start"`
	End    float64 `json:"end"`
}

// Moves reports whether the number drifts within the level.
func (l Level) Moves() bool { return l.Start != l.End }

// Change is a step from one level to the next.
type Change struct {
	Last  int `json:"last"`  // the last night of the level before
	First int `json:"first"` // the first night of the new one
	// Before and After are the levels at the step, in the metric's unit. Shift is the difference,
	// and Change the same as a share of Before, 0 where that is 0 or may be below it.
	Before    float64        `json:"before"`
	After     float64        `json:"after"`
	Shift     float64        `json:"shift"`
	Change    float64        `json:"change"`
	Direction gate.Direction `json:"direction"`
	// Decision is what was decided about runs at the step; nil for nothing.
	Decision *Decision `json:"decision"`
}

// MostNights limits the nights of a scenario, and MostJudged the builds that are not accepted: the
// newest ones count.
const (
	MostNights = 1000
	MostJudged = 100
)

// mostPoints limits the points of a scenario's devices: the first numbers have them.
const mostPoints = 200_000

// mostNumbers limits the numbers of a scenario; those of the whole run come first.
const mostNumbers = 400

// Of returns the scenarios of the runs, by package and name. Numbers that the policy does not judge
// are left out.
func Of(p gate.Policy, catalogue *metric.Catalogue, runs []Run) []Scenario {
	return of(p, catalogue, runs, usual)
}

func of(p gate.Policy, catalogue *metric.Catalogue, runs []Run, c costs) []Scenario {
	by := map[[2]string][]Run{}
	for _, r := range runs {
		key := [2]string{r.Package, r.Scenario}
		by[key] = append(by[key], r)
	}
	var out []Scenario
	for _, group := range by {
		if slices.ContainsFunc(group, Run.accepted) {
			out = append(out, scenarioOf(p.WithLevel(), catalogue, group, c))
		}
	}
	slices.SortFunc(out, func(a, b Scenario) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Scenario, b.Scenario))
	})
	return out
}

// history is a scenario in progress.
type history struct {
	Scenario
	policy    gate.Policy
	catalogue *metric.Catalogue
	costs     costs
	runs      []Run          // oldest first
	nights    []int          // of each run
	devices   []int          // of each run
	places    map[string]int // of each device in Devices, by its key
	beside    beside
}

func scenarioOf(p gate.Policy, catalogue *metric.Catalogue, runs []Run, c costs) Scenario {
	h := &history{policy: p, catalogue: catalogue, costs: c}
	h.Package, h.Scenario.Scenario = runs[0].Package, runs[0].Scenario
	sorted := slices.SortedStableFunc(slices.Values(runs), func(a, b Run) int { return a.Started.Compare(b.Started) })
	for _, r := range sorted {
		if r.accepted() {
			h.runs = append(h.runs, r)
		} else {
			h.beside.runs = append(h.beside.runs, r)
		}
	}
	h.Runs = len(h.runs)
	h.byNight()
	h.byDevice()
	h.byBuild()
	for _, cell := range h.cells() {
		h.Numbers = append(h.Numbers, h.number(cell))
	}
	h.drifts()
	return h.Scenario
}

// together is how far apart runs of one commit may begin to be of one night.
const together = 12 * time.Hour

// grouped returns the group of each run, and the first run of each group: runs of one session, and
// those of one commit that began within twelve hours, are together. The runs are oldest first.
func grouped(runs []Run) (groups []int, first []Run) {
	sessions, commits := map[string]int{}, map[string]int{}
	for _, r := range runs {
		at, known := sessions[r.Session]
		if !known || r.Session == "" {
			at, known = commits[r.Commit]
			known = known && r.Commit != "" && r.Started.Sub(first[at].Started) < together
		}
		if !known {
			at = len(first)
			first = append(first, r)
		}
		sessions[r.Session], commits[r.Commit] = at, at
		groups = append(groups, at)
	}
	return groups, first
}

// byNight finds the night of each run, and leaves out runs of the oldest nights beyond MostNights.
func (h *history) byNight() {
	var first []Run
	h.nights, first = grouped(h.runs)
	for _, r := range first {
		h.Nights = append(h.Nights, Night{Started: r.Started, Commit: r.Commit})
	}
	cut := max(0, len(h.Nights)-MostNights)
	var kept []Run
	var nights []int
	for i, r := range h.runs {
		if h.nights[i] < cut {
			h.LeftOut++
			continue
		}
		night := &h.Nights[h.nights[i]]
		night.Runs = append(night.Runs, r.ID)
		if d := r.Decision; d.told() && !slices.ContainsFunc(night.Decisions, func(o Decision) bool { return o.Note == d.Note && o.NewLevel == d.NewLevel }) {
			night.Decisions = append(night.Decisions, d)
		}
		kept, nights = append(kept, r), append(nights, h.nights[i]-cut)
	}
	h.Nights, h.runs, h.nights = h.Nights[cut:], kept, nights
}

func (h *history) byDevice() {
	h.places = map[string]int{}
	for _, r := range h.runs {
		key := devctx.Key(devctx.Telling(r.Context, h.policy.Use))
		at, known := h.places[key]
		if !known {
			at = len(h.Devices)
			h.places[key] = at
			h.Devices = append(h.Devices, Device{Context: r.Context})
		}
		h.Devices[at].Context = r.Context // the newest has the most properties
		h.Devices[at].Runs++
		h.devices = append(h.devices, at)
	}
}

// cells returns the numbers that are judged, those of the whole run first.
func (h *history) cells() []run.Cell {
	seen := map[run.Cell]bool{}
	var out []run.Cell
	for _, r := range h.runs {
		for cell := range r.Cells.All() {
			if _, known := seen[cell]; known {
				continue
			}
			if seen[cell] = true; h.policy.Judged(cell, r.Summary, h.catalogue) {
				out = append(out, cell)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b run.Cell) int {
		if (a.Event == "") != (b.Event == "") {
			if a.Event == "" {
				return -1
			}
			return 1
		}
		return cmp.Or(h.catalogue.Compare(a.Metric, b.Metric), cmp.Compare(a.Event, b.Event))
	})
	return out[:min(len(out), mostNumbers)]
}

// drifts adds the trend within the quarter, for all devices together: since the last accepted level,
// and where no step explains it.
func (h *history) drifts() {
	var last, now, before []run.Summary
	newest, since := len(h.Nights)-1, 0
	for i, n := range h.Nights {
		if slices.ContainsFunc(n.Decisions, func(d Decision) bool { return d.NewLevel }) {
			since = i
		}
	}
	for i, r := range h.runs {
		if h.nights[i] < since {
			continue
		}
		switch h.nights[i] {
		case newest:
			now = append(now, r.Summary)
		case newest - 1:
			last = append(last, r.Summary)
			before = append(before, r.Summary)
		default:
			before = append(before, r.Summary)
		}
	}
	for _, line := range drift.Among(h.policy, h.catalogue, h.Scenario.Scenario, now, last, before) {
		at := slices.IndexFunc(h.Numbers, func(n Number) bool { return n.Event == "" && n.Name == line.Metric })
		if at >= 0 && line.Context == nil && !h.stepped(h.Numbers[at].Fleet) {
			h.Numbers[at].Drift = &line
		}
	}
}

// quarter is how far back a drift is looked for.
const quarter = 91 * 24 * time.Hour

// stepped reports whether a series had a step in the last quarter.
func (h *history) stepped(s Series) bool {
	k := len(s.Changes)
	return k > 0 && h.Nights[len(h.Nights)-1].Started.Sub(h.Nights[s.Changes[k-1].First].Started) < quarter
}
