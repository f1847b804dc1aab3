package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/apkgate/apkgate/internal/prose"
)

// Limits on the tree after aliases are followed, against exponential aliases.
const (
	maxDepth = 16 // a valid file needs 7
	maxNodes = 100_000
)

// node is a value of the file with its aliases and merges followed.
type node struct {
	kind         yaml.Kind // MappingNode, SequenceNode or ScalarNode
	tag          string    // of a scalar: !!str, !!int, !!float, !!bool, !!null, …
	text         string    // of a scalar
	line, column int
	entries      []entry // of a mapping
	items        []*node // of a sequence
}

type entry struct{ key, value *node }

// find returns the value of a key; nil where there is none.
func (n *node) find(key string) *node {
	for _, e := range n.entries {
		if e.key.text == key {
			return e.value
		}
	}
	return nil
}

// resolve returns the tree of a document; nil where its size or depth is rejected.
func (d *decoder) resolve(doc *yaml.Node) *node {
	r := &resolver{decoder: d, open: map[*yaml.Node]bool{}}
	root := r.value(doc, "", 0)
	if r.stopped {
		return nil
	}
	return root
}

type resolver struct {
	*decoder
	nodes   int
	open    map[*yaml.Node]bool // the anchored values being followed
	stopped bool
}

// stop ends the walk with one problem.
func (r *resolver) stop(n *yaml.Node, path, text string) *node {
	if !r.stopped {
		r.stopped = true
		r.add(Problem{Line: n.Line, Column: n.Column, Path: path, Text: text})
	}
	return nil
}

func (r *resolver) value(n *yaml.Node, path string, depth int) *node {
	r.nodes++
	switch {
	case r.stopped:
		return nil
	case depth > maxDepth:
		return r.stop(n, prose.Short(path), fmt.Sprintf("nested deeper than %d", maxDepth))
	case r.nodes > maxNodes:
		return r.stop(n, prose.Short(path), fmt.Sprintf("more than %d values, counting each use of an alias", maxNodes))
	}
	out := &node{kind: n.Kind, tag: n.ShortTag(), text: n.Value, line: n.Line, column: n.Column}
	switch n.Kind {
	case yaml.AliasNode:
		if r.open[n.Alias] {
			return r.stop(n, prose.Short(path), "the alias *"+prose.Short(n.Value)+" is inside its own anchor")
		}
		r.open[n.Alias] = true
		defer delete(r.open, n.Alias)
		return r.value(n.Alias, path, depth)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			out.items = append(out.items, r.value(item, path+"["+strconv.Itoa(i)+"]", depth+1))
		}
	case yaml.MappingNode:
		r.mapping(out, n, path, depth)
	}
	if n.Style&yaml.TaggedStyle != 0 && !plainTag[out.tag] {
		r.at(out, path, "the tag %s is not allowed", prose.Short(n.Tag))
	}
	return out
}

var plainTag = map[string]bool{"!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true, "!!map": true, "!!seq": true}

// mapping sets the entries of a mapping. A key may occur once; the mapping's own keys take
// precedence over those that << merges in.
func (r *resolver) mapping(out *node, n *yaml.Node, path string, depth int) {
	seen := map[string]*node{}
	var merged []*node
	for i := 0; i+1 < len(n.Content) && !r.stopped; i += 2 {
		key := r.value(n.Content[i], path, depth+1)
		if key == nil {
			return
		}
		if key.kind != yaml.ScalarNode {
			r.at(key, path, "a key must be a plain text, got %s", describe(key))
			continue
		}
		if first := seen[key.text]; first != nil {
			r.at(key, path, "the key %q is given twice, first on line %d", prose.Short(key.text), first.line)
			continue
		}
		seen[key.text] = key
		value := r.value(n.Content[i+1], join(path, key.text), depth+1)
		switch {
		case value == nil || r.stopped:
			return
		case key.tag == "!!merge":
			merged = append(merged, r.merges(value, path)...)
		default:
			out.entries = append(out.entries, entry{key, value})
		}
	}
	for _, m := range merged {
		for _, e := range m.entries {
			if seen[e.key.text] == nil {
				seen[e.key.text] = e.key
				out.entries = append(out.entries, e)
			}
		}
	}
}

// merges returns the mappings that the value of << names: one, or a list of them.
func (r *resolver) merges(value *node, path string) []*node {
	list := []*node{value}
	if value.kind == yaml.SequenceNode {
		list = value.items
	}
	var out []*node
	for _, m := range list {
		if m.kind != yaml.MappingNode {
			r.at(m, path, "<< wants a mapping or a list of them, got %s", describe(m))
			continue
		}
		out = append(out, m)
	}
	return out
}

var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)

// join returns the path of a key in the mapping at path.
func join(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + strconv.Quote(prose.Short(key)) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// describe returns a value as shown in messages.
func describe(n *node) string {
	switch {
	case n.kind == yaml.MappingNode:
		return "a mapping"
	case n.kind == yaml.SequenceNode:
		return "a list"
	case n.tag == "!!null":
		return "nothing"
	case n.tag == "!!str":
		return strconv.Quote(prose.Short(n.text))
	}
	return strings.Map(printable, prose.Short(n.text))
}
