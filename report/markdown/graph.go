package markdown

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/wording"
)

// graphRules limits the rules of a graph: more would be unreadable.
const graphRules = 20

// graph draws rules in Mermaid's language: context items, the share of runs of each rule, and its
// labels (paper, Figure 9).
func graph(f figure.Rules) string {
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart LR\n")
	ids := map[string]string{}
	node := func(kind, text string) string {
		id, known := ids[kind+text]
		if !known {
			id = fmt.Sprintf("%s%d", kind, len(ids))
			ids[kind+text] = id
			fmt.Fprintf(&b, "  %s[\"%s\"]\n", id, mermaid(text))
		}
		return id
	}
	for i, r := range f.List[:min(len(f.List), graphRules)] {
		then := node("t", prose.Clip(r.Then, 60))
		fmt.Fprintf(&b, "  r%d((\"%s\"))\n", i, mermaid(wording.Percent(r.Support)))
		for _, item := range r.If {
			fmt.Fprintf(&b, "  %s --> r%d\n", node("c", prose.Clip(item, 60)), i)
		}
		fmt.Fprintf(&b, "  r%d --> %s\n", i, then)
	}
	b.WriteString("```\n")
	return b.String()
}

// mermaid escapes plain text for a quoted label of a Mermaid graph: everything except letters,
// digits and a few marks becomes Mermaid's own character code.
func mermaid(s string) string {
	var b strings.Builder
	for _, r := range wording.Visible(s) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .,=_-", r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "#%d;", r)
	}
	return b.String()
}
