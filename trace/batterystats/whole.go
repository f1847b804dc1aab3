package batterystats

import "github.com/apkgate/apkgate/trace"

// order is that of the UIDs of a period, to know whether the last of them are
// missing.
type order struct {
	last  int  // the UID that came last
	any   bool // there is one
	mixed bool // they are not in rising order
}

// came notes that the statistics of a UID begin or go on.
func (o *order) came(uid int) {
	o.mixed = o.mixed || o.any && uid < o.last
	o.last, o.any = uid, true
}

// doubtEnd tells where the text ends too early. Android ends neither form with a
// mark, but for dumps of several services, and it lists the estimates of all UIDs before the statistics of each, in
// rising order.
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
				r.warnings.Addf(p.Line, "%d UIDs have an estimate, but no statistics behind those of the others: the dump may have been cut, and totals may be too low", missing)
				return
			}
		}
		if r.framed {
			r.warnings.Addf(r.line, "%s", trace.NotClosed)
		}
	}
}

// missing counts the UIDs that an estimate names and whose statistics should stand
// behind the last that are there.
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
