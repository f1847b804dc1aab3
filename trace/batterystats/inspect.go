package batterystats

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Details are the details of an inspection besides its metrics (docs/format/inspect.md).
type Details struct {
	// Contents names what was found: checkin, text, history, battery.
	Contents []string `json:"contents"`
	// Source is the period that the totals are from, nil if there is none.
	Source  *Source  `json:"source,omitempty"`
	Energy  *Energy  `json:"energy,omitempty"`
	Checkin *Checkin `json:"checkin,omitempty"`
	Battery *Battery `json:"battery,omitempty"`
	History *History `json:"history,omitempty"`
	Periods []Period `json:"periods,omitempty"`
}

// Source names a period.
type Source struct {
	Since Since `json:"since"`
	Form  Form  `json:"form"`
	Line  int   `json:"line"`
}

// Energy is how energy.total_j was computed: charge × voltage.
type Energy struct {
	// Source is "platform": Android's own estimate, not a measurement.
	Source      string  `json:"source"`
	ComputedMAh float64 `json:"computed_mah"`
	VoltageMV   float64 `json:"voltage_mv"`
	// VoltageFrom is "history" or "battery".
	VoltageFrom string  `json:"voltage_from"`
	Joules      float64 `json:"joules"`
}

// Inspect reads a dump and returns its totals: energy.total_j and power.mean_w as estimated by the
// platform, and cpu.time_ms over all UIDs.
func Inspect(r io.Reader) (trace.Inspection, error) {
	d, err := Read(r)
	if err != nil {
		return trace.Inspection{}, err
	}
	details := Details{Contents: d.Contents(), Checkin: d.Checkin, Battery: d.Battery, Periods: d.Periods}
	if d.History.Entries > 0 {
		details.History = &d.History
	}
	warnings := d.Warnings
	metrics := map[string]float64{}
	switch p := d.Main(); {
	case p != nil:
		details.Source = &Source{Since: p.Since, Form: p.Form, Line: p.Line}
		var doubts []string
		details.Energy, doubts = d.Energy(p)
		for _, doubt := range append(p.doubts(), doubts...) {
			warnings = append(warnings, run.Warning{Line: p.Line, Text: doubt})
		}
		fill(metrics, p, details.Energy)
	case len(details.Contents) == 0:
		warnings = append(warnings, run.Warning{Text: "the file has no line of batterystats"})
	default:
		warnings = append(warnings, run.Warning{Text: "the file has no statistics, only " + strings.Join(details.Contents, " and ")})
	}
	seen := trace.NewInspection("batterystats", metrics, warnings, details)
	if len(details.Contents) == 0 {
		return seen.Empty(), nil
	}
	return seen, nil
}

func fill(metrics map[string]float64, p *Period, energy *Energy) {
	if cpu, ok := p.CPUTimeMS(); ok {
		metrics["cpu.time_ms"] = cpu
	}
	if energy == nil {
		return
	}
	metrics["energy.total_j"] = energy.Joules
	if on := p.Stated["on_battery_ms"]; on > 0 {
		metrics["power.mean_w"] = energy.Joules / (on / 1000)
	}
}

// Contents returns the names of what was found in the file.
func (d Dump) Contents() []string {
	out := []string{}
	if d.Checkin != nil {
		out = append(out, string(FormCheckin))
	}
	for _, p := range d.Periods {
		if p.Form == FormText {
			out = append(out, string(FormText))
			break
		}
	}
	if d.History.Entries > 0 {
		out = append(out, "history")
	}
	if d.Battery != nil {
		out = append(out, "battery")
	}
	return out
}

// Main returns the period for totals: since the last charge, in the checkin form if there is one,
// since that does not round. It returns nil if the file has no period.
func (d Dump) Main() *Period {
	var best *Period
	rank := map[Since]int{SinceCharge: 4, SinceEver: 3, SinceUnplugged: 2, SinceBoot: 1}
	for i := range d.Periods {
		p := &d.Periods[i]
		if best == nil || rank[p.Since] > rank[best.Since] || p.Since == best.Since && p.Form == FormCheckin && best.Form == FormText {
			best = p
		}
	}
	return best
}

// CPUTimeMS returns the CPU time in user and system mode over all UIDs; false if the period states
// none. For a UID that states only its processes (before Android 6), those count.
func (p *Period) CPUTimeMS() (float64, bool) {
	total, stated := 0.0, false
	for _, u := range p.UIDs {
		for _, name := range []string{"cpu_user_ms", "cpu_system_ms", "cpu_processes_ms"} {
			if v, ok := u.Stated[name]; ok {
				total, stated = total+v, true
			}
		}
	}
	return total, stated
}

// maxShown limits the wakelocks in a summary.
const maxShown = 5

// Summary returns the details as a few lines for people: the drain, and the wakelocks that kept the
// device awake while its screen was off.
func (d Details) Summary() []string {
	if d.Source == nil {
		return nil
	}
	var p *Period
	for i := range d.Periods {
		if d.Periods[i].Line == d.Source.Line {
			p = &d.Periods[i]
		}
	}
	if p == nil {
		return nil
	}
	lines := []string{fmt.Sprintf("%s: %v on battery, the screen on for %v", sinceWords[p.Since],
		milliseconds(p.Stated["on_battery_ms"]), milliseconds(p.Stated["screen_on_ms"]))}
	if drain, ok := p.Stated["computed_mah"]; ok {
		lines = append(lines, fmt.Sprintf("estimated drain: %g mAh", drain))
	}
	shown := 0
	for _, w := range p.Wakelocks {
		if !w.ScreenOff || w.Kind != Partial || shown == maxShown {
			continue
		}
		shown++
		lines = append(lines, fmt.Sprintf("held awake with the screen off: %v by %q of %s (%d times)", milliseconds(w.HeldMS), w.Name, w.UIDName, w.Count))
	}
	return lines
}

var sinceWords = map[Since]string{
	SinceCharge: "since the last charge", SinceUnplugged: "since the device was unplugged", SinceBoot: "since the start",
	SinceEver: "since ever", SinceLastRun: "in the run before",
}

func milliseconds(ms float64) time.Duration {
	return time.Duration(min(ms, math.MaxInt64/1e7)) * time.Millisecond
}
