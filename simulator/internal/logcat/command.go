package logcat

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// follower is a running logcat.
type follower struct {
	log     *Log
	format  format
	buffers []string
	filter  filter
	since   time.Time // the wall clock from which on it prints, zero: everything
	last    int       // entries at most; 0: all
	resize  string    // the size that buffers are to have, "" for none
	sizes   bool      // prints the buffers' sizes
	dump    bool
	out     io.Writer
	begun   map[string]bool
}

// filter selects entries by tag and priority.
type filter struct {
	tags    map[string]byte
	rest    byte // the priority for all other tags
	pattern *regexp.Regexp
	pid     int
}

// Priorities are the priorities of entries, lowest first.
const Priorities = "VDIWEF"

// silent is the priority that suppresses everything.
const silent = 'S'

func (f filter) passes(e Entry) bool {
	least, ok := f.tags[e.Tag]
	if !ok {
		least = f.rest
	}
	switch {
	case least == silent, strings.IndexByte(Priorities, e.Priority) < strings.IndexByte(Priorities, least):
		return false
	case f.pid != 0 && f.pid != e.PID:
		return false
	}
	return f.pattern == nil || f.pattern.MatchString(e.Text)
}

// parse parses TAG:PRIORITY.
func (f *filter) parse(spec string) bool {
	tag, level, ok := strings.Cut(spec, ":")
	priority := byte('V')
	if ok && level != "" {
		priority = strings.ToUpper(level[:1])[0]
		if level == "*" {
			priority = 'V'
		}
	}
	if strings.IndexByte(Priorities+"S", priority) < 0 || tag == "" {
		return false
	}
	if tag == "*" {
		f.rest = priority
	} else {
		f.tags[tag] = priority
	}
	return true
}

func (f *follower) show(e Entry) {
	if !slices.Contains(f.buffers, e.Buffer) || !f.filter.passes(e) {
		return
	}
	if !f.begun[e.Buffer] {
		f.begun[e.Buffer] = true
		dir := ""
		if f.log.API < 21 { // before logd, logs were device files
			dir = "/dev/log/"
		}
		f.out.Write([]byte("--------- beginning of " + dir + e.Buffer + "\n"))
	}
	f.out.Write(f.log.print(f.format, e))
}

// Command is logcat. Without -d it runs until it is hung up.
func (l *Log) Command(c *shell.Call, then func(code int)) {
	l.prune()
	f := &follower{log: l, out: c.Out, begun: map[string]bool{},
		filter: filter{tags: map[string]byte{}, rest: 'V'}, format: format{form: "threadtime", boot: l.Boot}}
	if f.log.API < 24 {
		f.format.form = "brief"
	}
	other, problem := f.options(c)
	switch {
	case problem != "" && f.resize != "":
		c.Errorf("logcat: %s\n", problem)
		then(1)
		return
	case other == "" && f.resize != "":
		then(0)
		return
	case problem != "":
		c.Errorf("%s\nUsage: logcat [options] [filterspecs]\n", problem)
		then(255)
		return
	case other != "":
		c.Printf("%s", other)
		then(0)
		return
	}
	f.showAll(l.entries)
	if f.dump {
		then(0)
		return
	}
	if l.followers == nil {
		l.followers = map[*follower]bool{}
	}
	l.followers[f] = true
	from := l.Clock.Now()
	j := &shell.Job{Name: "logcat", Line: "logcat " + strings.Join(c.Args, " "), CPU: func() time.Duration {
		return time.Duration(float64(l.Chatter)/othersLine*(l.Clock.Now()-from).Seconds()) * lineCPU
	}}
	j.Signal = func(number int) {
		delete(l.followers, f)
		c.EndJob(j)
		then(128 + number)
	}
	c.AddJob(j)
	c.OnEnd(func() {
		delete(l.followers, f)
		c.EndJob(j)
	})
}

// The length of a foreign line in bytes, and the time that logcat takes to skip it, which is
// an assumption, not a measurement.
const (
	othersLine = 100
	lineCPU    = 3 * time.Microsecond
)

// showAll prints the existing entries from the first that is not older than requested,
// whatever the times of later ones (LogReader.cpp, log_find_start).
func (f *follower) showAll(entries []Entry) {
	from := slices.IndexFunc(entries, func(e Entry) bool { return !e.wall.Before(f.since) })
	if from < 0 {
		return
	}
	var chosen []Entry
	for _, e := range entries[from:] {
		if slices.Contains(f.buffers, e.Buffer) && f.filter.passes(e) {
			chosen = append(chosen, e)
		}
	}
	if f.last > 0 && len(chosen) > f.last {
		chosen = chosen[len(chosen)-f.last:]
	}
	for _, e := range chosen {
		f.show(e)
	}
}

// options parses the command line. other is the output of an option that is only a query.
func (f *follower) options(c *shell.Call) (other, problem string) {
	args, silentRest := c.Args, false
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if !strings.HasPrefix(arg, "-") {
			if !f.filter.parse(arg) {
				return "", "Invalid filter expression '" + arg + "'"
			}
			continue
		}
		name, value := arg, ""
		if name2, v, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "--") {
			name, value = name2, v
		} else if strings.Contains(" -v -b -t -T -e -f -r -n -m -G --pid --regex ", " "+arg+" ") {
			if len(args) == 0 {
				return "", "logcat: option requires an argument -- " + strings.TrimLeft(arg, "-")
			}
			value, args = args[0], args[1:]
		} else if len(arg) > 2 && strings.Contains("vbtTG", arg[1:2]) {
			name, value = arg[:2], arg[2:]
		}
		switch name {
		case "-s":
			silentRest = true
		case "-g":
			f.sizes = true
		default:
			if problem = f.option(name, value, f.log.API); problem != "" {
				return "", problem
			}
		}
	}
	if silentRest && f.filter.rest == 'V' {
		f.filter.rest = silent
	}
	if f.buffers == nil {
		f.buffers = []string{"main", "system"}
		if f.log.API >= 21 {
			f.buffers = append(f.buffers, "crash")
		}
	}
	if f.resize != "" {
		problem = f.log.resize(f.buffers, f.resize)
	}
	if f.sizes {
		other = f.log.sizes(f.buffers)
	}
	return other, problem
}

func (f *follower) option(name, value string, api int) (problem string) {
	switch name {
	case "-d":
		f.dump = true
	case "-v":
		for _, word := range strings.Split(value, ",") {
			if !f.format.set(word, api) {
				return "Invalid parameter to -v"
			}
		}
	case "-b":
		return f.addBuffers(value, api)
	case "-G":
		if api < 21 {
			return "Unrecognized Option"
		}
		f.resize = value
	case "-t", "-T":
		if name == "-T" && api < 21 {
			return "Unrecognized Option"
		}
		f.dump = f.dump || name == "-t"
		return f.tail(value)
	case "-e", "--regex":
		if api < 24 {
			return "Unrecognized Option"
		}
		re, err := regexp.Compile(value)
		if err != nil {
			return "Invalid expression '" + value + "'"
		}
		f.filter.pattern = re
	case "--pid":
		pid, err := strconv.Atoi(value)
		if err != nil || api < 24 {
			return "Unrecognized Option"
		}
		f.filter.pid = pid
	default:
		return "Unrecognized Option"
	}
	return ""
}

func (f *follower) addBuffers(value string, api int) (problem string) {
	for _, name := range strings.Split(value, ",") {
		switch name {
		case "main", "system", "events", "radio":
			f.buffers = append(f.buffers, name)
		case "crash":
			if api < 21 {
				return "Unable to open log device '/dev/log/crash': No such file or directory"
			}
			f.buffers = append(f.buffers, name)
		case "all", "default":
			if api < 21 {
				return "Unable to open log device '/dev/log/" + name + "': No such file or directory"
			}
			f.buffers = append(f.buffers, "main", "system", "crash")
			if name == "all" {
				f.buffers = append(f.buffers, "events", "radio")
			}
		default:
			return fmt.Sprintf("unknown buffer %s", name)
		}
	}
	return ""
}

// tail parses the value of -t and -T: a number of entries, or a time.
func (f *follower) tail(value string) (problem string) {
	if n, err := strconv.Atoi(value); err == nil && n > 0 {
		f.last = n
		return ""
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 && seconds < 1e12 {
		f.since = f.log.Boot.Add(time.Duration(seconds * float64(time.Second)))
		if seconds > 1e9 { // since 1970
			f.since = time.UnixMicro(int64(seconds * 1e6))
		}
		return ""
	}
	for _, layout := range []string{"2006-01-02 15:04:05.999999999", "01-02 15:04:05.999999999"} {
		t, err := time.ParseInLocation(layout, value, time.UTC)
		if err != nil {
			continue
		}
		if t.Year() == 0 {
			t = t.AddDate(f.log.Boot.Year(), 0, 0)
		}
		f.since = t
		return ""
	}
	return "-T \"" + value + "\" not in time format"
}
