// Package contexts estimates how much differences between contexts matter: what runs of other
// contexts show about the level of one, and which properties make a difference at all.
//
// Only this history can show it. Two contexts that differ in the network only are worth as much to
// each other as the phones that were measured on both networks have shown, and nothing where too
// few were. Uncertainty counts as a difference. Which runs are compared at all is decided by the
// neighbouring packages.
package contexts

import (
	"maps"
	"math/bits"
	"slices"

	devctx "github.com/apkgate/apkgate/context"
)

// Contexts are the distinct contexts of a history. It is safe for concurrent use.
type Contexts struct {
	names    []string // of the properties, sorted
	coded    [][]int  // by context, then by property: the value as a number, 0 where it has none
	distinct []devctx.Properties
}

type property struct{ name, value string }

// unlike is the set of properties in which two contexts differ, one bit each in the order of their
// names. The last bit stands for all further ones.
type unlike uint64

const lastBit = 63

// Of returns the distinct contexts of a history, each with only the properties that count, as
// numbered by devctx.Groups.
func Of(distinct []devctx.Properties) *Contexts {
	names, ids := map[string]bool{}, map[property]int{}
	for _, d := range distinct {
		for name, value := range d {
			names[name] = true
			if p := (property{name, value}); ids[p] == 0 {
				ids[p] = len(ids) + 1
			}
		}
	}
	c := &Contexts{names: slices.Sorted(maps.Keys(names)), distinct: distinct}
	for _, d := range distinct {
		code := make([]int, len(c.names))
		for i, name := range c.names {
			if value, has := d[name]; has {
				code[i] = ids[property{name, value}]
			}
		}
		c.coded = append(c.coded, code)
	}
	return c
}

// between returns the properties in which two contexts differ, or which one of them lacks.
func between(a, b []int) unlike {
	var u unlike
	for i := range a {
		if a[i] != b[i] {
			u |= 1 << min(i, lastBit)
		}
	}
	return u
}

func (u unlike) count() int { return bits.OnesCount64(uint64(u)) }

// namesOf names the properties.
func (c *Contexts) namesOf(u unlike) []string {
	out := []string{}
	for i, name := range c.names {
		if u&(1<<min(i, lastBit)) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// level returns a context's values of some properties, as a key.
func level(code []int, u unlike) string {
	key := make([]byte, 0, 4*u.count())
	for i, v := range code {
		if u&(1<<min(i, lastBit)) != 0 {
			key = append(key, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
	}
	return string(key)
}
