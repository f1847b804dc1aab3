package config

import "strings"

// DidYouMean is a hint that names the allowed word nearest to the given one; ""
// where none is near. Hyphens, underscores and case make no difference.
func DidYouMean(word string, allowed []string) string {
	best, least := "", 0
	for _, a := range allowed {
		far := distance(fold(word), fold(a))
		if far <= max(1, len(a)/3) && (best == "" || far < least) {
			best, least = a, far
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "?"
}

// fold takes away what is merely another spelling: warmUp, warm_up, warm-up.
func fold(s string) []rune {
	s = strings.ToLower(clip(s))
	return []rune(strings.NewReplacer("-", "", "_", "", " ", "").Replace(s))
}

// distance counts the characters to insert, remove or replace to make b of a
// (Levenshtein).
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ca := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, cb := range b {
			change := diagonal
			if ca != cb {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
