// Package devctx compares the contexts in which runs were made: how similar two contexts are, and
// how much weight each accepted run therefore has.
//
// The folder is context/; the package is named devctx so that ctx stays the standard library's
// context.Context. It follows the paper's sections 5.3.1 and 5.3.2 and nothing else: the gate
// decides what to do with the weights.
package devctx

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"slices"
)

// Properties are a context's named values: "sdk": "5.0.0".
type Properties = map[string]string

// Shared counts the properties that both contexts have with the same value:
// the number of ones in the paper's similarity vector. Only the properties
// named in use count; nil means all but those set Aside.
func Shared(a, b Properties, use []string) int {
	n := 0
	if use == nil {
		for k, v := range without(a) {
			if w, ok := b[k]; ok && v == w {
				n++
			}
		}
		return n
	}
	for _, k := range use {
		v, okA := a[k]
		w, okB := b[k]
		if okA && okB && v == w {
			n++
		}
	}
	return n
}

// Same reports whether two contexts agree in every property that counts, including which of them
// they have.
func Same(a, b Properties, use []string) bool {
	if use == nil {
		return maps.Equal(without(a), without(b))
	}
	for _, k := range use {
		v, okA := a[k]
		w, okB := b[k]
		if okA != okB || v != w {
			return false
		}
	}
	return true
}

// Only returns the properties that count. nil means all but those set Aside.
func Only(a Properties, use []string) Properties {
	if use == nil {
		return without(a)
	}
	out := Properties{}
	for _, k := range use {
		if v, ok := a[k]; ok {
			out[k] = v
		}
	}
	return out
}

// Hard are the properties that say how a run's numbers were measured. Runs that differ in one of
// them are never compared, however similar they are otherwise: another tool's frame time is another
// quantity under the same name, and a simulated phone is no phone.
var Hard = []string{MeasuredBy, Simulated}

// The names of the hard properties.
const (
	MeasuredBy = "measured_by" // the tool, where it was not apkgate's own collector
	Simulated  = "simulated"   // "true" for a simulated device
)

// Telling returns the properties that count and the hard ones: runs that agree in all of these can
// be paired, and measured alternately. The app's version is never among them, since such runs differ
// in it.
func Telling(a Properties, use []string) Properties {
	out := Properties{}
	maps.Copy(out, Only(a, use))
	maps.Copy(out, Only(a, Hard))
	delete(out, Version)
	return out
}

// Comparable reports whether two contexts agree in every hard property.
func Comparable(a, b Properties) bool { return Same(a, b, Hard) }

// Degree returns the similarity degree of two contexts, √N of the N properties that they share
// (paper, section 5.3.1).
func Degree(shared int) float64 { return math.Sqrt(float64(shared)) }

// Ranked is the similarity of one accepted context to a new one.
type Ranked struct {
	Index      int     // index in the slice that was ranked
	Similarity float64 // Degree of what it shares with the new one
	Weight     float64 // Similarity over the sum of all; they sum to 1
	Cluster    int     // 1 for the most similar, 2 for the next, …
}

// Rank sorts accepted contexts by their similarity to a new one, most similar first and otherwise
// in their order, and weights and clusters them (paper, section 5.3.2). Where none shares anything,
// all have the same weight.
func Rank(now Properties, history []Properties, use []string) []Ranked {
	now = Only(now, use)
	ranked := make([]Ranked, len(history))
	sum := 0.0
	similar := map[uintptr]float64{} // by the map, which most runs of one context share
	for i, past := range history {
		same := reflect.ValueOf(past).Pointer()
		similarity, known := similar[same]
		if !known {
			similarity = Degree(Shared(now, past, use))
			similar[same] = similarity
		}
		ranked[i] = Ranked{Index: i, Similarity: similarity}
		sum += similarity
	}
	slices.SortStableFunc(ranked, func(a, b Ranked) int { return cmp.Compare(b.Similarity, a.Similarity) })
	cluster := 0
	for i := range ranked {
		if i == 0 || ranked[i].Similarity != ranked[i-1].Similarity {
			cluster++
		}
		ranked[i].Cluster = cluster
		ranked[i].Weight = 1 / float64(len(ranked))
		if sum > 0 {
			ranked[i].Weight = ranked[i].Similarity / sum
		}
	}
	return ranked
}
