package text

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/report/document"
)

// A number and its unit are on one line at every width, also in the words of a verdict, which have
// plain spaces.
func TestNumbersKeepTheirUnits(t *testing.T) {
	const reason = "energy after open-message: 2.55 J where the base has 1.96 J (+31 %, 95 % interval +26 % to +37 %, p < 0.0001) in 20 ms, 3 min and 5 s"
	for width := 20; width < 140; width++ {
		lines := wrap(reason, width)
		for _, line := range lines {
			for _, begins := range []string{"%", "J ", "ms", "min", "s", "<", "0.0001"} {
				if strings.HasPrefix(line, begins) {
					t.Fatalf("at %d columns a line begins with %q: %q", width, begins, line)
				}
			}
		}
		if plainSpaces(strings.Join(lines, " ")) != reason {
			t.Fatalf("at %d columns the lines are not the text: %q", width, lines)
		}
	}
}

// A narrow terminal leaves out the spare columns, one by one in their order, and idle ones.
func TestNarrowTerminalsLeaveOutSpareColumns(t *testing.T) {
	table := &document.Table{
		Columns: document.Columns([]string{"Third", "First"}, "What", "First", "Second", "Third", "Idle", "Status"), Keep: 30,
		Rows: []document.Row{{Cells: []string{"frames of the whole run", "11,111,111", "22,222,222", "33,333,333", "4", "suspect of being worse"}, Brief: "maybe"}},
	}
	table.Columns[4].Idle = true
	d := document.Document{Sections: []document.Section{{Title: document.Everywhere("Table"), Body: table}}}
	for width, want := range map[int]string{120: "What First Second Third Status", 80: "What First Second Status", 64: "What Second Status"} {
		var b strings.Builder
		if err := Render(&b, d, document.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(b.String(), "Table\n")
		header, _, _ := strings.Cut(rest, "\n")
		if got := strings.Join(strings.Fields(header), " "); got != want {
			t.Errorf("width %d: the columns are %q, want %q:\n%s", width, got, want, b.String())
		}
	}
	var b strings.Builder
	if err := Render(&b, d, document.Options{Width: 50}); err != nil || !strings.Contains(b.String(), "maybe") || strings.Contains(b.String(), "suspect") {
		t.Errorf("the status is not told in brief where there is little room (%v):\n%s", err, b.String())
	}
}
