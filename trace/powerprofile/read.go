package powerprofile

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// Limits of a profile; real ones are below 16 KiB, 100 items and a depth of 4.
const (
	maxText   = 4 << 20 // bytes
	maxItems  = 10_000
	maxValues = 100_000 // over all items
	maxDepth  = 8
)

// reader is the state between elements.
type reader struct {
	dec      *xml.Decoder
	profile  Profile
	warnings trace.Warnings
	path     []xml.StartElement
	text     strings.Builder // of the innermost element
	item     *Item           // the open <item> or <array>
	bad      bool            // the open item has a value that can't be parsed
	values   int
	active   ModemState // the open <active>: its RAT and frequency
}

// Read reads a profile. It returns an error only where reading fails; a rejected file is an empty
// profile with a warning that gives the reason.
func Read(src io.Reader) (Profile, error) {
	text, err := readText(src)
	if err != nil {
		return Profile{}, err
	}
	r := reader{dec: xml.NewDecoder(strings.NewReader(text))}
	// The text is UTF-8 by now, whatever its declaration.
	r.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	refused, err := r.run()
	line, _ := r.dec.InputPos()
	if err != nil {
		r.warnings.Addf(line, "%s: the rest is not read", trace.Name(err.Error()))
	}
	if refused != "" {
		r.profile = Profile{}
		r.warnings.Addf(line, "%s: the file is not read", refused)
	}
	r.profile.setCPU(&r.warnings)
	r.profile.Warnings = r.warnings.List()
	return r.profile, nil
}

// readText reads text in any encoding that trace.Lines supports.
func readText(src io.Reader) (string, error) {
	var text strings.Builder
	bounded := &io.LimitedReader{R: src, N: maxText + 1}
	lines := trace.NewLines(bounded)
	for lines.Next() {
		if lines.Cut() {
			return "", fmt.Errorf("line %d is longer than %d MiB, which no power profile's is", lines.Number(), trace.MaxLine>>20)
		}
		text.Write(lines.Text())
		text.WriteByte('\n')
	}
	if bounded.N == 0 {
		return "", fmt.Errorf("the text is larger than %d MiB, which no power profile is", maxText>>20)
	}
	return text.String(), lines.Err()
}

// run reads all elements. It returns why the file is rejected, "" if it isn't; the error is one of
// XML syntax.
func (r *reader) run() (refused string, err error) {
	for {
		token, err := r.dec.Token()
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.Directive:
			return "a power profile can't have a document type definition", nil
		case xml.StartElement:
			if refused := r.start(t.Copy()); refused != "" {
				return refused, nil
			}
		case xml.CharData:
			r.text.Write(t)
		case xml.EndElement:
			r.end(t.Name.Local)
		}
	}
}

func (r *reader) line() int {
	line, _ := r.dec.InputPos()
	return line
}

func (r *reader) start(e xml.StartElement) (refused string) {
	r.text.Reset()
	r.path = append(r.path, e)
	name := e.Name.Local
	switch depth := len(r.path); {
	case depth > maxDepth:
		return fmt.Sprintf("the elements are nested deeper than %d", maxDepth)
	case depth == 1 && name != "device":
		return fmt.Sprintf("the root element is %s, want <device>", trace.Quote(name))
	case depth == 1:
		r.profile.Device = trace.Name(attribute(e, "name"))
	case depth == 2 && (name == "item" || name == "array"):
		r.begin(name == "array", attribute(e, "name"))
	case depth == 3 && name == "value" && r.parent() == "array":
	case r.inModem():
		if name == "active" {
			r.active = ModemState{RAT: trace.Name(attribute(e, "rat")), NRFrequency: trace.Name(attribute(e, "nrFrequency"))}
		}
	default:
		r.warnings.Addf(r.line(), "the element %s is not known here: it is not read", trace.Quote(name))
	}
	return ""
}

func (r *reader) parent() string {
	if len(r.path) < 2 {
		return ""
	}
	return r.path[len(r.path)-2].Name.Local
}

func (r *reader) inModem() bool { return len(r.path) >= 2 && r.path[1].Name.Local == "modem" }

func (r *reader) begin(array bool, name string) {
	r.bad = name == ""
	if r.bad {
		r.warnings.Addf(r.line(), "an element has no name: it is not read")
	}
	name = trace.Name(name)
	r.item = &Item{Name: name, Line: r.line(), Unit: UnitOf(name), Array: array, Values: []float64{}}
}

func (r *reader) end(name string) {
	if n := len(r.path); n > 0 {
		switch {
		case n == 2 && name == "item" && r.item != nil:
			r.addValue()
			r.endItem()
		case n == 2 && name == "array" && r.item != nil:
			r.endItem()
		case n == 3 && name == "value" && r.parent() == "array" && r.item != nil:
			r.addValue()
		case n > 2 && r.inModem():
			r.endModem(name)
		}
		r.path = r.path[:n-1]
	}
	r.text.Reset()
}

// number parses the text of the innermost element, and adds a warning if it fails.
func (r *reader) number(of string) (float64, bool) {
	text := strings.TrimSpace(r.text.String())
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || v < 0 || v > 1e12 {
		r.warnings.Addf(r.line(), "%s is %s, want a number from 0 on: it is not read", of, trace.Quote(text))
		return 0, false
	}
	return v, true
}

func (r *reader) addValue() {
	v, ok := r.number(r.item.Name)
	if r.values == maxValues {
		r.warnings.Addf(r.line(), "more than %d values: the rest is not read", maxValues)
	}
	r.values++
	// A missing value would shift those after it.
	r.bad = r.bad || !ok || r.values > maxValues
	r.item.Values = append(r.item.Values, v)
}

func (r *reader) endItem() {
	item := *r.item
	r.item = nil
	if r.bad || len(r.profile.Items) >= maxItems {
		return
	}
	if seen := slices.IndexFunc(r.profile.Items, func(i Item) bool { return i.Name == item.Name && i.Array == item.Array }); seen >= 0 {
		r.warnings.Addf(item.Line, "%s is in line %d already: the later one counts", trace.Name(item.Name), r.profile.Items[seen].Line)
	}
	r.profile.Items = append(r.profile.Items, item)
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
