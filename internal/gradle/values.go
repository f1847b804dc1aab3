package gradle

import (
	"regexp"
	"slices"
	"strings"
)

// textsOf returns the literal texts among tokens.
func textsOf(tokens []token) (out []string) {
	for _, t := range tokens {
		if t.kind == text {
			out = append(out, t.text)
		}
	}
	return out
}

// says reports whether a word is part of the statement, apart from its braces.
func (b block) says(w string) bool {
	return slices.ContainsFunc(b.head, func(t token) bool { return t.kind == word && t.text == w })
}

// assigns returns what a statement assigns to a key: key = x, key x, key(x), key.set(x), setKey(x).
func (b block) assigns(key string) (value []token, given bool) {
	if len(b.head) < 2 || b.head[0].kind != word {
		return nil, false
	}
	if name := b.head[0].text; name != key && name != "set"+capital(key) {
		return nil, false
	}
	rest := b.head[1:]
	if len(rest) > 2 && rest[0].text == "." && rest[1].text == "set" {
		rest = rest[2:]
	}
	if rest[0].kind == sign && rest[0].text == "=" {
		rest = rest[1:]
	}
	return rest, true
}

// assigned returns the name that a statement of the file's own assigns a literal to, and the
// literal: val x = "y", def x = 'y', ext.x = "y", extra["x"] = "y".
func (b block) assigned() (name string, value token, ok bool) {
	n := len(b.head)
	if n < 3 || b.head[n-1].kind == sign || b.head[n-1].built || b.head[n-2].text != "=" || b.head[n-2].kind != sign {
		return "", token{}, false
	}
	for _, t := range slices.Backward(b.head[:n-2]) {
		if t.kind == word || t.kind == text {
			return t.text, b.head[n-1], true
		}
	}
	return "", token{}, false
}

var number = regexp.MustCompile(`^[0-9][0-9_]*$`)

// roots are the words before a point behind which a name of the project's own follows.
var roots = []string{"rootProject", "project", "ext", "extra", "get", "as", "String", "toString", "properties", "property", "findProperty", "providers", "gradleProperty"}

// resolve returns the value of an expression, if it is a literal, a name of the module or the
// project that is assigned one, a version of the catalog, or several of them joined.
func (p *Project) resolve(m *Module, expression []token) (string, bool) {
	var all strings.Builder
	var part []token
	for i, t := range append(slices.Clone(expression), token{kind: sign, text: "+"}) {
		if t.kind != sign || t.text != "+" {
			part = append(part, t)
			continue
		}
		value, ok := p.resolveOne(m, part)
		if !ok || i > 0 && len(part) == 0 || all.Len() > 1000 {
			return "", false
		}
		all.WriteString(value)
		part = nil
	}
	return all.String(), true
}

func (p *Project) resolveOne(m *Module, part []token) (string, bool) {
	part = slices.DeleteFunc(slices.Clone(part), func(t token) bool {
		return t.kind == sign && strings.Contains("()[]", t.text)
	})
	if len(part) == 1 && part[0].kind == text {
		return p.interpolate(m, part[0])
	}
	if len(part) == 1 && (number.MatchString(part[0].text) || part[0].text == "true" || part[0].text == "false") {
		return part[0].text, true
	}
	var names []string
	for _, t := range part {
		switch {
		case t.kind == word || t.kind == text && !t.built:
			names = append(names, t.text)
		case t.kind != sign || t.text != ".":
			return "", false
		}
	}
	return p.named(m, names)
}

// named returns the value of a name, given by its parts: libs.versions.x.get(), rootProject.ext.x,
// x.
func (p *Project) named(m *Module, names []string) (string, bool) {
	if len(names) > 2 && names[0] == "libs" && names[1] == "versions" {
		names = slices.DeleteFunc(slices.Clone(names[2:]), func(n string) bool {
			return slices.Contains([]string{"get", "toInt", "toString", "asProvider", "toInteger", "as", "int"}, n)
		})
		value, ok := p.catalog.versions[strings.Join(names, ".")]
		return value, ok
	}
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(roots, n) })
	if len(names) != 1 {
		return "", false
	}
	if value, ok := m.names[names[0]]; ok {
		return value, true
	}
	value, ok := p.shared[names[0]]
	return value, ok
}

var inserted = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_.]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// interpolate returns a text with the names in it replaced by their values.
func (p *Project) interpolate(m *Module, t token) (string, bool) {
	if !t.built {
		return t.text, true
	}
	known := true
	out := inserted.ReplaceAllStringFunc(t.text, func(name string) string {
		value, ok := p.named(m, strings.Split(strings.Trim(name, "${}"), "."))
		known = known && ok
		return value
	})
	return out, known && !strings.ContainsAny(out, "$\\")
}
