package config

import (
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// DidYouMean returns a hint with the allowed word nearest to the given one; "" where none is near.
// Hyphens, underscores and case make no difference.
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

// fold removes differences in spelling: warmUp, warm_up, warm-up.
func fold(s string) []rune {
	s = strings.ToLower(prose.Short(s))
	return []rune(strings.NewReplacer("-", "", "_", "", " ", "").Replace(s))
}

// distance returns the number of characters to insert, remove, replace or swap with their neighbour
// to turn a into b (optimal string alignment).
func distance(a, b []rune) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range b {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
