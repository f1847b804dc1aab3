package tables_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
)

// TestPageListsEqualTables compares the statements of docs/format/inspect.md
// about the tables expected by Perfetto's own tests with those that our tests name: each is
// compared, or the page states why not.
func TestPageListsEqualTables(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(corpustest.Path(t, "perfetto-expected"), "*.out"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("../../../docs/format/inspect.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	byTable, byDetails := named(t, "."), named(t, "../powerdata")
	tablesAlone, detailsAlone, both, inText := 0, 0, 0, 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".out")
		_, err := os.Stat(strings.TrimSuffix(file, "out") + "systrace")
		switch table, details := slices.Contains(byTable, name), slices.Contains(byDetails, name); {
		case err == nil: // all of them are compared by the tests of package systrace
			inText++
		case table && details:
			both++
		case table:
			tablesAlone++
		case details:
			detailsAlone++
		case !excused(page, name):
			t.Errorf("%s is not compared, and the page does not say why", name)
			continue
		default:
			continue
		}
		if excused(page, name) {
			t.Errorf("%s is compared, and the page says why not", name)
		}
	}
	for _, said := range []string{
		fmt.Sprintf("expect %d tables of traces", len(files)),
		fmt.Sprintf("of which %d are equal to what is read. %d are of traces of packets", tablesAlone+detailsAlone+both+inText, tablesAlone+detailsAlone+both),
		fmt.Sprintf("%d are compared with `--table`, %d with `details` and the readings behind it, and %d with both", tablesAlone, detailsAlone, both),
		map[int]string{3: "Three more are of traces in text"}[inText],
	} {
		if said == "" || !strings.Contains(page, said) {
			t.Errorf("the page does not say %q", said)
		}
	}
}

// named returns the expected tables that a package's tests name.
func named(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var out []string
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`"([A-Z][A-Za-z]+__\w+)(\.\w+)?"`).FindAllStringSubmatch(string(raw), -1) {
			out = append(out, found[1])
		}
	}
	return out
}

// excused reports whether the page's table of those that are not compared has a name: in full, or
// as "…" and its end after the beginning of the one before.
func excused(page, name string) bool {
	_, rest, _ := strings.Cut(page, "| expected | why it is not compared |")
	rest, _, _ = strings.Cut(rest, "\n\n")
	family := ""
	for _, found := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(rest, -1) {
		end, short := strings.CutPrefix(found[1], "…")
		if !short {
			family, _, _ = strings.Cut(found[1], "__")
		}
		if found[1] == name || short && strings.HasPrefix(name, family+"__") && strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
