package batterystats

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// section is the part of a dump that a line is in.
type section int

const (
	elsewhere section = iota
	inHistory
	inTotals // of a period, before its UIDs
	inPower  // "Estimated power use (mAh)"
	inUID
	inBattery // dumpsys battery
)

// reader is the state between lines.
type reader struct {
	dump     Dump
	warnings trace.Warnings
	line     int
	section  section
	period   int  // index into dump.Periods of the text's period
	uid      *UID // of the section inUID
	// A bug report has the same history in both forms.
	histories struct{ text, checkin historyReader }
	ever      bool // the checkin form has a "t"
	packages  int
	full      bool // more periods than the limit
	framed    bool // a service's dump has begun, as one of several, so a line should mark its end
}

// Read reads a dump. It returns an error only for failed or oversized input; what can't be
// understood is a warning.
func Read(src io.Reader) (Dump, error) {
	r := reader{dump: Dump{Packages: map[int][]string{}}, period: -1}
	lines := trace.NewLines(src)
	last := ""
	for lines.Next() {
		r.line = lines.Number()
		if lines.Cut() {
			r.warnings.Addf(r.line, "the line is longer than %d MiB: its rest is not read", trace.MaxLine>>20)
		}
		last = string(lines.Text())
		r.read(last)
	}
	if lines.Err() == nil {
		r.doubtEnd(lines.Unended() && (r.section != elsewhere || isCheckin(last)))
	}
	r.finish()
	return r.dump, lines.Err()
}

// cutf marks the dump as cut and adds the warning.
func (r *reader) cutf(line int, format string, args ...any) {
	r.dump.Cut = true
	r.warnings.Addf(line, format, args...)
}

func (r *reader) read(line string) {
	if strings.HasPrefix(line, "*** ") && trace.CutShort([]byte(line), "batterystats", "battery") {
		r.cutf(r.line, "the device aborted its own dump here (%s): it is incomplete, and totals are too low", trace.Quote(line))
		r.section = elsewhere
		return
	}
	if isCheckin(line) {
		r.readCheckin(line)
		return
	}
	text := strings.TrimSpace(line)
	if text == "" {
		if r.section == inPower {
			r.section = inTotals
		}
		return
	}
	indented := line[0] == ' ' || line[0] == '\t'
	if !indented && r.heading(text) {
		return
	}
	switch r.section {
	case inHistory:
		if indented {
			r.histories.text.readText(text, r.line)
		}
	case inBattery:
		r.dump.Battery.read(text)
	case inTotals, inPower, inUID:
		r.readPeriod(line, text)
	}
}

// heading parses a line that is not indented and reports whether it began or ended a section.
func (r *reader) heading(text string) bool {
	switch {
	case strings.HasPrefix(text, "Battery History"):
		r.section = inHistory
		r.histories.text.begin(r.line)
	case strings.HasPrefix(text, "Statistics since last charge"):
		r.beginPeriod(SinceCharge)
	case strings.HasPrefix(text, "Statistics since last unplugged"):
		r.beginPeriod(SinceUnplugged)
	case strings.HasPrefix(text, "Current Battery Service state"):
		r.section = inBattery
		r.dump.Battery = &Battery{Line: r.line, Stated: map[string]float64{}}
	case trace.ClosesService([]byte(text)):
		r.section, r.framed = elsewhere, false
	case strings.HasPrefix(text, "DUMP OF SERVICE "), strings.HasPrefix(text, "------ CHECKIN BATTERYSTATS ("):
		r.section = elsewhere
		r.framed = strings.HasPrefix(text, "--") || strings.HasSuffix(text, " batterystats:")
	case strings.HasSuffix(text, ":"):
		r.section = elsewhere
	default:
		// Manufacturers add lines of their own that are not indented.
		return false
	}
	return true
}

func (r *reader) beginPeriod(since Since) {
	r.section, r.uid = inTotals, nil
	r.period = r.addPeriod(newPeriod(since, FormText, r.line))
	if r.period < 0 {
		r.section = elsewhere
	}
}

// addPeriod returns the index of the added period, -1 beyond the limit.
func (r *reader) addPeriod(p Period) int {
	if len(r.dump.Periods) == maxPeriods {
		if !r.full {
			r.warnings.Addf(r.line, "more than %d sets of statistics: the rest is not read", maxPeriods)
		}
		r.full = true
		return -1
	}
	r.dump.Periods = append(r.dump.Periods, p)
	return len(r.dump.Periods) - 1
}

func (r *reader) addPackage(uid int, name string) {
	known := r.dump.Packages[uid]
	if name == "" || r.packages == maxPackages || len(known) > 1000 || slices.Contains(known, name) {
		return
	}
	r.packages++
	r.dump.Packages[uid] = append(known, trace.Name(name))
}

// history returns the checkin form's history if it states a voltage, as for the statistics, or else
// the text's. The same history in both forms must not count twice.
func (r *reader) history() History {
	best := &r.histories.checkin
	if best.Entries == 0 || best.Voltages == 0 && r.histories.text.Voltages > 0 {
		best = &r.histories.text
	}
	best.finish(&r.warnings)
	return best.History
}

// finish completes what depends on the end of the file.
func (r *reader) finish() {
	r.dump.History = r.history()
	for i := range r.dump.Periods {
		p := &r.dump.Periods[i]
		if p.Form == FormCheckin && p.Since == SinceCharge && r.ever {
			p.Since = SinceLastRun
		}
		if p.overflow {
			r.warnings.Addf(p.Line, "the statistics since %s hold more than %d UIDs, %d wakelocks, %d times of sensors or %d components: the rest is left out",
				p.Since, maxUIDs, maxWakelocks, maxSensors, maxComponents)
		}
		_, screenOff := p.Stated["screen_off_ms"]
		for j := range p.Wakelocks {
			w := &p.Wakelocks[j]
			w.ScreenOff = screenOff && (w.Kind == Partial || w.Kind == Kernel)
		}
		slices.SortStableFunc(p.Wakelocks, func(a, b Wakelock) int { return cmp.Compare(b.HeldMS, a.HeldMS) })
		for _, u := range p.UIDs {
			u.Packages = r.dump.Packages[u.UID]
			if _, stated := u.Stated["cpu_user_ms"]; u.hasProc && !stated {
				stateIn(u.Stated, "cpu_processes_ms", u.processMS)
			}
		}
	}
	r.dump.Warnings = r.warnings.List()
}
