package run

import "strings"

// LeastOfCommit is how many characters of a commit's id are enough to say which one it is.
const LeastOfCommit = 7

// SameCommit reports whether two ids name one commit. Either may be cut short, to
// LeastOfCommit characters or more, as git prints them and people write them.
func SameCommit(a, b string) bool {
	if min(len(a), len(b)) < LeastOfCommit {
		return a == b
	}
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}
