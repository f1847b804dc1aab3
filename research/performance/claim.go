// Package performance measures the claims of docs/performance.md.
//
// A claim is a row of a table in that document: a command that anyone can run, and its figures. The
// document is the only place with figures, and measurements are compared with it, so that none
// becomes outdated. The package does not know what the commands are about.
package performance

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Claim is one row of the document's table of claims.
type Claim struct {
	Name    string // short, unique, without spaces
	What    string // for people
	Command string // for bash, from the root of the repository
	Figures []Figure
	When    When
}

// When is what measuring a claim needs.
type When string

// The needs of claims.
const (
	Quick   When = "quick"   // seconds: part of the tests
	Nightly When = "nightly" // minutes, gigabytes of disk
	Corpus  When = "corpus"  // captures that are not part of the repository
)

var whens = []When{Quick, Nightly, Corpus}

// columns of a table of claims, as its head has them.
var columns = []string{"claim", "what", "command", "figures", "when"}

// Parse reads the claims of a document in Markdown: the rows of all tables with the head "| claim |
// what | command | figures | when |". It returns an error that names the line of an invalid row.
func Parse(r io.Reader) ([]Claim, error) {
	var claims []Claim
	seen := map[string]bool{}
	inside := false
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		cells := cellsOf(lines.Text())
		switch {
		case cells == nil:
			inside = false
		case isHead(cells):
			inside = true
		case inside && !strings.HasPrefix(cells[0], ":-") && !strings.HasPrefix(cells[0], "--"):
			c, err := claimOf(cells)
			if err == nil && seen[c.Name] {
				err = fmt.Errorf("claim %s is there twice", c.Name)
			}
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			seen[c.Name] = true
			claims = append(claims, c)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the claims: %w", err)
	}
	return claims, nil
}

func claimOf(cells []string) (Claim, error) {
	if len(cells) != len(columns) {
		return Claim{}, fmt.Errorf("%d cells, want %s", len(cells), strings.Join(columns, ", "))
	}
	c := Claim{Name: plain(cells[0]), What: cells[1], Command: plain(cells[2]), When: When(cells[4])}
	if c.Name == "" || c.Command == "" || strings.ContainsAny(c.Name, " \t") {
		return Claim{}, fmt.Errorf("claim %q needs a name without spaces and a command", c.Name)
	}
	if !slices.Contains(whens, c.When) {
		return Claim{}, fmt.Errorf("claim %s: when is %q, want one of %q", c.Name, c.When, whens)
	}
	for part := range strings.SplitSeq(cells[3], ", ") {
		f, err := ParseFigure(part)
		if err != nil {
			return Claim{}, fmt.Errorf("claim %s: %w", c.Name, err)
		}
		c.Figures = append(c.Figures, f)
	}
	return c, nil
}

// cellsOf returns the cells of a table's row; nil for any other line. A "\|" is a character of a
// cell.
func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") || len(line) < 2 {
		return nil
	}
	const bar = "\x00"
	cells := strings.Split(strings.ReplaceAll(line[1:len(line)-1], `\|`, bar), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], bar, "|"))
	}
	return cells
}

func isHead(cells []string) bool {
	return strings.Join(cells, "|") == strings.Join(columns, "|")
}

// plain returns a cell without code marks.
func plain(cell string) string { return strings.Trim(cell, "`") }
