package markdown

import (
	"fmt"
	"strings"
)

// Limits in bytes on what Markdown takes.
const (
	// MaxComment is what GitHub takes as one comment (65,536 characters, each at
	// least a byte).
	MaxComment = 65_536
	// minComment has room for the answer alone.
	minComment = 512
)

// limited is the limit of a comment: 0 is MaxComment.
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

// block is a part of a comment that stands or falls as one: its lines can be left
// out from the end, its frame can't.
type block struct {
	head  string
	lines []string
	total int // lines there would be; those beyond len(lines) are counted as left out
	tail  string
}

// cut fills what the limit leaves beside head and foot block by block, the most
// important first.
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

// fits reports whether there is room for anything beside head and foot.
func fits(head, foot string, limit int) bool { return len(head) <= limit-len(foot)-len(leftOut) }

// fit is the block in at most room bytes, and whether it is all there.
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
