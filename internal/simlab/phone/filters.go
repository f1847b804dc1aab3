package phone

import (
	"bytes"
	"regexp"
	"strconv"
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

// count reads the number of -n N, or -N.
func (c *call) count() (n int, file string) {
	n = 10
	for i, a := range c.args {
		switch {
		case a == "-n":
			n, _ = strconv.Atoi(c.arg(i + 1))
		case strings.HasPrefix(a, "-"):
			n, _ = strconv.Atoi(strings.TrimPrefix(a[1:], "n"))
		case i == 0 || c.arg(i-1) != "-n":
			file = a
		}
	}
	return max(n, 0), file
}

func head(c *call) int {
	n, file := c.count()
	lines, err := c.lines(file)
	if err != nil {
		c.errorf("head: %v\n", err)
		return 1
	}
	c.out.write(bytes.Join(lines[:min(n, len(lines))], nil))
	return 0
}

func tail(c *call) int {
	n, file := c.count()
	lines, err := c.lines(file)
	if err != nil {
		c.errorf("tail: %v\n", err)
		return 1
	}
	if last := len(lines) - 1; last >= 0 && len(lines[last]) == 0 {
		lines = lines[:last]
	}
	c.out.write(bytes.Join(lines[max(0, len(lines)-n):], nil))
	return 0
}

func wc(c *call) int {
	args, options := c.plain()
	file := strings.Join(args, " ")
	lines, err := c.lines(file)
	if err != nil {
		c.errorf("wc: %v\n", err)
		return 1
	}
	data := bytes.Join(lines, nil)
	if options == "c" {
		c.printf("%d\n", len(data))
	} else {
		c.printf("%d\n", bytes.Count(data, []byte("\n")))
	}
	return 0
}
