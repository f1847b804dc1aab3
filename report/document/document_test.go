package document

import "testing"

func TestPlacesFallBack(t *testing.T) {
	p := Places{"": {Path: "apkgate.yml"}, "scroll": {Path: "Scroll.kt", Line: 3}}
	if got := p.Of("scroll"); got != (Place{"Scroll.kt", 3}) {
		t.Errorf("the known scenario is at %v", got)
	}
	if got := p.Of("other"); got != (Place{Path: "apkgate.yml"}) {
		t.Errorf("the unknown scenario is at %v", got)
	}
	if got := Places(nil).Of("other"); got != (Place{}) {
		t.Errorf("without places it is at %v", got)
	}
}

// A table's unfolded rows are the most important ones, and rows beyond the room are neither
// unfolded nor folded.
func TestTablePlaces(t *testing.T) {
	table := Table{}
	for i := range 10 {
		table.Rows = append(table.Rows, Row{Cells: []string{string(rune('a' + i))}, Minor: i%2 == 1})
	}
	letters := func(rows []Row) (out string) {
		for _, r := range rows {
			out += r.Cells[0]
		}
		return out
	}
	for _, c := range []struct {
		room         Room
		open, folded string
	}{
		{Room{Open: 3, Most: 8}, "ace", "gibdf"},
		{Room{Open: 7}, "acegi", "bdfhj"},
		{Room{Open: 3, Most: 2}, "ac", ""},
		{Room{Most: 6}, "acegib", ""},
		{Room{}, "acegibdfhj", ""},
	} {
		open, folded := table.Places(c.room)
		if letters(open) != c.open || letters(folded) != c.folded {
			t.Errorf("%+v: %q open and %q folded, want %q and %q", c.room, letters(open), letters(folded), c.open, c.folded)
		}
	}
}

func TestTableAddCountsRows(t *testing.T) {
	table := Table{Noun: Noun{"row", "rows"}}
	for range 5 {
		table.Add(3, Neutral, "a")
	}
	if left := table.Count() - len(table.Rows); table.Noun.More(left) != "2 more rows" {
		t.Errorf("%s are counted, want 2 more rows", table.Noun.More(left))
	}
}
