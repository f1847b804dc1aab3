package phone

import (
	"bytes"
	"regexp"
	"strings"
)

// lines are the input of a filter: those of a file, or what comes through a pipe.
func (c *call) lines(file string) ([][]byte, error) {
	data := c.in
	if file != "" {
		var err error
		if data, err = c.readFile(file); err != nil {
			return nil, err
		}
	}
	return bytes.SplitAfter(data, []byte("\n")), nil
}

func grep(c *call) int {
	args, options := c.plain()
	if len(args) == 0 {
		c.errorf("usage: grep [-EFiv] PATTERN [FILE...]\n")
		return 2
	}
	expr := args[0]
	if strings.Contains(options, "F") {
		expr = regexp.QuoteMeta(expr)
	}
	if strings.Contains(options, "i") {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	file := ""
	if len(args) > 1 {
		file = args[1]
	}
	lines, err2 := c.lines(file)
	if err != nil || err2 != nil {
		c.errorf("grep: bad REGEX or file\n")
		return 2
	}
	found := 0
	for _, line := range lines {
		if len(line) == 0 || re.Match(bytes.TrimSuffix(line, []byte("\n"))) == strings.Contains(options, "v") {
			continue
		}
		found++
		if !strings.ContainsAny(options, "qc") {
			c.out.write(line)
		}
	}
	if strings.Contains(options, "c") {
		c.printf("%d\n", found)
	}
	if found == 0 {
		return 1
	}
	return 0
}
