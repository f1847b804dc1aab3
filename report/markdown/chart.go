package markdown

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// chart draws two builds round by round in Mermaid's language, which GitHub draws: the base as bars,
// the head as a line.
func chart(c *document.Chart) []block {
	n := min(len(c.Base), len(c.Head))
	all := slices.Concat(c.Base[:n], c.Head[:n])
	if n < 2 || slices.ContainsFunc(all, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return nil
	}
	var b strings.Builder
	b.WriteString("\n```mermaid\n%%{init: {\"xyChart\": {\"height\": 260, \"titleFontSize\": 14}}}%%\n")
	fmt.Fprintf(&b, "xychart-beta\n  title \"%s\"\n  x-axis \"round\" 1 --> %d\n", quoted(c.Title), n)
	fmt.Fprintf(&b, "  y-axis \"%s\" %s --> %s\n", quoted(c.Unit), number(min(0, slices.Min(all))), number(1.05*max(0, slices.Max(all))))
	fmt.Fprintf(&b, "  bar [%s]\n  line [%s]\n```\n\nBars: the base build. Line: this build.\n", numbers(c.Base[:n]), numbers(c.Head[:n]))
	return []block{{head: b.String()}}
}

func numbers(values []float64) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = number(v)
	}
	return strings.Join(out, ", ")
}

// number returns a number with four digits and no exponent, which the language does not have.
func number(v float64) string {
	digits := 3
	if v != 0 {
		digits = max(0, 3-int(math.Floor(math.Log10(math.Abs(v)))))
	}
	return strconv.FormatFloat(v, 'f', min(digits, 12), 64)
}

// quoted returns plain text for a quoted string of a chart, which has no escapes: what is no letter,
// digit or plain mark is left out.
func quoted(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" .,:()/_-", r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, prose.Clip(wording.Visible(s), 100))
}
