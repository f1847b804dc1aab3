package config

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/apkgate/apkgate/internal/prose"
)

// checkText finds what no YAML file may contain: bytes that are not UTF-8, and characters that no
// editor shows and that YAML rejects or treats as a line's end.
func checkText(src []byte) (Problem, bool) {
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		return Problem{Line: 1, Column: 1, Text: "the file is UTF-16; want UTF-8", Hint: "save it as UTF-8"}, false
	}
	line, column := 1, 1
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return Problem{Line: line, Column: column, Text: "the byte 0x" + strconv.FormatUint(uint64(src[i]), 16) + " is not UTF-8", Hint: "save it as UTF-8"}, false
		case isForbidden(r):
			return Problem{Line: line, Column: column, Text: "the control character " + strconv.QuoteRuneToASCII(r) + " is not allowed"}, false
		case r == '\n', r == '\r' && !bytes.HasPrefix(src[i:], []byte("\r\n")):
			line, column = line+1, 0
		}
		i, column = i+size, column+1
	}
	return Problem{}, true
}

// isForbidden reports whether YAML rejects the character, or would treat it as a line's end where
// editors do not (U+0085, U+2028, U+2029).
func isForbidden(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' ||
		r >= 0x7f && r <= 0x9f || r == '\u2028' || r == '\u2029' || r == '\uFEFF' || r == '\uFFFE' || r == '\uFFFF'
}

// parseYAML parses the one document of the file.
func parseYAML(src []byte) (*yaml.Node, Problem, bool) {
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc, second yaml.Node
	err := decodeNext(dec, &doc)
	if errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		return nil, emptyFile, false
	}
	if err == nil {
		if err = decodeNext(dec, &second); errors.Is(err, io.EOF) {
			return doc.Content[0], Problem{}, true
		}
	}
	if err != nil {
		return nil, syntaxProblem(src, err), false
	}
	return nil, Problem{
		Line: second.Line, Column: second.Column,
		Text: "a second YAML document begins here; want one", Hint: "remove the line --- before it",
	}, false
}

// decodeNext decodes the next document. yaml.v3 is known to panic on some broken files
// (go-yaml/yaml#666, mikefarah/yq#2481): to a user that is an invalid file too.
func decodeNext(dec *yaml.Decoder, doc *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("yaml: the YAML reader gave up on this file")
		}
	}()
	return dec.Decode(doc)
}

var emptyFile = Problem{Line: 1, Column: 1, Text: "the file is empty; want the key app and what else is needed", Hint: "apkgate init writes a commented file"}

var (
	yamlLine      = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// syntaxProblem locates an error of the YAML reader in the file. The reader reports at most a line;
// the column is that of the line's first character.
func syntaxProblem(src []byte, err error) Problem {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return Problem{Line: 1, Column: 1, Text: "not valid YAML: " + prose.Short(err.Error())}
	}
	lines := splitLines(src)
	if a := unknownAnchor.FindStringSubmatch(m[2]); a != nil {
		line, column := find(lines, "*"+a[1])
		return Problem{Line: line, Column: column, Text: "no anchor &" + prose.Short(a[1]) + " comes before this alias"}
	}
	line, atoiErr := strconv.Atoi(m[1])
	if atoiErr != nil {
		line = 1
	} else if strings.HasPrefix(m[2], "did not find expected") {
		line++ // yaml.v3 counts these from 0
	}
	line = min(max(line, 1), len(lines))
	suspects := lines[line-1 : line] // for a tab that indents
	if strings.HasPrefix(m[2], "found a tab") {
		suspects = lines[line-1:] // the reader reports where the block begins
	}
	for i, text := range suspects {
		if tab := strings.IndexByte(indentOf(text), '\t'); tab >= 0 {
			return Problem{Line: line + i, Column: tab + 1, Text: "a tab indents this line; YAML allows spaces only", Hint: "indent with two spaces"}
		}
	}
	return Problem{Line: line, Column: len(indentOf(lines[line-1])) + 1, Text: "not valid YAML: " + m[2], Hint: yamlHint(m[2])}
}

func indentOf(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// yamlHint explains the reader's most common errors.
func yamlHint(problem string) string {
	switch {
	case strings.HasPrefix(problem, "mapping values are not allowed"):
		return "a text that holds a colon and a space must be in quotes; keys of one mapping are indented alike"
	case strings.HasPrefix(problem, "found character that cannot start any token"):
		return "a text that begins with @, ` or % must be in quotes"
	case strings.HasPrefix(problem, "did not find expected"):
		return "a line near here may be indented wrongly, or a bracket or quote left open"
	case strings.HasPrefix(problem, "found incompatible YAML document"):
		return "remove the line %YAML; the file is read as YAML 1.1"
	case strings.HasPrefix(problem, "found unexpected end of stream"):
		return "a quote may be left open"
	}
	return ""
}

// splitLines splits as editors do: at \n, \r\n and \r.
func splitLines(src []byte) []string {
	s := strings.ReplaceAll(string(src), "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(s, "\r", "\n"), "\n")
}

// find returns the place of the text's first occurrence outside a comment line.
func find(lines []string, text string) (line, column int) {
	for i, l := range lines {
		at := strings.Index(l, text)
		if at >= 0 && !strings.HasPrefix(strings.TrimSpace(l), "#") {
			return i + 1, utf8.RuneCountInString(l[:at]) + 1
		}
	}
	return 1, 1
}
