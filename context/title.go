package devctx

import "strings"

// Named are the properties by which people tell contexts apart, the maker first.
var Named = []string{"manufacturer", "model", "sdk", "network"}

// Title names a context in a few words, such as "Google Pixel 6 34 wifi".
func Title(context Properties) string {
	var parts []string
	for _, name := range Named {
		if v := context[name]; v != "" {
			parts = append(parts, v)
		}
	}
	if len(parts) == 0 {
		return "one context"
	}
	return strings.Join(parts, " ")
}
