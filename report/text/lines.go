package text

import (
	"regexp"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/apkgate/apkgate/report/wording"
)

func (t *text) heading(s string) {
	t.line("")
	t.line(t.paint(bold, s))
}

func (t *text) item(s string) {
	indent := "  "
	if rest, deeper := strings.CutPrefix(s, "  "); deeper {
		s, indent = rest, indent+"  "
	}
	for i, line := range wrap(s, t.o.Width-len(indent)-2) {
		if i == 1 {
			indent += "  "
		}
		t.line(indent + line)
	}
}

func (t *text) line(s string) {
	t.b.WriteString(strings.TrimRight(NoCommands(plainSpaces(s)), " "))
	t.b.WriteByte('\n')
}

// NoCommands keeps a GitHub runner from interpreting a line of its log as a workflow command: "::"
// at the start of a line, "##[" anywhere.
func NoCommands(line string) string {
	line = strings.ReplaceAll(line, "##[", "# #[")
	if rest := strings.TrimLeft(line, " "); strings.HasPrefix(rest, "::") {
		line = strings.Replace(line, "::", ": :", 1)
	}
	return line
}

// plainSpaces replaces non-breaking spaces once lines are broken, so that text copied from a
// terminal can be searched.
func plainSpaces(s string) string { return strings.ReplaceAll(s, wording.NBSP, " ") }

// A number and its unit stay on one line, and so does "p < 0.05", also in texts from elsewhere: a
// verdict's reason has plain spaces.
var (
	numberAndUnit = regexp.MustCompile(`(\d) (%|(?:mJ|kJ|J|mW|W|ms|s|min|h|kB|MB|GB|Hz)\b)`)
	pValue        = regexp.MustCompile(`\bp ([<=≤]) (\d)`)
)

// wrap breaks a sentence into lines of at most width columns, between words; a word that is longer
// than a line gets a line of its own.
func wrap(s string, width int) []string {
	var lines []string
	line, used := "", 0
	s = numberAndUnit.ReplaceAllString(s, "$1"+wording.NBSP+"$2")
	s = pValue.ReplaceAllString(s, "p"+wording.NBSP+"$1"+wording.NBSP+"$2")
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }) {
		n := twwidth.Width(word)
		if line != "" && used+1+n > width {
			lines = append(lines, line)
			line, used = "", 0
		}
		if line != "" {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	return append(lines, line)
}
