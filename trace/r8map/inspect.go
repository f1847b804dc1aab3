package r8map

import (
	"fmt"
	"io"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Details are what an inspection tells (docs/format/inspect.md).
type Details struct {
	Header  Header `json:"header"`
	Classes int    `json:"classes"`
	Renamed int    `json:"classes_renamed"`
	Methods int    `json:"methods"`
	// Inlined counts the places at which a method was put into another one.
	Inlined int `json:"inlined"`
	// Ambiguous counts the compiled names that several methods of a class share.
	Ambiguous   int `json:"names_ambiguous"`
	Synthesized int `json:"synthesized"` // methods that the compiler made
	Outlines    int `json:"outlines"`
}

// Inspect reads a mapping. It measures nothing, so there are no metrics.
func Inspect(r io.Reader) (trace.Inspection, error) {
	m, err := Read(r)
	if err != nil {
		return trace.Inspection{}, err
	}
	d := Details{Header: m.Header, Classes: len(m.classes)}
	for name, c := range m.classes {
		if name != c.original {
			d.Renamed++
		}
		m.count(c, &d)
	}
	if len(m.classes) == 0 {
		warnings := append(m.Warnings, run.Warning{Text: "nothing of a mapping is in the file"})
		return trace.NewInspection("r8map", nil, warnings, d).Empty(), nil
	}
	return trace.NewInspection("r8map", nil, m.Warnings, d), nil
}

// count adds the methods of a class.
func (m *Map) count(c class, d *Details) {
	for i := c.first; i < c.end; i++ {
		if m.lines[i].caller {
			d.Inlined++
		}
		if i > c.first && m.lines[i].name == m.lines[i-1].name {
			continue
		}
		methods := m.byMethod(m.stacks(c, m.lines[i].name))
		d.Methods += len(methods)
		if len(methods) > 1 {
			d.Ambiguous++
		}
		for _, stacks := range methods {
			frames := m.shared(c, stacks)
			if f := frames[len(frames)-1]; f.Outline {
				d.Outlines++
			} else if f.Synthesized {
				d.Synthesized++
			}
		}
	}
}

// Summary is what the mapping comes to in a few lines for people.
func (d Details) Summary() []string {
	if d.Classes == 0 {
		return nil
	}
	return append(d.Header.summary(),
		fmt.Sprintf("%d classes (%d renamed), %d methods (%d made by the compiler, %d outlines)", d.Classes, d.Renamed, d.Methods, d.Synthesized, d.Outlines),
		fmt.Sprintf("%d places with a method put into another one, %d names that several methods share", d.Inlined, d.Ambiguous))
}

// summary is what the header says, in one line, or none.
func (h Header) summary() []string {
	var said []string
	for _, field := range []struct{ what, value string }{
		{"made by", h.Compiler}, {"of version", h.CompilerVersion}, {"with additions of version", h.Version}, {"id", h.ID},
	} {
		if field.value != "" {
			said = append(said, fmt.Sprintf("%s %q", field.what, field.value))
		}
	}
	if len(said) == 0 {
		return nil
	}
	return []string{strings.Join(said, ", ")}
}
