package diagnose

import (
	"maps"
	"slices"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// Foremost returns causes within the limits of what is saved: of more than MaxCauses those that
// explain most, in their order, each cut. of is how many there were where all are the rest of a
// longer list, 0 otherwise; total counts them where some are left out, and is 0 where none is.
func Foremost(all []Cause, of int) (kept []Cause, total int) {
	left := map[int]bool{}
	if of > len(all) || len(all) > MaxCauses {
		total = max(of, len(all))
	}
	if len(all) > MaxCauses {
		places := make([]int, len(all))
		for i := range places {
			places[i] = i
		}
		slices.SortStableFunc(places, func(a, b int) int { return Compare(all[a], all[b]) })
		for _, i := range places[MaxCauses:] {
			left[i] = true
		}
	}
	for i, c := range all {
		if !left[i] {
			kept = append(kept, c.Cut())
		}
	}
	return kept, total
}

// Cut returns the cause within the limits of Validate: lists and texts are cut at their end, and a
// table counts its rows.
func (c Cause) Cut() Cause {
	for _, s := range []*string{&c.Run, &c.Scenario, &c.Event, &c.Metric, &c.Subject.Name, &c.Subject.File, &c.Explains.Unit} {
		*s = cutText(*s)
	}
	if !Address(c.See) {
		c.See = ""
	}
	c.Device = cutDevice(c.Device)
	c.Title, c.Sentence, c.Basis = c.Title.cut(), c.Sentence.cut(), c.Basis.cut()
	c.Tables = each(c.Tables, MaxTables, Table.cut)
	if c.Picture != nil {
		c.Picture = new(c.Picture.cut())
	}
	c.Evidence = c.Evidence[:min(len(c.Evidence), MaxLinks)]
	c.Doubts = each(c.Doubts, MaxDoubts, Phrase.cut)
	return c
}

// each cuts a list to at most so many entries, and each entry.
func each[T any](list []T, most int, cut func(T) T) []T {
	out := slices.Clone(list[:min(len(list), most)])
	for i := range out {
		out[i] = cut(out[i])
	}
	return out
}

// cutDevice keeps the first properties by name.
func cutDevice(device map[string]string) map[string]string {
	if device == nil {
		return nil
	}
	out := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(device)) {
		if len(out) < run.MaxContext {
			out[cutText(key)] = cutText(device[key])
		}
	}
	return out
}

func (p Phrase) cut() Phrase {
	return each(p, MaxParts, func(part Part) Part {
		part.Text, part.Name = cutText(part.Text), cutText(part.Name)
		if part.Amount != nil {
			a := *part.Amount
			a.Unit = cutText(a.Unit)
			part.Amount = &a
		}
		if part.Range != nil {
			r := *part.Range
			r.Unit = cutText(r.Unit)
			part.Range = &r
		}
		return part
	})
}

func (t Table) cut() Table {
	t.Title, t.Note = cutText(t.Title), t.Note.cut()
	if len(t.Rows) > MaxRows {
		t.Total = t.All()
	}
	t.Columns = each(t.Columns, MaxColumns, func(c Column) Column {
		c.Title = cutText(c.Title)
		return c
	})
	t.Rows = each(t.Rows, MaxRows, func(r Row) Row {
		r.Cells = each(r.Cells, len(t.Columns), Phrase.cut)
		return r
	})
	return t
}

func (p Picture) cut() Picture {
	p.Title, p.Label = cutText(p.Title), cutText(p.Label)
	if p.Flame != nil {
		f := *p.Flame
		f.Unit, f.Of = cutText(f.Unit), cutText(f.Of)
		f.Calls = each(f.Calls, MaxCalls, func(c Call) Call {
			c.Name, c.Kind = cutText(c.Name), cutText(c.Kind)
			return c
		})
		p.Flame = &f
	}
	if p.Bars != nil {
		b := *p.Bars
		b.Unit, b.Axis = cutText(b.Unit), cutText(b.Axis)
		b.List = each(b.List, MaxBars, func(bar Bar) Bar {
			bar.Name, bar.Status = cutText(bar.Name), cutText(bar.Status)
			return bar
		})
		p.Bars = &b
	}
	if p.Threads != nil {
		p.Threads = new(p.Threads.cut())
	}
	if p.Waits != nil {
		p.Waits = new(p.Waits.cut())
	}
	return p
}

// cutText cuts a text to the limit of a record.
func cutText(s string) string { return prose.Fit(s, run.MaxText) }
