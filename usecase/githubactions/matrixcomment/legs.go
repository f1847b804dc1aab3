package matrixcomment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// Legs are the legs that a matrix has; the zero value is unknown. One that never came is missed.
type Legs struct {
	Count int
	Names []string // as of LegName; nil where only their number is known
}

// ReadLegs parses the input legs: a number, names, one a line, or a JSON list of names or of the
// values of each leg. "" is unknown.
func ReadLegs(input string) (Legs, error) {
	input = strings.TrimSpace(input)
	if input == "" || input == "null" {
		return Legs{}, nil
	}
	if n, err := strconv.Atoi(input); err == nil {
		if n < 1 || n > MaxLegs {
			return Legs{}, fmt.Errorf("the number of legs is %d, want 1 to %d", n, MaxLegs)
		}
		return Legs{Count: n}, nil
	}
	lines := strings.FieldsFunc(input, func(r rune) bool { return r == '\n' || r == '\r' })
	if strings.HasPrefix(input, "[") {
		var err error
		if lines, err = listed(input); err != nil {
			return Legs{}, err
		}
	}
	var out Legs
	for _, line := range lines {
		name, err := LegName(line)
		if err != nil {
			return Legs{}, err
		}
		if name != "" && !slices.Contains(out.Names, name) {
			out.Names = append(out.Names, name)
		}
	}
	if len(out.Names) > MaxLegs {
		return Legs{}, fmt.Errorf("%d legs are named, want at most %d", len(out.Names), MaxLegs)
	}
	out.Count = len(out.Names)
	return out, nil
}

// listed returns the elements of a JSON list: strings as they are, others as JSON.
func listed(input string) ([]string, error) {
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(input), &all); err != nil {
		return nil, fmt.Errorf("the legs are %s, want a number, names, or a JSON list: %w", prose.Short(input), err)
	}
	out := make([]string, len(all))
	for i, raw := range all {
		if json.Unmarshal(raw, &out[i]) != nil {
			out[i] = string(raw)
		}
	}
	return out, nil
}

// missing returns how many legs have no row, and their names where they are known.
func (l Legs) missing(rows []Row) (count int, names []string) {
	for _, name := range l.Names {
		if !slices.ContainsFunc(rows, func(r Row) bool { return r.Leg == name }) {
			names = append(names, name)
		}
	}
	if l.Names != nil {
		return len(names), names
	}
	return max(l.Count-len(rows), 0), nil
}

// mostNames limits the bytes of the names in a hidden line; of more only the number is kept.
const mostNames = 4_000

// encoded returns the legs as a field of a hidden line, "" for unknown ones.
func (l Legs) encoded() string {
	if names := encodeName(strings.Join(l.Names, "\n")); l.Names != nil && len(names) <= mostNames {
		return names
	}
	if l.Count == 0 {
		return ""
	}
	return strconv.Itoa(l.Count)
}

// decodedLegs parses what encoded returns; anything else is unknown.
func decodedLegs(field string) Legs {
	text, err := url.QueryUnescape(field)
	if err != nil || len(field) > mostNames {
		return Legs{}
	}
	l, err := ReadLegs(text)
	if err != nil {
		return Legs{}
	}
	return l
}

// natural orders names as people do: "api 2" comes before "api 10".
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if order := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n)); order != 0 {
				return order
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns how many digits a text begins with.
func digits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}
