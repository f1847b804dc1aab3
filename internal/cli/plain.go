package cli

import "strconv"

// plain makes text from outside fit for one line of a terminal.
func plain(s string) string {
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}
