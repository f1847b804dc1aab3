package tables

import (
	"os"
	"strings"
	"testing"
)

// TestColumnsAreDocumented compares the declared columns with the page that names them.
func TestColumnsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/format/inspect.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n### Tables\n")
	for name, declared := range readers {
		_, line, found := strings.Cut(section, "\n| `"+name+"` | ")
		line, _, _ = strings.Cut(line, "\n")
		if !found || len(declared.columns) == 0 {
			t.Errorf("%s has %d columns, and a line in the page: %v", name, len(declared.columns), found)
		}
		for _, column := range declared.columns {
			before, after, documented := strings.Cut(line, "`"+column+"`")
			if line = after; !documented {
				t.Errorf("%s: the page has no column %s behind %q", name, column, before)
				break
			}
		}
	}
}
