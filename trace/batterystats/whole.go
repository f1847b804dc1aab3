package batterystats

import "github.com/apkgate/apkgate/trace"

// order tracks the order of a period's UIDs, to detect whether the last ones are missing.
type order struct {
	last  int  // the last UID seen
	any   bool // a UID was seen
	mixed bool // they are not in ascending order
}

// seen records that the statistics of a UID begin or continue.
func (o *order) seen(uid int) {
	o.mixed = o.mixed || o.any && uid < o.last
	o.last, o.any = uid, true
}

// doubtEnd warns where the text ends too early. Android marks the end of neither form, except in
// dumps of several services, and it lists the estimates of all UIDs before the statistics of each,
// in ascending order.
func (r *reader) doubtEnd(unended bool) {
	switch {
	case r.dump.Cut || r.line == 0:
	case unended:
		r.cutf(r.line, "the text ends in the middle of a line: it may have been cut, and totals may be too low")
	case r.section == inPower:
		r.cutf(r.line, "the text ends within the estimates of power use: the statistics of each UID are missing")
	default:
		for i := range r.dump.Periods {
			p := &r.dump.Periods[i]
			if missing := p.missing(); missing > 0 {
				r.warnings.Addf(p.Line, "%d UIDs have an estimate, but no statistics after those of the others: the dump may have been cut, and totals may be too low", missing)
				return
			}
		}
		if r.framed {
			r.warnings.Addf(r.line, "%s", trace.UnclosedWarning)
		}
	}
}

// missing counts the UIDs that have an estimate and whose statistics should follow the last ones
// present.
func (p *Period) missing() int {
	if p.order.mixed {
		return 0
	}
	n := 0
	for _, u := range p.UIDs {
		if u.Stated["power_mah"] > 0 && (!p.order.any || u.UID > p.order.last) {
			n++
		}
	}
	return n
}
