// Package reporttest has names for tests of reports that try to break out of each language of a
// report. It is for tests only; the tests that use the names check the results.
package reporttest

import (
	"regexp"
	"strings"
)

// Hostile are names that try to break out of each language of a report.
var Hostile = []string{
	"</title></svg><script>alert(1)</script>",
	`"><img src=x onerror=alert(1)>`,
	"</style><style>*{display:none}",
	"a | b | c",
	"```\n# owned\n```mermaid",
	"@octocat and @github/security #1 GH-7 o/n#2 o/n@abcdef0",
	"!7 o/n!7 &7 ~bug %1.0 %\"next\" GL-7 $7 ^alert#7",
	"\n/merge\n/close\n>>>\n",
	"[x](javascript:alert(1)) ![i](https://evil.example/p.png) https://evil.example www.evil.example",
	"\x1b[31mred\x1b[0m\x1b]0;title\x07\u202egnp.exe\u0085",
	`"]; click A "javascript:alert(1)"; subgraph end`,
	"$x$ `code` *b* _i_ ~s~ <!-- c --> &lt; &#64;octocat",
	"</details></td></tr></table>",
	strings.Repeat("长", 5000),
	"ordinary\r\n::error::injected",
	"{{.}} {{template \"x\"}}",
}

// Mention matches what GitHub interprets as a person or a team, Reference what one of GitHub, GitLab
// and Gitea takes for an issue, a merge request, an epic, a label or a milestone.
var (
	Mention   = regexp.MustCompile(`@[A-Za-z0-9]`)
	Reference = regexp.MustCompile(`(^|\W)([#!&]|(?i:g[hl])-)[0-9]|[~%]["\w]`)
	Address   = regexp.MustCompile(`(?i)(://|www\.)`)
)
