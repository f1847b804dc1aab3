package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// message is a declared message.
type message struct {
	proto, name      string // Perfetto's name, and the one here
	decoder, numbers bool   // what is generated for it
	fields           []declared
}

// declared is a declared field of a message.
type declared struct {
	name                            string
	number                          int
	kind                            string
	optional, repeated, packed, raw bool
}

// parse reads messages.txt. Its first lines document its format.
func parse(text string) ([]message, error) {
	var out []message
	at := 0
	for line := range strings.Lines(text) {
		at++
		inside := strings.HasPrefix(line, "\t")
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		var err error
		switch {
		case len(words) == 0:
		case !inside:
			var m message
			if m, err = head(words); err == nil {
				out = append(out, m)
			}
		case len(out) == 0:
			err = fmt.Errorf("a field before the first message")
		default:
			err = out[len(out)-1].field(words)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", at, err)
		}
	}
	return out, nil
}

func head(words []string) (message, error) {
	if len(words) < 3 {
		return message{}, fmt.Errorf("want a message, its name here, and decoder or numbers")
	}
	m := message{proto: words[0], name: words[1]}
	for _, what := range words[2:] {
		switch what {
		case "decoder":
			m.decoder = true
		case "numbers":
			m.numbers = true
		default:
			return m, fmt.Errorf("%q: want decoder or numbers", what)
		}
	}
	return m, nil
}

func (m *message) field(words []string) error {
	if len(words) < 3 || len(words) > 4 {
		return fmt.Errorf("want a field, its number, its type, and optional, repeated, packed or raw")
	}
	f := declared{name: words[0], kind: words[2]}
	var err error
	if f.number, err = strconv.Atoi(words[1]); err != nil || f.number < 1 || f.number > 1<<13 {
		return fmt.Errorf("%q: want a number from 1 to %d", words[1], 1<<13)
	}
	if _, known := kinds[f.kind]; !known {
		return fmt.Errorf("%q: no such type", f.kind)
	}
	if len(words) == 4 {
		if err := f.how(words[3]); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(m.fields, func(g declared) bool { return g.number == f.number || g.name == f.name }) {
		return fmt.Errorf("%s %d: it is declared twice", f.name, f.number)
	}
	m.fields = append(m.fields, f)
	return nil
}

// how parses the word after a field's type.
func (f *declared) how(word string) error {
	number := wire(f.kind) != 2
	switch {
	case word == "optional":
		f.optional = true
	case word == "repeated" && !number:
		f.repeated = true
	case word == "packed" && number:
		f.packed = true
	case word == "raw" && number:
		f.raw = true
	default:
		return fmt.Errorf("%s %s: want optional, repeated for texts and messages, or packed or raw for numbers", f.kind, word)
	}
	return nil
}

// kinds are the types of fields, with their Go types and the conversions of a field's value.
var kinds = map[string]struct{ goes, from string }{
	"int32": {"int32", "int32(value)"}, "uint32": {"uint32", "uint32(value)"},
	"int64": {"int64", "int64(value)"}, "uint64": {"uint64", "value"},
	"bool": {"bool", "value != 0"}, "enum": {"int32", "int32(value)"},
	"fixed64": {"uint64", "value"}, "float": {"float32", "math.Float32frombits(uint32(value))"},
	"double": {"float64", "math.Float64frombits(value)"},
	"string": {"[]byte", "data"}, "bytes": {"[]byte", "data"}, "message": {"[]byte", "data"},
}

// wire returns the wire type of one value.
func wire(kind string) int {
	switch kind {
	case "string", "bytes", "message":
		return 2
	case "fixed64", "double":
		return 1
	case "float":
		return 5
	}
	return 0
}
