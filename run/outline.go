package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// maxSectionValues bounds the values of one section: more than one has that is within
// its own limits.
const maxSectionValues = 750_000

// bound is how much a member of a record may hold.
type bound struct {
	member  string
	entries int // of the list that it is; 0: not bounded here
	values  int // of all that is in it; 0: not bounded here
}

// bounds keep what is short as text from being long in memory.
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

// checkOutline goes over a record's text before encoding/json recurses into it and
// makes values of it: how deep it is nested, how much its members hold, and whether an
// object has a name twice, of which encoding/json would take the last. What is not JSON it
// leaves to encoding/json.
func checkOutline(data []byte, depthLimit int) error {
	depth, inString, escaped := 0, false, false
	text, member := 0, bound{} // where the last string begins, and what the place is in
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

// names are those of the objects that are open, by depth, as hashes.
type names struct {
	seed maphash.Seed
	seen []map[uint64]bool
}

func newNames(depthLimit int) names {
	return names{maphash.MakeSeed(), make([]map[uint64]bool, depthLimit+1)}
}

// mostCleared is how many names of an object its set is used again after: to clear a large
// one takes as long as it once held names, before each of the objects that follow.
const mostCleared = 256

// begin begins an object.
func (n names) begin(depth int) {
	switch {
	case depth <= 0: // it is no JSON
	case len(n.seen[depth]) > mostCleared:
		n.seen[depth] = nil
	default:
		clear(n.seen[depth])
	}
}

// has reports whether the open object had the name, a JSON string, before.
func (n names) has(depth int, quoted []byte) bool {
	if bytes.IndexByte(quoted, '\\') >= 0 { // one name may be written in several ways
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

// boundOf is the bound of the member whose name this is, a JSON string. Names are
// told as encoding/json tells them: whatever the case, and escaped or not.
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
