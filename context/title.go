package devctx

import (
	"cmp"
	"strings"
)

// The properties by which people distinguish contexts, in their usual order.
var (
	Device = []string{"manufacturer", "model", "sdk"}
	Named  = append(Device[:len(Device):len(Device)], "network")
)

// Name returns a context's values of these properties, such as "Google Pixel 6 34 wifi".
func Name(context Properties, of []string) string {
	var parts []string
	for _, name := range of {
		if v := context[name]; v != "" {
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, " ")
}

// Title names a context in a few words.
func Title(context Properties) string { return cmp.Or(Name(context, Named), "one context") }
