package apkgate_test

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	linkOfDocument = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading        = regexp.MustCompile(`(?m)^#{1,6} +(.+?)\s*$`)
	fenced         = regexp.MustCompile("(?s)\n```.*?\n```")
	notInAnchors   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	inlineCode     = regexp.MustCompile("`[^`\n]*`")
	linkText       = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// anchors returns GitHub's anchors of the headings of a document: lower case, without punctuation,
// spaces as hyphens, and a number after a repeated one.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		words := notInAnchors.ReplaceAllString(strings.ToLower(linkText.ReplaceAllString(m[1], "$1")), "")
		anchor := strings.ReplaceAll(words, " ", "-")
		for n, first := 1, anchor; out[anchor]; n++ {
			anchor = fmt.Sprintf("%s-%d", first, n)
		}
		out[anchor] = true
	}
	return out
}

func TestAnchorsAreThoseOfGitHub(t *testing.T) {
	got := anchors("# The paper's `dune`, A–D\n\n```\n# no heading\n```\n## [ANRs](x.md) and SNRs\n## Tests\n### Tests\n")
	for _, want := range []string{"the-papers-dune-ad", "anrs-and-snrs", "tests", "tests-1"} {
		if !got[want] {
			t.Errorf("no anchor %s in %v", want, got)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d anchors in %v, want 4", len(got), got)
	}
}

// The target of a link of a document to a file of the repository, or to a heading, exists.
func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	all := documents(t)
	for document, text := range all {
		for _, m := range linkOfDocument.FindAllStringSubmatch(inlineCode.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], ":") {
				continue // of another site
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := document
			if file != "" {
				target = path.Join(path.Dir(document), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", document, m[1])
				continue
			}
			if to, ok := all[target]; ok && anchor != "" && !anchors(to)[anchor] {
				t.Errorf("%s links to %s, and %s has no such heading", document, m[1], target)
			}
		}
	}
}

var (
	evidenceLink = regexp.MustCompile(`\((evaluation/[a-z-]+\.md)`)
	numberOfText = regexp.MustCompile(`\d(?:[\d.,]*\d)?`)
	indentedCode = regexp.MustCompile(`(?m)^    .*$`)
)

// The page of the evaluation repeats its evidence: each row of a table of a section is a row of a
// document that the section links to, and each number is in one of these documents. The tests named
// by the evidence compare its rows with measurements.
func TestTheEvaluationsPageHasItsEvidence(t *testing.T) {
	all := documents(t)
	for i, section := range strings.Split(all["docs/evaluation.md"], "\n## ") {
		title, text, _ := strings.Cut(section, "\n")
		if i == 0 {
			continue // the summary links to the sections
		}
		evidence := ""
		for _, m := range evidenceLink.FindAllStringSubmatch(text, -1) {
			evidence += all["docs/"+m[1]]
		}
		if evidence == "" {
			t.Errorf("docs/evaluation.md, %s: no link to its evidence", title)
		}
		numbers := map[string]bool{}
		for _, n := range numberOfText.FindAllString(evidence, -1) {
			numbers[n] = true
		}
		text = linkText.ReplaceAllString(indentedCode.ReplaceAllString(text, ""), "$1")
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "|") {
				if !strings.Contains(evidence, "\n"+line) {
					t.Errorf("docs/evaluation.md, %s: its evidence has no row\n%s", title, line)
				}
				continue
			}
			for _, n := range numberOfText.FindAllString(line, -1) {
				if !numbers[n] {
					t.Errorf("docs/evaluation.md, %s: its evidence has no number %s, as in\n%s", title, n, line)
				}
			}
		}
	}
}

// goCommand matches a go command of a document, to the end of its line.
var goCommand = regexp.MustCompile(`\bgo (?:test|run|build|vet) [^|#\n]*`)

// The packages of the go commands in a document exist.
func TestCommandsOfDocumentsNamePackagesThatAreThere(t *testing.T) {
	for document, text := range documents(t) {
		for _, command := range goCommand.FindAllString(text, -1) {
			for word := range strings.FieldsSeq(command) {
				name, isPath := strings.CutPrefix(strings.TrimRight(word, "`'\".,;:)"), "./")
				if !isPath || strings.Contains(word, "...") {
					continue
				}
				if info, err := os.Stat(name); err != nil || !info.IsDir() {
					t.Errorf("%s: %s names the package %s, which is not there", document, command, name)
				}
			}
		}
	}
}

// Every document can be reached by links from the README.
func TestEveryDocumentIsReachedFromTheREADME(t *testing.T) {
	all := documents(t)
	reached, next := map[string]bool{"README.md": true}, []string{"README.md"}
	for len(next) > 0 {
		document := next[0]
		next = next[1:]
		for _, m := range linkOfDocument.FindAllStringSubmatch(all[document], -1) {
			file, _, _ := strings.Cut(m[1], "#")
			target := path.Join(path.Dir(document), file)
			if _, ok := all[target]; ok && !reached[target] {
				reached[target] = true
				next = append(next, target)
			}
		}
	}
	for document := range all {
		if !reached[document] {
			t.Errorf("no link from the README leads to %s", document)
		}
	}
}

// documentOfCode matches a document that code or a script names, with or without a heading.
var documentOfCode = regexp.MustCompile(`\bdocs/(?:(?:collection|design|evaluation|format|teams)/)?[a-z0-9-]+\.md(?:#([a-z0-9-]+))?`)

// A document that a Go file or a script names exists, and has the heading that it names.
func TestCodeNamesDocumentsThatAreThere(t *testing.T) {
	all := documents(t)
	check := func(file, text string) {
		for _, m := range documentOfCode.FindAllStringSubmatch(text, -1) {
			document, _, _ := strings.Cut(m[0], "#")
			if _, ok := all[document]; !ok {
				t.Errorf("%s names %s, which is not there", file, document)
			} else if m[1] != "" && !anchors(all[document])[m[1]] {
				t.Errorf("%s names %s, and the document has no such heading", file, m[0])
			}
		}
	}
	for _, s := range sources(t) {
		text, err := os.ReadFile(s.path)
		if err != nil {
			t.Fatal(err)
		}
		check(s.path, string(text))
	}
	scripts, err := os.ReadDir("scripts")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		if s.IsDir() {
			continue
		}
		text, err := os.ReadFile(path.Join("scripts", s.Name()))
		if err != nil {
			t.Fatal(err)
		}
		check("scripts/"+s.Name(), string(text))
	}
}
