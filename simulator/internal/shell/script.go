package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The part of the shell's language that collectors and test scripts use: words with quotes, $?
// and $!, lists with ; && || &, pipes, groups and redirections.

// maxScript limits a command line or a script, maxDepth its nesting.
const (
	maxScript = 1 << 20
	maxDepth  = 20
)

// list is a sequence of commands. joins[i] precedes items[i]: "", "&&" or "||". background[i]
// reports that items[i] runs in the background.
type list struct {
	items      []pipeline
	joins      []string
	background []bool
}

// toBackground turns the last commands joined by && and || into one background group.
func (l *list) toBackground() {
	from := len(l.items) - 1
	for from > 0 && l.joins[from] != "" {
		from--
	}
	item := l.items[from]
	if len(l.items)-from > 1 {
		group := &list{items: slices.Clone(l.items[from:]), joins: slices.Clone(l.joins[from:]), background: slices.Clone(l.background[from:])}
		item = pipeline{node{group: group, subshell: true}}
	}
	l.items, l.joins, l.background = append(l.items[:from], item), l.joins[:from+1], append(l.background[:from], true)
}

type pipeline []node

// node is a command with its words, or a group.
type node struct {
	words    []word
	group    *list
	subshell bool // the group is in ( )
	redirs   []redirection
}

// word is a word, made of parts.
type word struct {
	parts []part
	star  bool // contains an unquoted asterisk, which matches file names
}

// part is text, a variable ($?, $! or $$), or a command substitution: $(…).
type part struct {
	text     string
	variable byte // '?', '!' or '$'; 0: none
	output   *list
}

type redirection struct {
	op string // ">", ">>", "2>", "2>>", "2>&1", "1>&2", "<", "&>"
	to word
}

// parseScript parses a command line.
func parseScript(text string) (*list, error) {
	if len(text) > maxScript {
		return nil, fmt.Errorf("syntax error: more than %d bytes", maxScript)
	}
	s := scanner{text: text}
	l, err := s.list(0, "")
	if err == nil && s.at < len(s.text) {
		err = fmt.Errorf("syntax error: unexpected '%c'", s.text[s.at])
	}
	return l, err
}

type scanner struct {
	text string
	at   int
}

// skip skips blanks and comments, and reports whether a line has ended.
func (s *scanner) skip(lines bool) {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\t' || c == '\r' || lines && c == '\n':
			s.at++
		case c == '#' && (s.at == 0 || strings.IndexByte(" \t\n;", s.text[s.at-1]) >= 0):
			for s.at < len(s.text) && s.text[s.at] != '\n' {
				s.at++
			}
		case strings.HasPrefix(s.text[s.at:], "\\\n"):
			s.at += 2
		default:
			return
		}
	}
}

func (s *scanner) take(token string) bool {
	if strings.HasPrefix(s.text[s.at:], token) {
		s.at += len(token)
		return true
	}
	return false
}

// list parses until the closing token, or the end.
func (s *scanner) list(depth int, closing string) (*list, error) {
	if depth > maxDepth {
		return nil, errors.New("syntax error: groups are nested too deep")
	}
	l, join := &list{}, ""
	for {
		s.skip(true)
		if s.at >= len(s.text) || closing != "" && strings.HasPrefix(s.text[s.at:], closing) {
			if join != "" {
				return nil, unfinished("syntax error: unexpected end after '" + join + "'")
			}
			return l, nil
		}
		if closing == "" && s.text[s.at] == ')' {
			return l, nil
		}
		p, err := s.pipeline(depth)
		if err != nil {
			return nil, err
		}
		l.items, l.joins, l.background = append(l.items, p), append(l.joins, join), append(l.background, false)
		s.skip(false)
		join = ""
		switch {
		case s.take("&&"):
			join = "&&"
		case s.take("||"):
			join = "||"
		case s.take(";"), s.take("\n"):
		case s.take("&"):
			l.toBackground()
		}
	}
}

func (s *scanner) pipeline(depth int) (pipeline, error) {
	var p pipeline
	for {
		s.skip(len(p) > 0)
		n, err := s.node(depth)
		if err != nil {
			return nil, err
		}
		p = append(p, n)
		s.skip(false)
		if strings.HasPrefix(s.text[s.at:], "||") || !s.take("|") {
			return p, nil
		}
	}
}

func (s *scanner) node(depth int) (n node, err error) {
	switch {
	case s.take("("):
		n.subshell = true
		if n.group, err = s.list(depth+1, ")"); err != nil {
			return n, err
		}
		if !s.take(")") {
			return n, unfinished("syntax error: '(' unmatched")
		}
	case s.take("{ "), s.take("{\n"):
		if n.group, err = s.list(depth+1, "}"); err != nil {
			return n, err
		}
		if !s.take("}") {
			return n, unfinished("syntax error: '{' unmatched")
		}
	}
	for {
		s.skip(false)
		if r, ok, err := s.redirection(depth); err != nil || ok {
			if err != nil {
				return n, err
			}
			n.redirs = append(n.redirs, r)
			continue
		}
		w, ok, err := s.word(depth)
		switch {
		case err != nil:
			return n, err
		case ok && n.group != nil:
			return n, errors.New("syntax error: a word after a group")
		case ok:
			n.words = append(n.words, w)
		case n.group == nil && len(n.words) == 0 && len(n.redirs) == 0:
			if s.at < len(s.text) {
				return n, fmt.Errorf("syntax error: unexpected '%c'", s.text[s.at])
			}
			return n, unfinished("syntax error: unexpected end")
		default:
			return n, nil
		}
	}
}

func (s *scanner) redirection(depth int) (r redirection, ok bool, err error) {
	for _, op := range []string{"2>&1", "1>&2", ">&2", "2>>", "2>", "1>", "&>", ">>", ">", "<"} {
		if !s.take(op) {
			continue
		}
		r.op = map[string]string{">&2": "1>&2", "1>": ">"}[op]
		if r.op == "" {
			r.op = op
		}
		if strings.HasSuffix(op, "&1") || strings.HasSuffix(op, "&2") {
			return r, true, nil
		}
		s.skip(false)
		if r.to, ok, err = s.word(depth); err == nil && !ok {
			err = fmt.Errorf("syntax error: '%s' without a file", op)
		}
		return r, true, err
	}
	return r, false, nil
}

// word parses one word; ok is false if none begins.
func (s *scanner) word(depth int) (w word, ok bool, err error) {
	var b strings.Builder
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case strings.IndexByte(" \t\r\n;&|()<>", c) >= 0:
			w.flush(&b)
			return w, ok, nil
		case c == '\'':
			end := strings.IndexByte(s.text[s.at+1:], '\'')
			if end < 0 {
				return w, false, unfinished("no closing quote")
			}
			b.WriteString(s.text[s.at+1 : s.at+1+end])
			s.at += end + 2
		case c == '"':
			if err := s.doubleQuoted(&b, &w, depth); err != nil {
				return w, false, err
			}
		case c == '\\' && s.at+1 < len(s.text):
			if s.text[s.at+1] != '\n' {
				b.WriteByte(s.text[s.at+1])
			}
			s.at += 2
		default:
			w.star = w.star || c == '*'
			if err := s.plain(&b, &w, depth); err != nil {
				return w, false, err
			}
		}
		ok = true
	}
	w.flush(&b)
	return w, ok, nil
}

// flush adds the text so far as a part.
func (w *word) flush(b *strings.Builder) {
	if b.Len() > 0 {
		w.parts = append(w.parts, part{text: b.String()})
		b.Reset()
	}
}

// plain parses $?, $!, $$, $(…) or one literal byte.
func (s *scanner) plain(b *strings.Builder, w *word, depth int) error {
	switch {
	case s.take("$?"), s.take("$!"), s.take("$$"):
		w.flush(b)
		w.parts = append(w.parts, part{variable: s.text[s.at-1]})
	case s.take("$("):
		w.flush(b)
		l, err := s.list(depth+1, ")")
		if err != nil {
			return err
		}
		if !s.take(")") {
			return unfinished("syntax error: '$(' unmatched")
		}
		w.parts = append(w.parts, part{output: l})
	default:
		b.WriteByte(s.text[s.at])
		s.at++
	}
	return nil
}

func (s *scanner) doubleQuoted(b *strings.Builder, w *word, depth int) error {
	for s.at++; s.at < len(s.text); {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return nil
		case c == '\\' && s.at+1 < len(s.text) && strings.IndexByte("\"\\$`\n", s.text[s.at+1]) >= 0:
			if s.text[s.at+1] != '\n' {
				b.WriteByte(s.text[s.at+1])
			}
			s.at += 2
		default:
			if err := s.plain(b, w, depth); err != nil {
				return err
			}
		}
	}
	return unfinished("no closing quote")
}
