package recorders

import "time"

// Configurations are the texts that are tried on a device, one after the other, for what is
// asked, with what each takes for granted; clones says that a session can be cloned by name.
func Configurations(asks []Ask, clones bool, limit time.Duration) (texts []string, of []Known) {
	for _, known := range generations {
		known.clone = clones
		texts, of = append(texts, merge(asks, known, limit)), append(of, known)
	}
	return texts, of
}
