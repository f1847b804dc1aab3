package apkgate_test

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wordsForUsers is the limit of what users are to read, in words.
const wordsForUsers = 40_000

// sectionOfIndex returns the documents that a section of docs/README.md links to.
func sectionOfIndex(t *testing.T, index, title string) (pages []string) {
	t.Helper()
	_, rest, found := strings.Cut(index, "\n## "+title+"\n")
	if !found {
		t.Fatalf("docs/README.md has no section %s", title)
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	for _, m := range linkOfDocument.FindAllStringSubmatch(section, -1) {
		file, _, _ := strings.Cut(m[1], "#")
		pages = append(pages, path.Join("docs", file))
	}
	return pages
}

// Every document is in one list of the index, and those for users have a limit.
func TestIndexListsEveryDocument(t *testing.T) {
	all := documents(t)
	index := all["docs/README.md"]
	users := sectionOfIndex(t, index, "Pages for users")
	listed := slices.Concat(users, sectionOfIndex(t, index, "Reference"), sectionOfIndex(t, index, "Evidence and design"), sectionOfIndex(t, index, "For contributors"))
	for document := range all {
		if n := len(slices.DeleteFunc(slices.Clone(listed), func(p string) bool { return p != document })); n != 1 && document != "docs/README.md" {
			t.Errorf("%s is in %d lists of docs/README.md, want 1", document, n)
		}
	}
	words := 0
	for _, document := range append(users, "docs/README.md") {
		words += len(strings.Fields(all[document]))
	}
	if words > wordsForUsers {
		t.Errorf("the pages for users have %d words, at most %d are allowed: move evidence out of them, or cut", words, wordsForUsers)
	}
	t.Logf("%d words for users", words)
}

// The row of a message in docs/troubleshooting.md, and what separates its fixed parts.
var (
	messageRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")
	blanks     = regexp.MustCompile(`\s+`)
)

// texts returns the strings of the code, tests apart, each on a line of its own.
func texts(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					all.WriteString(blanks.ReplaceAllString(text, " ") + "\n")
				}
			}
			return true
		})
	}
	return all.String()
}

// Each message of the page is one that the code prints, as far as its fixed words go.
func TestTroubleshootingQuotesMessages(t *testing.T) {
	rows := messageRow.FindAllStringSubmatch(documents(t)["docs/troubleshooting.md"], -1)
	if len(rows) < 50 {
		t.Fatalf("docs/troubleshooting.md has %d messages: is its table still as this test reads it?", len(rows))
	}
	printed := texts(t)
	for _, row := range rows {
		for part := range strings.SplitSeq(row[1], "…") {
			if part = strings.Trim(part, " :;,"); part != "" && !strings.Contains(printed, part) {
				t.Errorf("docs/troubleshooting.md quotes %q, and no text of the code has %q", row[1], part)
			}
		}
	}
}

// A row of numbers on the page for hosted emulators is one of the evaluation.
func TestHostedEmulatorsHasRowsOfTheEvaluation(t *testing.T) {
	all := documents(t)
	rows := 0
	for line := range strings.Lines(all["docs/teams/hosted-emulators.md"]) {
		if strings.Contains(line, " min |") {
			rows++
			if !strings.Contains(all["docs/evaluation/pull-requests.md"], "\n"+line) {
				t.Errorf("docs/evaluation/pull-requests.md has no row\n%s", line)
			}
		}
	}
	if rows == 0 {
		t.Error("docs/teams/hosted-emulators.md has no rows of docs/evaluation/pull-requests.md")
	}
}
