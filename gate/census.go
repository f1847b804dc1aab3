package gate

import (
	"reflect"
	"slices"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/run"
)

// grouping numbers contexts by the properties that count, from 0 on.
type grouping struct {
	use      []string
	distinct []devctx.Properties
	byKey    map[string]int
	// byMap knows contexts by the map that they are: the runs of a history share
	// theirs, and 10,000 runs have some hundred.
	byMap map[uintptr]int
}

func newGrouping(use []string) grouping {
	return grouping{use: use, byKey: map[string]int{}, byMap: map[uintptr]int{}}
}

// of is the number of a context, which has to stay as it is.
func (g *grouping) of(context devctx.Properties) int {
	same := reflect.ValueOf(context).Pointer()
	if n, known := g.byMap[same]; known {
		return n
	}
	counted := devctx.Only(context, g.use)
	key := contextKey(counted)
	n, known := g.byKey[key]
	if !known {
		n = len(g.distinct)
		g.byKey[key] = n
		g.distinct = append(g.distinct, counted)
	}
	g.byMap[same] = n
	return n
}

// find is the number of a context that was met before, or -1.
func (g *grouping) find(context devctx.Properties) int {
	if n, known := g.byKey[contextKey(devctx.Only(context, g.use))]; known {
		return n
	}
	return -1
}

func contextKey(c devctx.Properties) string {
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

// kin numbers the distinct contexts anew without one property, for each property
// whose absence brings contexts together: a phone's on Wi-Fi and on 3G.
func (g *grouping) kin() [][]int {
	coded, properties := g.coded()
	var out [][]int
	var key []byte
	for left := range properties {
		byKey := map[string]int{}
		kin := make([]int, len(coded))
		for i, pairs := range coded {
			key = key[:0]
			for _, p := range pairs {
				if p.name != left {
					key = append(key, byte(p.pair), byte(p.pair>>8), byte(p.pair>>16), byte(p.pair>>24))
				}
			}
			n, known := byKey[string(key)]
			if !known {
				n = len(byKey)
				byKey[string(key)] = n
			}
			kin[i] = n
		}
		if len(byKey) < len(coded) {
			out = append(out, kin)
		}
	}
	return out
}

// coded property: its name and what it is together with its value, as numbers.
type coded struct{ name, pair int }

// coded are the distinct contexts in numbers, each in the order of its names, and
// how many names there are.
func (g *grouping) coded() (contexts [][]coded, names int) {
	byName, byPair := map[string]int{}, map[[2]string]int{}
	for _, c := range g.distinct {
		for name := range c {
			byName[name] = 0
		}
	}
	for i, name := range sortedKeys(byName) {
		byName[name] = i
	}
	for _, c := range g.distinct {
		pairs := make([]coded, 0, len(c))
		for name, value := range c {
			id, known := byPair[[2]string{name, value}]
			if !known {
				id = len(byPair)
				byPair[[2]string{name, value}] = id
			}
			pairs = append(pairs, coded{byName[name], id})
		}
		slices.SortFunc(pairs, func(a, b coded) int { return a.name - b.name })
		contexts = append(contexts, pairs)
	}
	return contexts, len(byName)
}

// census is the history that the runs of a check were compared with: which
// accepted runs it has, each once, and their contexts.
type census struct {
	grouping
	context map[string]int32 // by id
}

func newCensus(use []string) census {
	return census{newGrouping(use), map[string]int32{}}
}

func (c *census) count(refs []run.Summary) {
	clear(c.byMap) // maps may have taken the place of those of other references
	for _, r := range refs {
		if _, known := c.context[r.ID]; !known {
			c.context[r.ID] = int32(c.of(r.Context))
		}
	}
}
