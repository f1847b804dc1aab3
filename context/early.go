package devctx

import (
	"maps"
	"reflect"
)

// Supposed completes contexts of virtual devices that were recorded before apkgate read the
// renderer, the memory and the like (Chosen). Each such context that otherwise equals the present
// one is assumed to have had the values that were recorded first afterwards, since a device rarely
// changes at the same time as apkgate. Otherwise a new version of apkgate would turn its history
// into another device's.
//
// The contexts are given oldest first, and are returned in that order: those that are complete as
// they are, the others as copies, one for each map.
func Supposed(now Properties, fromOldest []Properties) []Properties {
	if now[Virtual] == "" {
		return fromOldest
	}
	own, known := Key(early(now)), map[uintptr]bool{}
	isOwn := func(c Properties) bool {
		at := reflect.ValueOf(c).Pointer()
		is, asked := known[at]
		if !asked {
			is = Key(early(c)) == own
			known[at] = is
		}
		return is
	}
	first := now
	for _, c := range fromOldest {
		if c[Virtual] != "" && isOwn(c) {
			first = c
			break
		}
	}
	out, copies := make([]Properties, len(fromOldest)), map[uintptr]Properties{}
	for i, c := range fromOldest {
		out[i] = c
		if c[Virtual] != "" || !isOwn(c) {
			continue
		}
		at := reflect.ValueOf(c).Pointer()
		if copies[at] == nil {
			copies[at] = completed(c, first)
		}
		out[i] = copies[at]
	}
	return out
}

// late are the properties that count on virtual devices and were not recorded from the beginning.
var late = append([]string{Virtual, Animations}, Chosen...)

// early returns the properties that count, without those.
func early(c Properties) Properties {
	counted := without(c)
	return drop(counted, counted, late)
}

// completed returns a context with another's values of these properties.
func completed(c, by Properties) Properties {
	out := maps.Clone(c)
	for _, name := range late {
		if value, told := by[name]; told {
			out[name] = value
		}
	}
	return out
}
