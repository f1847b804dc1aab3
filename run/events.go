package run

import (
	"fmt"
	"strings"
)

// EventNames returns the names of an iteration's buckets as used in cells. Repeated occurrences of
// an event are numbered: "tap", "tap#2". An event whose own name ends like that is always numbered:
// an event called "tap#2" is "tap#2#1".
func EventNames(it Iteration) []string {
	out := make([]string, len(it.Events))
	seen := make(map[string]int, len(it.Events))
	for i, e := range it.Events {
		seen[e.Name]++
		out[i] = e.Name
		if n := seen[e.Name]; n > 1 || endsInNumber(e.Name) {
			out[i] = fmt.Sprintf("%s#%d", e.Name, n)
		}
	}
	return out
}

// endsInNumber reports whether the name ends in # and digits.
func endsInNumber(name string) bool {
	digits := name[strings.LastIndexByte(name, '#')+1:]
	return len(digits) > 0 && len(digits) < len(name) && strings.Trim(digits, "0123456789") == ""
}

// EventOrder returns the run's events, as named by EventNames, in the order of their first
// occurrence.
func EventOrder(r Run) []string {
	var out []string
	known := map[string]bool{}
	for _, it := range r.Iterations {
		for _, name := range EventNames(it) {
			if !known[name] {
				known[name] = true
				out = append(out, name)
			}
		}
	}
	return out
}
