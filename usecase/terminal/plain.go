package terminal

import (
	"strings"

	"github.com/apkgate/apkgate/report/text"
	"github.com/apkgate/apkgate/report/wording"
)

// Plain makes untrusted text safe for one line of a terminal or of a build's log: invisible
// characters, and those that control a terminal or the runner, become visible marks.
func Plain(s string) string { return text.NoCommands(wording.Visible(s)) }

// PlainLines is Plain for text of several lines, whose indentation stays.
func PlainLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " ")
		lines[i] = line[:len(line)-len(rest)] + Plain(rest)
	}
	return strings.Join(lines, "\n")
}
