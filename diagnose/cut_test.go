package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// many repeats an entry often enough for any limit.
func many[T any](entry T) []T { return slices.Repeat([]T{entry}, 3_000) }

// However large a cause is, what is kept of it can be read again.
func TestCutToLimits(t *testing.T) {
	long := strings.Repeat("é", run.MaxText)
	part := Part{Text: long, Name: long, Amount: &Amount{Unit: long}, Range: &Range{Unit: long}}
	phrase := Phrase(many(part))
	table := Table{Title: long, Note: phrase, Columns: many(Column{Title: long}), Rows: many(Row{Cells: slices.Repeat([]Phrase{Say("cell")}, 3_000), Direction: gate.None})}
	device := map[string]string{}
	for i := range 2 * run.MaxContext {
		device[strings.Repeat("k", i)] = long
	}
	huge := Cause{
		Run: long, Scenario: long, Device: device, Event: long, Metric: long, Kind: "sun.heat", Direction: gate.ToRegression,
		Subject: Subject{Name: long, File: long}, Explains: Extent{Unit: long}, Title: phrase, Sentence: phrase, Basis: phrase, Tables: slices.Repeat([]Table{table}, 20),
		Picture: &Picture{Title: long, Label: long, Flame: &Flame{Unit: long, Of: long, Calls: many(Call{Parent: -1, Name: long, Kind: long})},
			Bars:    &Bars{Unit: long, Axis: long, List: many(Bar{Name: long, Status: long})},
			Threads: &Threads{Frames: many(DrawnFrame{Role: Late, Steps: many(Step{Thread: long, Process: long, Stage: long, Kind: long, What: long, Slice: long})})},
			Waits:   &Waits{Threads: many(Waiting{Name: long, Process: long, State: long, WaitsFor: long, At: long, Next: 2_999})}},
		Evidence: many(Link{Digest: strings.Repeat("0", 64)}), Doubts: many(Say(part)),
	}
	cut := huge.Cut()
	if err := cut.Validate(); err != nil {
		t.Errorf("a cause that was cut is not valid: %v", err)
	}
	if n := len(cut.Tables[0].Rows); n != MaxRows || cut.Tables[0].Total != 3_000 {
		t.Errorf("a table of 3,000 rows has %d and a total of %d, want %d of 3,000", n, cut.Tables[0].Total, MaxRows)
	}
	if len(huge.Tables[0].Rows) != 3_000 || len(huge.Tables[0].Rows[0].Cells) != 3_000 || huge.Picture.Flame.Calls[0].Name != long {
		t.Error("the cause itself was changed")
	}
	if diff := cmp.Diff(whole(), whole().Cut(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("a cause within the limits is cut:\n%s", diff)
	}
}

func TestForemost(t *testing.T) {
	var all []Cause
	for i := range MaxCauses + 200 { // those in the middle explain least
		share := float64((i+600)%(MaxCauses+200)) / 2_000
		all = append(all, cause("sun.heat", "R", &share))
	}
	kept, total := Foremost(all, 0)
	if len(kept) != MaxCauses || total != MaxCauses+200 {
		t.Fatalf("%d causes are kept of %d", len(kept), total)
	}
	if *kept[0].Explains.Share != 0.3 || *kept[600].Explains.Share != 0.1 {
		t.Errorf("the first explains %g and the 601st %g, want 0.3 and, behind the least, 0.1", *kept[0].Explains.Share, *kept[600].Explains.Share)
	}
	if kept, total := Foremost(all[:3], 0); len(kept) != 3 || total != 0 {
		t.Errorf("of three causes %d are kept, total %d", len(kept), total)
	}
}
