package jankcause

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
)

// tables returns the evidence of a suspect.
func (t teller) tables(s suspect) []diagnose.Table {
	var out []diagnose.Table
	if len(t.suspects) == 0 || t.suspects[0].blame == s.blame { // one table is for all causes
		out = append(out, t.spending())
	}
	if s.views != nil && len(s.views.hidden) > 0 {
		out = append(out, s.views.table())
	}
	return out
}

// spending returns what frames spend their time on: the causes first, then what changed most.
func (t teller) spending() diagnose.Table {
	usual, late, s := t.usual(), t.comparison.head.late, t.scale()
	now, before := t.sides()
	head, change := "What a frame spends its time on, before and now", "Change per "+s.one
	if t.alone() {
		head, change = "What late frames spend their time on, compared with normal ones", "Difference"
	}
	out := diagnose.Table{Title: head, Note: say("Milliseconds of the critical path of one frame, in the mean; the change is of all frames."), Columns: []diagnose.Column{
		{Title: "What"}, {Title: "Normal frames"}, {Title: "Late frames"}, {Title: change}, {},
	}}
	add := func(what diagnose.Phrase, parts []blame, more float64) {
		u, _ := usual.portion(parts)
		l, _ := late.portion(parts)
		out.Add(gate.None, what, say(ms(u)), say(ms(l)), say(diagnose.Amount{Value: more * s.factor, Unit: "ms", Signed: true}), nil)
	}
	for _, cause := range t.suspects {
		if cause.behind {
			out.Add(gate.None, say("hidden: ", title(cause)), nil, nil, say(diagnose.Amount{Value: cause.more.Mean * s.factor, Unit: "ms", Signed: true}), nil)
			continue
		}
		add(say("cause: ", title(cause)), cause.parts, cause.more.Mean)
	}
	all := blames(now, before)
	slices.SortStableFunc(all, func(a, b blame) int {
		return cmp.Compare(now.mean(b)-before.mean(b), now.mean(a)-before.mean(a))
	})
	for _, b := range all[:min(len(all), maxRows)] {
		add(say(row(b), t.rootOf(b).words(b)), []blame{b}, now.mean(b)-before.mean(b))
	}
	if len(all) > maxRows {
		out.Total = len(out.Rows) + len(all) - maxRows
	}
	return out
}

// withoutSubject matches what leads to the subject of a row, for one without.
var withoutSubject = regexp.MustCompile(`,$| next to$| of$`)

// row names a blame in a table.
func row(b blame) diagnose.Phrase {
	of := causeKindOf(b.kind)
	if b.brief() == "" {
		return say(withoutSubject.ReplaceAllString(cmp.Or(of.row, b.kind), ""))
	}
	if of.row == "" {
		return say(diagnose.Named(b.brief()))
	}
	return say(of.row, " ", diagnose.Named(b.brief()))
}

// table lists the views that are drawn though nobody sees them.
func (r redundant) table() diagnose.Table {
	out := diagnose.Table{Title: "Views that are drawn and covered", Columns: []diagnose.Column{
		{Title: "View"}, {Title: "Id"}, {Title: "Covered by"}, {Title: "Part of the window"}, {},
	}}
	for _, h := range r.hidden[:min(len(r.hidden), mostHidden)] {
		out.Add(gate.None, say(diagnose.Coded(h.Class)), say(diagnose.Named(h.ID)), say(diagnose.Coded(h.CoveredBy)), say(ratio(h.AreaShare)), nil)
	}
	if all := len(r.hidden) + r.more; all > len(out.Rows) {
		out.Total = all
	}
	return out
}
