package run

import "strings"

// LeastOfCommit is how many characters of a commit's id identify it.
const LeastOfCommit = 7

// SameCommit reports whether two ids identify the same commit. Either may be shortened, to
// LeastOfCommit characters or more, as git prints them and people write them.
func SameCommit(a, b string) bool {
	if min(len(a), len(b)) < LeastOfCommit {
		return a == b
	}
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}
