package r8map

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// known is the latest version of R8's additions that this package supports.
const known = "2.2"

// note is a JSON comment with R8's additions.
type note struct {
	ID        string `json:"id"`
	Version   string `json:"version"`
	FileName  string `json:"fileName"`
	Signature string `json:"signature"`
}

// comment parses the text behind a #: a line of the header, or a note.
func (p *parser) comment(text []byte) {
	if !bytes.HasPrefix(text, []byte("{")) {
		if p.comments == ofFile {
			p.m.Header.take(string(text))
		}
		return
	}
	if bytes.IndexByte(text, '"') < 0 {
		// R8's documentation quotes notes this way.
		text = bytes.ReplaceAll(text, []byte("'"), []byte(`"`))
	}
	var n note
	if err := json.Unmarshal(text, &n); err != nil {
		p.warnings.Addf(p.number, "the comment %s is not JSON: it is skipped", trace.Quote(text))
		return
	}
	p.note(n)
}

func (p *parser) note(n note) {
	switch n.ID {
	case "com.android.tools.r8.mapping":
		p.m.Header.Version = clean(n.Version)
		if later(n.Version, known) {
			p.warnings.Addf(p.number, "the mapping is of version %s, known is %s: its new features are skipped", trace.Quote(n.Version), known)
		}
	case "sourceFile":
		if p.comments == ofClass {
			p.class.file = p.name([]byte(n.FileName))
		}
	case "com.android.tools.r8.synthesized":
		if p.comments == ofClass {
			p.class.synthesized = true
		} else if p.comments == ofMethod {
			p.last().synthesized = true
		}
	case "com.android.tools.r8.outline":
		if p.comments == ofMethod {
			p.last().outline = true
		}
	case "com.android.tools.r8.residualsignature":
		if args, ok := Arguments(n.Signature); ok && p.comments == ofMethod {
			p.last().residual = p.name([]byte(args))
		}
	}
}

// last returns the method that a note applies to.
func (p *parser) last() *line { return &p.m.lines[len(p.m.lines)-1] }

// take parses a line of the header: "pg_map_id: 7b2c…".
func (h *Header) take(text string) {
	key, value, _ := strings.Cut(text, ":")
	fields := map[string]*string{"compiler": &h.Compiler, "compiler_version": &h.CompilerVersion,
		"min_api": &h.MinAPI, "pg_map_id": &h.ID, "pg_map_hash": &h.Hash}
	if field, ok := fields[key]; ok {
		*field = clean(value)
	}
}

// clean shortens a text of the header.
func clean(text string) string {
	const limit = 200
	return strings.ToValidUTF8(strings.TrimSpace(text[:min(len(text), limit)]), "�")
}

// later reports whether version a is later than b; both are "MAJOR.MINOR".
func later(a, b string) bool {
	major, minor, okA := split(a)
	majorB, minorB, okB := split(b)
	return okA && okB && (major > majorB || major == majorB && minor > minorB)
}

func split(version string) (major, minor uint32, ok bool) {
	first, second, _ := strings.Cut(version, ".")
	major, okMajor := position([]byte(first))
	minor, okMinor := position([]byte(second))
	return major, minor, okMajor && okMinor
}
