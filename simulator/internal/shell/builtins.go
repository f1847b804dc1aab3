package shell

import (
	"fmt"
	paths "path"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/storage"
)

// builtins are the commands of every shell. They are set by init, because a command can run
// commands.
var builtins map[string]Command

func init() {
	nothing := Command{Run: now(func(*Call) int { return 0 })}
	builtins = map[string]Command{
		"true": nothing, ":": nothing, "cd": nothing, "chmod": nothing, "sync": nothing, "export": nothing,
		"false":  {Run: now(func(*Call) int { return 1 })},
		"echo":   {Run: now(echo)},
		"exit":   {Run: exit},
		"exec":   {Run: execute},
		"printf": {Run: now(printf)},
		"sleep":  {Run: sleep},
		"sh":     {Run: runScript},
		"cat":    {Run: now(cat)},
		"ls":     {Run: now(ls)},
		"rm":     {Run: now(rm)},
		"mkdir":  {Run: now(mkdir)},
		"test":   {Run: now(test)},
		"[":      {Run: now(test)},
		"df":     {Run: now(df)},
		"grep":   {Run: now(grep)},
		"stat":   {Since: 23, Run: now(stat)},
		"pidof":  {Since: 23, Run: now(pidof)},
		"kill":   {Run: now(Kill)},
		"pkill":  {Since: 23, Run: now(pkill)},
		"nohup":  {Run: prefixed},
		"setsid": {Since: 23, Run: prefixed},
		"wait":   {Run: waitCommand},

		"command": {Run: now(which)},
	}
}

func echo(c *Call) int {
	end, args := "\n", c.Args
	if len(args) > 0 && args[0] == "-n" {
		end, args = "", args[1:]
	}
	c.Printf("%s%s", strings.Join(args, " "), end)
	return 0
}

// exit leaves the innermost script or subshell; its remaining commands are skipped.
func exit(c *Call, _ func(code int)) {
	code, err := strconv.Atoi(c.Arg(0))
	if err != nil {
		code = c.Shell.status
	}
	if n := len(c.Shell.exits); n > 0 {
		c.Shell.exits[n-1](code & 255)
		return
	}
	c.Shell.end(code & 255)
}

// execute is exec: it replaces the shell by a command.
func execute(c *Call, then func(code int)) {
	if len(c.Args) == 0 {
		then(0)
		return
	}
	c.Run(c.Args, c.Streams, func(code int) {
		exit(&Call{Shell: c.Shell, Args: []string{strconv.Itoa(code)}, Streams: c.Streams}, then)
	})
}

// printf is printf FORMAT [ARG...] with %s, %d and %%, without repetition.
func printf(c *Call) int {
	args := c.Args
	if len(args) == 0 {
		c.Errorf("usage: printf FORMAT [ARGUMENT...]\n")
		return 1
	}
	format, err := strconv.Unquote(`"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(args[0]) + `"`)
	if err != nil {
		c.Errorf("printf: bad escape in '%s'\n", args[0])
		return 1
	}
	args = args[1:]
	for {
		text, rest, found := strings.Cut(format, "%")
		c.Printf("%s", text)
		switch {
		case !found:
			return 0
		case strings.HasPrefix(rest, "%"):
			c.Printf("%%")
		case strings.HasPrefix(rest, "s"), strings.HasPrefix(rest, "d"):
			if len(args) > 0 {
				c.Printf("%s", args[0])
				args = args[1:]
			}
		default:
			c.Errorf("printf: bad %%%s\n", rest[:min(1, len(rest))])
			return 1
		}
		format = rest[1:]
	}
}

// sleep sleeps on the phone's clock.
func sleep(c *Call, then func(code int)) {
	seconds, err := strconv.ParseFloat(c.Arg(0), 64)
	if err != nil || !(seconds >= 0 && seconds <= 86_400) {
		c.Errorf("sleep: Unknown suffix '%s'\n", c.Arg(0))
		then(1)
		return
	}
	c.host.Clock.At(c.host.Clock.Now()+time.Duration(seconds*float64(time.Second)), func() {
		if !c.Shell.ended {
			then(0)
		}
	})
}

// runScript is sh FILE and sh -c COMMAND.
func runScript(c *Call, then func(code int)) {
	var text string
	switch {
	case len(c.Args) >= 2 && c.Arg(0) == "-c":
		text = c.Arg(1)
	case len(c.Args) >= 1:
		data, err := c.host.Files.Read(c.Arg(0))
		if err != nil {
			c.Errorf("sh: %v\n", err)
			then(127)
			return
		}
		if known, ok := c.host.Commands["script "+paths.Base(c.Arg(0))]; ok {
			known.Run(&Call{Shell: c.Shell, Args: c.Args[1:], As: c.As, Streams: c.Streams}, then)
			return
		}
		text = string(data)
	default:
		text = string(c.In)
	}
	s := c.Shell
	if len(s.exits) > maxDepth {
		c.Errorf("sh: scripts are nested too deep\n")
		then(126)
		return
	}
	s.eval(text, c.Streams, s.enclose(then))
}

// which is command -v NAME….
func which(c *Call) (code int) {
	for _, name := range c.Args[min(len(c.Args), 1):] {
		if _, known := c.host.find(name); !known {
			code = 1
			continue
		}
		c.Printf("%s\n", name)
	}
	return code
}

func cat(c *Call) int {
	if len(c.Args) == 0 {
		c.Out.Write(c.In)
		return 0
	}
	code := 0
	for _, name := range c.Args {
		data, err := c.host.Files.Read(name)
		if err != nil {
			c.Errorf("cat: %v\n", err)
			code = 1
			continue
		}
		c.Out.Write(data)
	}
	return code
}

func ls(c *Call) int {
	args, options := c.Plain()
	if len(args) == 0 {
		args = []string{"/"}
	}
	code := 0
	for _, name := range args {
		name = storage.Clean(name)
		i, err := c.host.Files.Stat(name)
		if err != nil {
			c.Errorf("ls: %v\n", err)
			code = 1
			continue
		}
		names, dir := []string{name}, ""
		if i.IsDir() && !strings.Contains(options, "d") {
			names, dir = c.host.Files.List(name), name
		}
		for _, n := range names {
			if !strings.Contains(options, "l") {
				c.Printf("%s\n", n)
				continue
			}
			f, err := c.host.Files.Stat(paths.Join(dir, n))
			if err == nil {
				c.Printf("%s shell    shell    %8d %s %s\n", f.Mode(), f.Size(), f.ModTime().Format("2006-01-02 15:04"), n)
			}
		}
	}
	return code
}

// stat is stat -c FORMAT FILE…, with %s (the size) and %n (the name).
func stat(c *Call) int {
	if len(c.Args) < 2 || c.Args[0] != "-c" {
		c.Errorf("stat: Needs -c\n")
		return 1
	}
	code := 0
	for _, name := range c.Args[2:] {
		i, err := c.host.Files.Stat(name)
		if err != nil {
			c.Errorf("stat: %v\n", err)
			code = 1
			continue
		}
		c.Printf("%s\n", strings.NewReplacer("%s", strconv.FormatInt(i.Size(), 10), "%n", name).Replace(c.Args[1]))
	}
	return code
}

func rm(c *Call) int {
	args, options := c.Plain()
	code := 0
	for _, name := range args {
		err := c.host.Files.Remove(name, strings.Contains(options, "r"))
		if err != nil && !strings.Contains(options, "f") {
			c.Errorf("rm: %v\n", err)
			code = 1
		}
	}
	return code
}

func mkdir(c *Call) int {
	args, options := c.Plain()
	code := 0
	for _, name := range args {
		if err := c.host.Files.MakeDir(name, strings.Contains(options, "p")); err != nil {
			c.Errorf("mkdir: %v\n", err)
			code = 1
		}
	}
	return code
}

// test is test -e FILE, -d, -f, -n STRING, -z STRING, A = B and A != B.
func test(c *Call) int {
	args := c.Args
	if n := len(args); n > 0 && args[n-1] == "]" {
		args = args[:n-1]
	}
	ok := false
	switch {
	case len(args) == 2 && (args[0] == "-e" || args[0] == "-f" || args[0] == "-d" || args[0] == "-s"):
		i, err := c.host.Files.Stat(args[1])
		ok = err == nil && (args[0] == "-e" || i.IsDir() == (args[0] == "-d"))
		ok = ok || (args[0] == "-d" || args[0] == "-e") && c.host.isProcess(storage.Clean(args[1]))
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

// df prints the storage: in toolbox's format before Android 6, in toybox's since.
func df(c *Call) int {
	const total = 12_582_912 // KiB
	used := 2_097_152 + c.host.Files.Used()>>10
	if c.host.Files.Full {
		used = total
	}
	if c.host.API < 23 {
		c.Printf("Filesystem               Size     Used     Free   Blksize\n")
		c.Printf("%-20s %8s %8s %8s   4096\n", "/data", human(total), human(used), human(total-used))
		return 0
	}
	c.Printf("Filesystem     1K-blocks    Used Available Use%% Mounted on\n")
	c.Printf("/dev/block/dm-0 %9d %7d %9d %3d%% /data\n", int64(total), used, total-used, 100*used/total)
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
