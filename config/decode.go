package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/apkgate/apkgate/internal/prose"
)

// maxItems limits every list and every mapping of free keys.
const maxItems = 1000

// reader decodes one value into its destination.
type reader func(n *node, path string)

// field is one key that a mapping may have.
type field struct {
	key      string
	required bool
	read     reader
}

func need(key string, read reader) field { return field{key, true, read} }
func may(key string, read reader) field  { return field{key, false, read} }

// mapping decodes a mapping with exactly these keys, in this order.
func (d *decoder) mapping(n *node, path string, fields ...field) bool {
	if n.kind != yaml.MappingNode {
		d.hinted(n, path, emptyHint(n), "want a mapping, got %s; its keys: %s", describe(n), strings.Join(keysOf(fields), ", "))
		return false
	}
	d.unknownKeys(n, path, keysOf(fields))
	for _, f := range fields {
		value := n.find(f.key)
		switch {
		case value != nil:
			f.read(value, join(path, f.key))
		case f.required:
			d.at(n, path, "the key %s is missing", f.key)
		}
	}
	return true
}

func emptyHint(n *node) string {
	if n.tag == "!!null" {
		return "indent what belongs to it below it, or remove it"
	}
	return ""
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

func (d *decoder) unknownKeys(n *node, path string, allowed []string) {
	known := make(map[string]bool, len(allowed))
	for _, a := range allowed {
		known[a] = true
	}
	for _, e := range n.entries {
		if !known[e.key.text] {
			d.hinted(e.key, path, DidYouMean(e.key.text, allowed), "unknown key %q; allowed: %s", prose.Short(e.key.text), strings.Join(allowed, ", "))
		}
	}
}

// exactlyOne reports a mapping that has none or several of the keys. Where it has none but an
// unknown key, nothing more is reported: that key is probably misspelt.
func (d *decoder) exactlyOne(n *node, path string, keys []string, others ...string) {
	var have []string
	misspelt := false
	for _, e := range n.entries {
		switch {
		case slices.Contains(keys, e.key.text):
			have = append(have, e.key.text)
		case !slices.Contains(others, e.key.text):
			misspelt = true
		}
	}
	switch {
	case len(have) == 0 && !misspelt:
		d.at(n, path, "want exactly one of %s, got none", strings.Join(keys, ", "))
	case len(have) > 1:
		d.at(n, path, "want exactly one of %s, got %s", strings.Join(keys, ", "), strings.Join(have, " and "))
	}
}

// list decodes a list of least to maxItems values.
func (d *decoder) list(least int, item reader) reader {
	return func(n *node, path string) {
		switch {
		case n.kind != yaml.SequenceNode:
			d.hinted(n, path, emptyHint(n), "want a list, got %s", describe(n))
			return
		case len(n.items) < least:
			d.at(n, path, "want at least %d entry, got none", least)
		case len(n.items) > maxItems:
			d.at(n, path, "want at most %d entries, got %d", maxItems, len(n.items))
			return
		}
		for i, it := range n.items {
			item(it, path+"["+strconv.Itoa(i)+"]")
		}
	}
}

// word decodes one more text of a list.
func (d *decoder) word(dst *[]string, r rule) reader {
	return func(n *node, path string) {
		var s string
		if d.text(&s, r)(n, path); s != "" {
			*dst = append(*dst, s)
		}
	}
}

// set decodes a list of different texts.
func (d *decoder) set(dst *[]string, least int, item func(*string) reader) reader {
	seen := map[string]bool{}
	return d.list(least, func(n *node, path string) {
		var s string
		item(&s)(n, path)
		if s == "" {
			return
		}
		if seen[s] {
			d.at(n, path, "%q is in this list twice", prose.Short(s))
			return
		}
		seen[s] = true
		*dst = append(*dst, s)
	})
}

// text decodes a YAML string that follows the rule.
func (d *decoder) text(dst *string, r rule) reader {
	return func(n *node, path string) {
		switch {
		case n.kind == yaml.ScalarNode && n.tag != "!!str" && n.tag != "!!null" && r.ok(n.text):
			d.hinted(n, path, "put it in quotes", "want %s; got %s, which YAML does not take for a text", r.want, describe(n))
		case n.kind != yaml.ScalarNode || n.tag != "!!str" || !r.ok(n.text):
			d.at(n, path, "want %s; got %s", r.want, describe(n))
		default:
			*dst = n.text
		}
	}
}

// looseText decodes any scalar as its text in the file: a version 5.10 stays "5.10".
func (d *decoder) looseText(dst *string, r rule) reader {
	return func(n *node, path string) {
		if n.kind != yaml.ScalarNode || n.tag == "!!null" || !r.ok(n.text) {
			d.at(n, path, "want %s; got %s", r.want, describe(n))
			return
		}
		*dst = n.text
	}
}

// texts decodes a mapping of free keys to texts.
func (d *decoder) texts(dst *map[string]string, key rule) reader {
	return func(n *node, path string) {
		switch {
		case n.kind != yaml.MappingNode:
			d.hinted(n, path, emptyHint(n), "want a mapping of names to texts, got %s", describe(n))
			return
		case len(n.entries) > maxItems:
			d.at(n, path, "want at most %d entries, got %d", maxItems, len(n.entries))
			return
		}
		*dst = make(map[string]string, len(n.entries))
		for _, e := range n.entries {
			if !key.ok(e.key.text) {
				d.at(e.key, path, "want %s; got %q", key.want, prose.Short(e.key.text))
				continue
			}
			var value string
			d.looseText(&value, valueRule)(e.value, join(path, e.key.text))
			(*dst)[e.key.text] = value
		}
	}
}

// oneOf decodes one of the allowed words.
func oneOf[T ~string](d *decoder, dst *T, allowed ...T) reader {
	words := make([]string, len(allowed))
	for i, a := range allowed {
		words[i] = string(a)
	}
	return func(n *node, path string) {
		for _, a := range allowed {
			if n.kind == yaml.ScalarNode && n.tag == "!!str" && n.text == string(a) {
				*dst = a
				return
			}
		}
		hint := ""
		if n.kind == yaml.ScalarNode {
			hint = DidYouMean(n.text, words)
		}
		d.hinted(n, path, hint, "want one of %s; got %s", strings.Join(words, ", "), describe(n))
	}
}

func integer[T int | int64](d *decoder, dst *T, least, most T) reader {
	return func(n *node, path string) {
		v, err := strconv.ParseInt(n.text, 10, 64)
		if n.tag != "!!int" || !integerPattern.MatchString(n.text) || err != nil || v < int64(least) || v > int64(most) {
			d.at(n, path, "want a whole number from %d to %d, got %s", least, most, describe(n))
			return
		}
		*dst = T(v)
	}
}

// number decodes a plain decimal number.
func (d *decoder) number(dst *float64, least, most float64) reader {
	return func(n *node, path string) {
		v, ok := decimal(n)
		if !ok || v < least || v > most {
			plain := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
			d.at(n, path, "want a number from %s to %s, got %s", plain(least), plain(most), describe(n))
			return
		}
		*dst = v
	}
}

func decimal(n *node) (float64, bool) {
	if n.tag != "!!int" && n.tag != "!!float" || !numberPattern.MatchString(n.text) {
		return 0, false
	}
	v, err := strconv.ParseFloat(n.text, 64)
	return v, err == nil
}

// percent parses 5% or 0.05.
func percent(n *node) (float64, bool) {
	if n.tag == "!!str" && percentPattern.MatchString(n.text) {
		v, err := strconv.ParseFloat(strings.TrimSuffix(n.text, "%"), 64)
		return v / 100, err == nil
	}
	return decimal(n)
}

// fraction decodes a share of at most one. If zero is set, 0 is allowed.
func (d *decoder) fraction(dst *Fraction, zero bool) reader {
	return func(n *node, path string) {
		v, ok := percent(n)
		if ok && (v > 0 || v == 0 && zero) && v <= 1 {
			*dst = Fraction(v)
			return
		}
		from := "more than 0%"
		if zero {
			from = "from 0%"
		}
		hint := ""
		if ok && v > 1 && v <= 100 && n.tag != "!!str" {
			hint = fmt.Sprintf("write %s%%", n.text)
		}
		d.hinted(n, path, hint, "want a share %s up to 100%%, such as 5%% or 0.05; got %s", from, describe(n))
	}
}

func (d *decoder) duration(dst *time.Duration, least, most time.Duration) reader {
	return func(n *node, path string) {
		v, err := time.ParseDuration(n.text)
		if n.tag == "!!str" && durationPattern.MatchString(n.text) && err == nil && v >= least && v <= most {
			*dst = v
			return
		}
		hint := ""
		if _, ok := decimal(n); ok {
			hint = fmt.Sprintf("give it a unit: %ss", n.text)
		}
		d.hinted(n, path, hint, "want a duration from %s to %s, such as 90s or 5m; got %s", prose.Duration(least), prose.Duration(most), describe(n))
	}
}

func (d *decoder) boolean(dst *bool) reader {
	return func(n *node, path string) {
		if n.tag == "!!bool" {
			*dst = strings.EqualFold(n.text, "true")
			return
		}
		hint := ""
		switch strings.ToLower(n.text) {
		case "yes", "on":
			hint = "write true"
		case "no", "off":
			hint = "write false"
		}
		d.hinted(n, path, hint, "want true or false, got %s", describe(n))
	}
}

// filePath decodes the path of a file and joins it to the configuration's folder.
func (d *decoder) filePath(dst *string) reader {
	return func(n *node, path string) {
		var p string
		d.text(&p, pathRule)(n, path)
		if p != "" {
			*dst = d.join(p)
		}
	}
}

// join makes a path relative to the configuration's folder, unless it is absolute.
func (d *decoder) join(p string) string {
	p = filepath.FromSlash(p)
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(d.dir, p)
}
