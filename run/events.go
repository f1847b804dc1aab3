package run

import (
	"fmt"
	"strings"
)

// EventNames are the names of an iteration's buckets as cells have them. An event
// that occurs more than once is told apart by its occurrence: "tap", "tap#2". One
// whose own name ends like that bears its occurrence always: an event called
// "tap#2" is "tap#2#1".
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

// EventOrder returns the run's events as EventNames names them, in the order in
// which they first happened.
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
