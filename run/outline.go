package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// maxSectionValues limits the values of one section: more than a section within its own limits has.
const maxSectionValues = 750_000

// bound is how much a member of a record may contain.
type bound struct {
	member  string
	entries int // of the list; 0: not limited here
	values  int // of all that is in it; 0: not limited here
}

// bounds limit members whose short text would take much memory.
var bounds = []bound{
	{"iterations", MaxIterations, 0},
	{"declared", MaxMetrics, 0},
	{"energy", 0, maxSectionValues},
	{"frames", 0, maxSectionValues},
	{"anrs", MaxANRs, maxSectionValues},
	{"tasks", 0, maxSectionValues},
	{"method_traces", 0, maxSectionValues},
	{"evidence", MaxEvidence, maxSectionValues},
	{"judged", 0, maxJudgedValues},
}

// checkOutline checks a record's text before encoding/json recurses into it and allocates values:
// its depth, the size of its members, and whether an object has a name twice, of which
// encoding/json would use the last. It leaves invalid JSON to encoding/json.
func checkOutline(data []byte, depthLimit int) error {
	depth, inString, escaped := 0, false, false
	text, member := 0, bound{} // where the last string begins, and the member of the position
	commas, values := 0, 0     // in the member: between its own entries, and all
	names := newNames(depthLimit)
	for i, c := range data {
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			if inString = !inString; inString {
				text = i
			}
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > depthLimit {
				return fmt.Errorf("byte %d: nested deeper than %d", i, depthLimit)
			}
			values++
			names.begin(depth)
		case c == '}' || c == ']':
			depth--
		case c == ':' && depth > 0:
			quoted := bytes.TrimRight(data[text:i], " \t\r\n")
			if names.has(depth, quoted) {
				return fmt.Errorf("byte %d: %s is there twice, want each name once", text, prose.Short(string(quoted)))
			}
			if depth == 1 {
				member, commas, values = boundOf(quoted), 0, 0
			}
		case c == ',':
			if values++; depth == 2 {
				commas++
			}
			if err := member.check(commas+1, values); err != nil {
				return err
			}
		}
	}
	return nil
}

// names are the names in the open objects, by depth, as hashes.
type names struct {
	seed maphash.Seed
	seen []map[uint64]bool
}

func newNames(depthLimit int) names {
	return names{maphash.MakeSeed(), make([]map[uint64]bool, depthLimit+1)}
}

// mostCleared is the largest number of names of an object whose set is reused: clearing a map takes
// time by its former size, before each of the following objects.
const mostCleared = 256

// begin begins an object.
func (n names) begin(depth int) {
	switch {
	case depth <= 0: // not JSON
	case len(n.seen[depth]) > mostCleared:
		n.seen[depth] = nil
	default:
		clear(n.seen[depth])
	}
}

// has reports whether the open object already had the name, a JSON string.
func (n names) has(depth int, quoted []byte) bool {
	if bytes.IndexByte(quoted, '\\') >= 0 { // one name may be encoded in several ways
		var name string
		if json.Unmarshal(quoted, &name) != nil {
			return false
		}
		quoted = []byte(`"` + name + `"`)
	}
	if n.seen[depth] == nil {
		n.seen[depth] = map[uint64]bool{}
	}
	hash := maphash.Bytes(n.seed, quoted)
	had := n.seen[depth][hash]
	n.seen[depth][hash] = true
	return had
}

func (b bound) check(entries, values int) error {
	switch {
	case b.entries > 0 && entries > b.entries:
		return fmt.Errorf("%s has more than %d entries", b.member, b.entries)
	case b.values > 0 && values > b.values:
		return fmt.Errorf("%s has more than %d values", b.member, b.values)
	}
	return nil
}

// boundOf returns the bound of the member with this name, a JSON string. Names are matched as
// encoding/json does: whatever the case, and escaped or not.
func boundOf(quoted []byte) bound {
	var name string
	if json.Unmarshal(quoted, &name) == nil {
		for _, b := range bounds {
			if strings.EqualFold(b.member, name) {
				return b
			}
		}
	}
	return bound{}
}
