package saved

import "fmt"

// Bounds limit the structure of a document as JSON. Memory depends on its values, not on its bytes:
// three bytes, "{},", become a comparison of hundreds.
type Bounds struct {
	Elements int // of lists, except plain numbers in a list of samples
	Members  int // of objects
}

// ownBounds allow everything that a document of MaxJSON bytes from apkgate needs.
var ownBounds = Bounds{Elements: 2_000_000, Members: 12_000_000}

// maxDepth limits the nesting of lists and objects.
const maxDepth = 64

// samples is the one list that may be long: its elements are plain numbers.
const samples = "sample"

// Check checks JSON before it is decoded, without allocating. The JSON need not be valid.
func (b Bounds) Check(data []byte) error {
	type container struct{ list, light bool }
	var open [maxDepth + 1]container
	var depth, elements, members int
	var key, text string // the member of the next value, and the last string
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '"':
			end := stringEnd(data, i)
			text = clipped(data[i+1 : max(end, i+1)])
			i = end
			continue
		case '{', '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("its lists and objects are nested more than %d deep", maxDepth)
			}
			open[depth] = container{list: c == '[', light: c == '[' && key == samples}
			if c == '[' {
				elements++ // or none, for an empty one
			}
		case '}', ']':
			depth = max(depth-1, 0)
		case ':':
			key = text
			members++
			continue
		case ',':
			if open[depth].list && !open[depth].light {
				elements++
			}
		}
		if data[i] > ' ' {
			key = ""
		}
		switch {
		case elements > b.Elements:
			return fmt.Errorf("its lists have more than %d elements", b.Elements)
		case members > b.Members:
			return fmt.Errorf("its objects have more than %d members", b.Members)
		}
	}
	return nil
}

// clipped returns a string up to the longest relevant member name.
func clipped(text []byte) string {
	if len(text) > len(samples) {
		return ""
	}
	return string(text)
}

// stringEnd returns the index of the quote that ends the string that begins at i, or the last index
// where none does.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(data) - 1
}
