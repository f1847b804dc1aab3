package shell

import (
	"bytes"
	"regexp"
	"strings"
)

// lines returns the input of a filter: the lines of a file, or of a pipe.
func (c *Call) lines(file string) ([][]byte, error) {
	data := c.In
	if file != "" {
		var err error
		if data, err = c.host.Files.Read(file); err != nil {
			return nil, err
		}
	}
	return bytes.SplitAfter(data, []byte("\n")), nil
}

func grep(c *Call) int {
	args, options := c.Plain()
	if len(args) == 0 {
		c.Errorf("usage: grep [-EFiv] PATTERN [FILE...]\n")
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
		c.Errorf("grep: bad REGEX or file\n")
		return 2
	}
	found := 0
	for _, line := range lines {
		if len(line) == 0 || re.Match(bytes.TrimSuffix(line, []byte("\n"))) == strings.Contains(options, "v") {
			continue
		}
		found++
		if !strings.ContainsAny(options, "qc") {
			c.Out.Write(line)
		}
	}
	if strings.Contains(options, "c") {
		c.Printf("%d\n", found)
	}
	if found == 0 {
		return 1
	}
	return 0
}
