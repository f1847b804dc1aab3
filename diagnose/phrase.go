package diagnose

import (
	"encoding/json"
	"fmt"
)

// Phrase is text of which numbers and names are still data.
type Phrase []Part

// Part is one of these: words of ours, a name from outside, an amount or a range.
type Part struct {
	Text string `json:"text,omitempty"`
	Name string `json:"name,omitempty"`
	// As says what the name is of, so that it can be shortened where it tells least.
	As NameKind `json:"as,omitempty"`
	// Most bounds the characters of the name that are shown; 0 is as many as a
	// report shows of any name.
	Most   int     `json:"most,omitempty"`
	Amount *Amount `json:"amount,omitempty"`
	Range  *Range  `json:"range,omitempty"`
}

// NameKind is a kind of name.
type NameKind string

// The kinds of names.
const (
	Plain NameKind = ""
	Code  NameKind = "code"  // a method, a function, a tag: its end tells most
	Short NameKind = "short" // the same without its package
)

// Amount is a number with its unit: "J", "W", "s", "ms", "B", "Hz", "ratio" (of 1),
// "%" (of a hundred, which is shown with two digits however small it is), "" for a
// count. A unit that a reader doesn't know stands behind the number.
type Amount struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
	// Signed says that it is a change, which is shown with its sign.
	Signed bool `json:"signed,omitempty"`
}

// Range is from one amount to another.
type Range struct {
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Unit   string  `json:"unit,omitempty"`
	Signed bool    `json:"signed,omitempty"`
}

// Say puts a phrase together: strings are words of ours, the rest are parts,
// amounts, ranges and phrases.
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

// with adds a part; words after words become one part.
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

// MarshalJSON writes a list, also where the phrase is empty.
func (p Phrase) MarshalJSON() ([]byte, error) {
	if p == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]Part(p))
}

// Joined puts a separator between phrases.
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

// Named is a name from outside.
func Named(name string) Part { return Part{Name: name} }

// Coded is the name of a method or the like.
func Coded(name string) Part { return Part{Name: name, As: Code} }

// Count is how many there are, with the word for one or for more.
func Count(n int, one, many string) Phrase {
	word := many
	if n == 1 {
		word = one
	}
	return Say(Amount{Value: float64(n)}, " "+word)
}
