package recorders

import "time"

// Configurations returns the configurations that are tried on a device one after the other for the
// requests, with the capabilities that each assumes; clones is whether a session can be cloned by
// name.
func Configurations(asks []Request, clones bool, limit time.Duration) (texts []string, of []Capabilities) {
	for _, known := range generations {
		known.clone = clones
		texts, of = append(texts, merge(asks, known, limit)), append(of, known)
	}
	return texts, of
}
