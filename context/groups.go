package devctx

import (
	"reflect"
	"slices"
)

// Groups numbers contexts by the properties that count, from 0.
type Groups struct {
	use      []string
	distinct []Properties
	byKey    map[string]int
	// byMap finds contexts by their map: the runs of a history share them, and 10,000 runs have
	// some hundred.
	byMap map[uintptr]int
}

// NewGroups distinguishes contexts by the properties in use; nil means all but those set Aside.
func NewGroups(use []string) *Groups {
	return &Groups{use: use, byKey: map[string]int{}, byMap: map[uintptr]int{}}
}

// Of returns the number of a context, which must not change afterwards.
func (g *Groups) Of(context Properties) int {
	same := reflect.ValueOf(context).Pointer()
	if n, known := g.byMap[same]; known {
		return n
	}
	counted := Only(context, g.use)
	key := Key(counted)
	n, known := g.byKey[key]
	if !known {
		n = len(g.distinct)
		g.byKey[key] = n
		g.distinct = append(g.distinct, counted)
	}
	g.byMap[same] = n
	return n
}

// Find returns the number of a known context, or -1.
func (g *Groups) Find(context Properties) int {
	if n, known := g.byKey[Key(Only(context, g.use))]; known {
		return n
	}
	return -1
}

// Distinct returns the known contexts in the order of their numbers, each with only the properties
// that count.
func (g *Groups) Distinct() []Properties { return g.distinct }

// Forget allows known maps to change, or their memory to be reused.
func (g *Groups) Forget() { clear(g.byMap) }

// Key returns a text that is equal only for equal sets of properties.
func Key(c Properties) string {
	parts := make([]string, 0, len(c))
	size := 0
	for k, v := range c {
		parts = append(parts, k+"\x00"+v)
		size += len(k) + len(v) + 2
	}
	slices.Sort(parts)
	key := make([]byte, 0, size)
	for _, p := range parts {
		key = append(append(key, p...), '\x01')
	}
	return string(key)
}
