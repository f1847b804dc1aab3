// Package contexts tells how much it matters that contexts are unlike: what runs of
// others say of the level of one, and which properties make a difference at all.
//
// It takes a stand: only this history can tell. Two contexts that differ in the
// network alone are worth as much to each other as the phones that were measured on
// both networks have shown, and nothing where too few were. What is uncertain counts
// as a difference. Which runs are compared at all is for the packages beside it.
package contexts

import (
	"maps"
	"math/bits"
	"slices"

	devctx "github.com/apkgate/apkgate/context"
)

// Contexts are the distinct contexts of a history. They may be asked by several at
// the same time.
type Contexts struct {
	names    []string // of the properties, sorted
	coded    [][]int  // by context, then by property: the value as a number, 0 where it has none
	distinct []devctx.Properties
}

type property struct{ name, value string }

// unlike are the properties in which two contexts differ, one bit each in the order of
// their names. The last bit stands for all that come after.
type unlike uint64

const lastBit = 63

// Of takes the distinct contexts of a history, each with the properties that count
// alone, as devctx.Groups numbers them.
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

// between are the properties in which two contexts differ, or which one of them lacks.
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

// level is what a context has of some properties, as a key.
func level(code []int, u unlike) string {
	key := make([]byte, 0, 4*u.count())
	for i, v := range code {
		if u&(1<<min(i, lastBit)) != 0 {
			key = append(key, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
	}
	return string(key)
}
