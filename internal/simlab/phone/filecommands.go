package phone

import (
	"fmt"
	"path"
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
		ok = ok || (args[0] == "-d" || args[0] == "-e") && c.isProcess(clean(args[1]))
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
