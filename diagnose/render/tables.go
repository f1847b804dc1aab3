package render

import (
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
)

// tables are the evidence of a suspect.
func (t teller) tables(s suspect) []diagnose.Table {
	out := []diagnose.Table{t.spending()}
	if s.views != nil && len(s.views.hidden) > 0 {
		out = append(out, s.views.table())
	}
	return out
}

// spending is what frames spend their time on: what changed most first.
func (t teller) spending() diagnose.Table {
	usual, late := t.usual(), t.comparison.head.late
	now, before := t.sides()
	title, change := "What a frame spends its time on, before and now", "Change of all frames"
	if t.alone() {
		title, change = "What late frames spend their time on, beside normal ones", "Difference"
	}
	out := diagnose.Table{Title: title, Note: say("Milliseconds of the critical path of one frame, in the mean."), Columns: []diagnose.Column{
		{Title: "What"}, {Title: "Normal frames"}, {Title: "Late frames"}, {Title: change}, {},
	}}
	all := blames(now, before)
	slices.SortStableFunc(all, func(a, b blame) int {
		return cmp.Compare(now.mean(b)-before.mean(b), now.mean(a)-before.mean(a))
	})
	for _, b := range all[:min(len(all), maxRows)] {
		more := now.mean(b) - before.mean(b)
		out.Add(gate.None, say(row(b), t.rootOf(b).words(b)), say(ms(usual.mean(b))), say(ms(late.mean(b))), say(diagnose.Amount{Value: more, Unit: "ms", Signed: true}), nil)
	}
	if len(all) > maxRows {
		out.Total = len(all)
	}
	return out
}

// row names a blame in a table.
func row(b blame) diagnose.Phrase {
	words := map[string]string{
		BinderKind: "binder", IOKind: "storage", LockKind: "lock", CPUKind: "waiting for a processor beside", SleepKind: "sleep", BlockedKind: "blocked in the kernel",
		GCKind: "", GPUKind: "", CompositionKind: "", bufferKind: "waiting for a buffer of", MeasureKind: "measuring,", LayoutKind: "layout,", DrawKind: "drawing,", WorkKind: "work,",
	}
	if b.brief() == "" {
		return say(cmp.Or(words[b.kind], b.kind))
	}
	if words[b.kind] == "" {
		return say(diagnose.Named(b.brief()))
	}
	return say(words[b.kind], " ", diagnose.Named(b.brief()))
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
