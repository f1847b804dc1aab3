package markdown

import (
	"fmt"
	"strings"
)

// Limits in bytes of Markdown.
const (
	// MaxComment is the largest comment on GitHub (65,536 characters, each at least a byte).
	MaxComment = 65_536
	// minComment has room for the answer only.
	minComment = 512
)

// limited returns the limit of a comment: 0 is MaxComment.
func limited(limit int) (int, error) {
	switch {
	case limit == 0:
		return MaxComment, nil
	case limit < minComment:
		return 0, fmt.Errorf("the limit is %d bytes, want %d or more (0 is %d)", limit, minComment, MaxComment)
	}
	return limit, nil
}

const leftOut = "\n*Parts of this report are left out to keep it within the size of a comment. The HTML and the JSON report have everything.*\n"

// block is a part of a comment: lines can be left out from its end, but its frame is kept or left
// out as a whole.
type block struct {
	head  string
	lines []string
	total int // total number of lines; those beyond len(lines) are counted as left out
	tail  string
}

// cut fills the space between head and foot block by block, most important first.
func cut(head string, blocks []block, foot string, limit int) string {
	var b strings.Builder
	b.WriteString(head)
	room := limit - len(foot) - len(leftOut)
	left := false
	for _, bl := range blocks {
		text, whole := bl.fit(room - b.Len())
		b.WriteString(text)
		left = left || !whole
	}
	if left {
		b.WriteString(leftOut)
	}
	b.WriteString(foot)
	return b.String()
}

// fits reports whether there is room for anything besides head and foot.
func fits(head, foot string, limit int) bool { return len(head) <= limit-len(foot)-len(leftOut) }

// fit returns the block in at most room bytes, and whether it is complete.
func (bl block) fit(room int) (text string, whole bool) {
	const note = 40 // bytes for the line that counts what is left out
	size := len(bl.head) + len(bl.tail) + note
	n := 0
	for n < len(bl.lines) && size+len(bl.lines[n]) <= room {
		size += len(bl.lines[n])
		n++
	}
	if size > room || (n == 0 && len(bl.lines) > 0) {
		return "", false
	}
	text = bl.head + strings.Join(bl.lines[:n], "")
	if rest := max(bl.total, len(bl.lines)) - n; rest > 0 {
		text += fmt.Sprintf("\n*and %d more*\n", rest)
	}
	return text + bl.tail, n == len(bl.lines)
}
