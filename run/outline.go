package run

import (
	"encoding/json"
	"fmt"
	"strings"
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
}

// checkOutline goes over a record's text before encoding/json recurses into it and
// makes values of it: how deep it is nested, and how much its members hold. What is
// not JSON it leaves to encoding/json.
func checkOutline(data []byte, depthLimit int) error {
	depth, inString, escaped := 0, false, false
	text, member := 0, bound{} // where the last string begins, and what the place is in
	commas, values := 0, 0     // in the member: between its own entries, and all
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
		case c == '}' || c == ']':
			depth--
		case c == ':' && depth == 1:
			member, commas, values = boundOf(data[text:i]), 0, 0
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
