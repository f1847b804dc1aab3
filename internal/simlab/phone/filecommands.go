package phone

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func echo(c *call) int {
	end, args := "\n", c.args
	if len(args) > 0 && args[0] == "-n" {
		end, args = "", args[1:]
	}
	c.printf("%s%s", strings.Join(args, " "), end)
	return 0
}

// exit leaves the innermost script or subshell; what would follow in it doesn't.
func exit(c *call, _ func(code int)) {
	code, err := strconv.Atoi(c.arg(0))
	if err != nil {
		code = c.shell.status
	}
	if n := len(c.shell.exits); n > 0 {
		c.shell.exits[n-1](code & 255)
		return
	}
	c.shell.end(code & 255)
}

// sleep waits on the phone's clock.
func sleep(c *call, then func(code int)) {
	seconds, err := strconv.ParseFloat(c.arg(0), 64)
	if err != nil || !(seconds >= 0 && seconds <= 86_400) {
		c.errorf("sleep: Unknown suffix '%s'\n", c.arg(0))
		then(1)
		return
	}
	c.at(c.clock.now+time.Duration(seconds*float64(time.Second)), func() {
		if !c.shell.ended {
			then(0)
		}
	})
}

// runScript is sh FILE and sh -c COMMAND.
func runScript(c *call, then func(code int)) {
	var text string
	switch {
	case len(c.args) >= 2 && c.arg(0) == "-c":
		text = c.arg(1)
	case len(c.args) >= 1:
		data, err := c.readFile(c.arg(0))
		if err != nil {
			c.errorf("sh: %v\n", err)
			then(127)
			return
		}
		text = string(data)
	default:
		text = string(c.in)
	}
	s := c.shell
	if len(s.exits) > maxDepth {
		c.errorf("sh: scripts are nested too deep\n")
		then(126)
		return
	}
	s.eval(text, c.streams, s.enclose(then))
}

func cat(c *call) int {
	if len(c.args) == 0 {
		c.out.write(c.in)
		return 0
	}
	code := 0
	for _, name := range c.args {
		data, err := c.readFile(name)
		if err != nil {
			c.errorf("cat: %v\n", err)
			code = 1
			continue
		}
		c.out.write(data)
	}
	return code
}

// plain are the arguments that are no options.
func (c *call) plain() (args []string, options string) {
	for _, a := range c.args {
		if strings.HasPrefix(a, "-") {
			options += a[1:]
		} else {
			args = append(args, a)
		}
	}
	return args, options
}

func ls(c *call) int {
	args, options := c.plain()
	if len(args) == 0 {
		args = []string{"/"}
	}
	code := 0
	for _, name := range args {
		name = clean(name)
		i, err := c.stat(name)
		if err != nil {
			c.errorf("ls: %v\n", err)
			code = 1
			continue
		}
		names, dir := []string{name}, ""
		if i.IsDir() && !strings.Contains(options, "d") {
			names, dir = c.list(name), name
		}
		for _, n := range names {
			if !strings.Contains(options, "l") {
				c.printf("%s\n", n)
				continue
			}
			f, err := c.stat(path.Join(dir, n))
			if err == nil {
				c.printf("%s shell    shell    %8d %s %s\n", f.Mode(), f.Size(), f.ModTime().Format("2006-01-02 15:04"), n)
			}
		}
	}
	return code
}

func rm(c *call) int {
	args, options := c.plain()
	code := 0
	for _, name := range args {
		err := c.removeFile(name, strings.Contains(options, "r"))
		if err != nil && !strings.Contains(options, "f") {
			c.errorf("rm: %v\n", err)
			code = 1
		}
	}
	return code
}

func mkdir(c *call) int {
	args, options := c.plain()
	for _, name := range args {
		if err := c.makeDir(name, strings.Contains(options, "p")); err != nil {
			c.errorf("mkdir: %v\n", err)
			return 1
		}
	}
	return 0
}

// test is test -e FILE, -d, -f, -n STRING, -z STRING, A = B and A != B.
func test(c *call) int {
	args := c.args
	if n := len(args); n > 0 && args[n-1] == "]" {
		args = args[:n-1]
	}
	ok := false
	switch {
	case len(args) == 2 && (args[0] == "-e" || args[0] == "-f" || args[0] == "-d" || args[0] == "-s"):
		i, err := c.stat(clean(args[1]))
		ok = err == nil && (args[0] == "-e" || i.IsDir() == (args[0] == "-d"))
	case len(args) == 2 && args[0] == "-n":
		ok = args[1] != ""
	case len(args) == 2 && args[0] == "-z":
		ok = args[1] == ""
	case len(args) == 3 && args[1] == "=":
		ok = args[0] == args[2]
	case len(args) == 3 && args[1] == "!=":
		ok = args[0] != args[2]
	case len(args) == 1:
		ok = args[0] != ""
	}
	if ok {
		return 0
	}
	return 1
}

// df reports the storage: toolbox's words before Android 6, toybox's since.
func df(c *call) int {
	const total = 12_582_912 // KiB
	used := 2_097_152 + c.state.files.used>>10
	if c.state.noSpace {
		used = total
	}
	if c.profile.API < 23 {
		c.printf("Filesystem               Size     Used     Free   Blksize\n")
		c.printf("%-20s %8s %8s %8s   4096\n", "/data", human(total), human(used), human(total-used))
		return 0
	}
	c.printf("Filesystem     1K-blocks    Used Available Use%% Mounted on\n")
	c.printf("/dev/block/dm-0 %9d %7d %9d %3d%% /data\n", int64(total), used, total-used, 100*used/total)
	return 0
}

func human(kib int64) string {
	switch {
	case kib >= 1<<20:
		return fmt.Sprintf("%.1fG", float64(kib)/(1<<20))
	case kib >= 1<<10:
		return fmt.Sprintf("%.1fM", float64(kib)/(1<<10))
	}
	return fmt.Sprintf("%.1fK", float64(kib))
}

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

// proc are the files of /proc that collectors read.
func (p *Phone) proc(name string) (text string, ok bool) {
	if name == "/proc/uptime" { // CLOCK_BOOTTIME, then what the cores idled
		up := p.boottime().Seconds()
		return fmt.Sprintf("%.2f %.2f\n", up, up*3.1), true
	}
	if name == "/proc/meminfo" {
		return "MemTotal:        2048000 kB\nMemFree:          612000 kB\nMemAvailable:    1204000 kB\n", true
	}
	for _, pr := range p.state.running {
		if name == fmt.Sprintf("/proc/%d/stat", pr.pid) {
			return p.procStat(pr), true
		}
		if name == fmt.Sprintf("/proc/%d/cmdline", pr.pid) {
			return pr.app.Package + "\x00", true
		}
	}
	return "", false
}

// procStat is /proc/PID/stat; times are in ticks of 10 ms.
func (p *Phone) procStat(pr *process) string {
	var busy time.Duration
	for _, f := range pr.frames[:pr.rendered(p.clock.now)] {
		busy += f.Completed - f.Input
	}
	for _, b := range pr.busy {
		if b.At < p.clock.now {
			busy += min(b.For, p.clock.now-b.At)
		}
	}
	ticks := int64(busy / (10 * time.Millisecond))
	comm := pr.app.Package
	comm = comm[max(0, len(comm)-15):]
	return fmt.Sprintf("%d (%s) S 600 600 0 0 -1 1077936448 41000 0 20 0 %d %d 0 0 10 -10 27 0 %d 1480000000 22500 18446744073709551615 1 1 0 0 0 0 4612 0 1098945784 0 0 0 17 2 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		pr.pid, comm, ticks*4/5, ticks/5, int64(pr.since/(10*time.Millisecond)))
}
