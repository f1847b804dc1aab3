package diagnose

import (
	"encoding/json"
	"fmt"
)

// Phrase is text whose numbers and names are still data.
type Phrase []Part

// Part is one of: words of ours, a name from outside, an amount or a range.
type Part struct {
	Text string `json:"text,omitempty"`
	Name string `json:"name,omitempty"`
	// As is the kind of the name, so that it can be shortened where it is least informative.
	As NameKind `json:"as,omitempty"`
	// Most limits the shown characters of the name; 0 is the general limit of reports.
	Most   int     `json:"most,omitempty"`
	Amount *Amount `json:"amount,omitempty"`
	Range  *Range  `json:"range,omitempty"`
}

// NameKind is a kind of name.
type NameKind string

// The kinds of names.
const (
	Plain NameKind = ""
	Code  NameKind = "code"  // a method, a function, a tag: its end is the most informative
	Short NameKind = "short" // the same without its package
)

// Amount is a number with its unit: "J", "W", "s", "ms", "B", "Hz", "ratio" (of 1), "%" (of a
// hundred, shown with two digits however small it is), "" for a count. An unknown unit is shown
// after the number.
type Amount struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
	// Signed marks a change, which is shown with its sign.
	Signed bool `json:"signed,omitempty"`
}

// Range is from one amount to another.
type Range struct {
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Unit   string  `json:"unit,omitempty"`
	Signed bool    `json:"signed,omitempty"`
}

// Say makes a phrase: strings are words of ours, the rest are parts, amounts, ranges and phrases.
func Say(parts ...any) Phrase {
	var out Phrase
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			out = out.with(Part{Text: p})
		case Part:
			out = out.with(p)
		case Amount:
			out = out.with(Part{Amount: &p})
		case Range:
			out = out.with(Part{Range: &p})
		case Phrase:
			for _, part := range p {
				out = out.with(part)
			}
		default:
			out = out.with(Part{Text: fmt.Sprint(p)})
		}
	}
	return out
}

// with adds a part; consecutive words become one part.
func (p Phrase) with(part Part) Phrase {
	if part == (Part{}) {
		return p
	}
	last := len(p) - 1
	if last >= 0 && p[last] == (Part{Text: p[last].Text}) && part == (Part{Text: part.Text}) {
		p[last].Text += part.Text
		return p
	}
	return append(p, part)
}

// MarshalJSON encodes a list, even where the phrase is empty.
func (p Phrase) MarshalJSON() ([]byte, error) {
	if p == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]Part(p))
}

// Joined joins phrases with a separator.
func Joined(phrases []Phrase, separator string) Phrase {
	var out Phrase
	for i, p := range phrases {
		if i > 0 {
			out = Say(out, separator)
		}
		out = Say(out, p)
	}
	return out
}

// Named returns a name from outside.
func Named(name string) Part { return Part{Name: name} }

// Coded returns the name of a method or the like.
func Coded(name string) Part { return Part{Name: name, As: Code} }

// Count returns a number with its noun.
func Count(n int, one, many string) Phrase {
	word := many
	if n == 1 {
		word = one
	}
	return Say(Amount{Value: float64(n)}, " "+word)
}
