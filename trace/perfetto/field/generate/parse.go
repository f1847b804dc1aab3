package main

import (
	"regexp"
	"strings"
)

// message is a message of a .proto file. Its file is the one that it was merged from
// where a comment names it.
type message struct {
	file   string
	fields []numbered
}

type numbered struct{ name, number string }

var (
	begins   = regexp.MustCompile(`^// Begin of (\S+)`)
	opens    = regexp.MustCompile(`^(message|enum|oneof|extend)\s+([\w.]+)\s*\{`)
	numbers  = regexp.MustCompile(`^(?:(?:optional|repeated|required)\s+)?[\w.]+\s+(\w+)\s*=\s*(\d+)\s*[;\[]`)
	unending = regexp.MustCompile(`^(optional|repeated|required)\b[^;]*$`)
)

// scope is a block that is open: a message by its whole name, or something else.
type scope struct{ message string }

// parse adds the messages of a .proto file by their names, those inside others as
// Outer.Inner. It knows as much of the language as Perfetto's files have.
func parse(out map[string]*message, file, proto string) {
	var open []scope
	pending := ""
	for line := range strings.Lines(proto) {
		line = strings.TrimSpace(line)
		if found := begins.FindStringSubmatch(line); found != nil {
			file = found[1]
		}
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(pending + " " + line)
		if pending = ""; unending.MatchString(line) {
			pending = line
			continue
		}
		inside := ""
		if len(open) > 0 {
			inside = open[len(open)-1].message
		}
		switch found := opens.FindStringSubmatch(line); {
		case found != nil && strings.HasSuffix(line, "}"):
		case found != nil:
			open = append(open, scope{named(found[1], found[2], inside)})
		case strings.HasPrefix(line, "}"):
			open = open[:max(len(open)-1, 0)]
		case inside != "":
			if f := numbers.FindStringSubmatch(line); f != nil {
				if out[inside] == nil {
					out[inside] = &message{file: file}
				}
				out[inside].fields = append(out[inside].fields, numbered{f[1], f[2]})
			}
		}
	}
}

// named is the message that the fields of a block belong to, "" for none.
func named(kind, name, inside string) string {
	switch {
	case kind == "oneof":
		return inside
	case kind == "extend":
		return name[strings.LastIndexByte(name, '.')+1:]
	case kind != "message":
		return ""
	case inside != "":
		return inside + "." + name
	}
	return name
}
