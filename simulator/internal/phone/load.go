package phone

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/dispatch"
	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// load is what apkgate's script for loads (collect/load) does to the phone: its processes, and what
// they take. The script itself is run by a real mksh in that package's tests.
type load struct {
	phone     *Phone
	call      *call
	job       *shell.Job   // the script
	others    []*shell.Job // its other processes
	memory    []*shell.Job // those that hold memory
	until     time.Duration
	cpu       float64 // the share of each CPU
	storage   int
	downloads int
	host      string // of the downloads
	failed    map[string]bool
	ended     func() // of the CPUs' load
	then      func(code int)
}

// tool is a program that only the script for loads runs.
func tool(since int) shell.Command {
	return shell.Command{Since: since, Run: func(_ *shell.Call, then func(code int)) { then(0) }}
}

// The files of the script, and how much memory each of its processes holds.
const (
	loadPath   = "/data/local/tmp/apkgate-load"
	loadEvery  = 500 * time.Millisecond
	loadHolds  = 31 << 10 // KiB
	loadWrites = 4 << 10  // bytes of a file, for 64 MiB
)

// loadScript is sh apkgate-load.sh SECONDS [cpu CORES PERCENT] [memory MIB] [storage FILES]
// [downloads NUMBER URL].
func loadScript(c *call, then func(code int)) {
	l := &load{phone: c.Phone, call: c, failed: map[string]bool{}, ended: func() {}, then: then}
	l.until = c.clock.Now() + time.Duration(number(c.Arg(0)))*time.Second
	l.job = &shell.Job{Name: "sh", Line: "sh " + loadPath + ".sh", Signal: func(int) { l.end() }}
	c.AddJob(l.job)
	c.load = l
	for i := 1; i < len(c.Args); i++ {
		switch c.Args[i] {
		case "cpu":
			l.cpu = float64(number(c.Arg(i+2))) / 100
			l.ended = c.power.Load(l.cpu)
			for range number(c.Arg(i + 1)) {
				l.add("sh", l.job.Line)
			}
			c.Printf("ready: cpu\n")
		case "memory":
			for left := number(c.Arg(i + 1)); left > 0 && c.has("dd"); left -= 32 {
				l.memory = append(l.memory, l.add("dd", "dd if=/dev/urandom bs=32505856 count=1"))
			}
			c.clock.At(c.clock.Now()+time.Second, l.hold)
			if after := c.options.LoadKilledAfter; after > 0 {
				c.clock.At(c.clock.Now()+after, l.kill)
			}
		case "storage":
			l.storage = number(c.Arg(i + 1))
			l.write()
			l.ready("storage")
		case "downloads":
			l.downloads = number(c.Arg(i + 1))
			if at, err := url.Parse(c.Arg(i + 2)); err == nil {
				l.host = at.Host
			}
			l.get(c.Arg(i + 2))
			l.ready("downloads")
		}
	}
	l.tick()
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return min(n, 1<<20)
}

// has reports whether the phone's Android has a command.
func (c *call) has(name string) bool {
	cmd, known := c.host.Commands[name]
	return known && c.profile.API >= cmd.Since
}

// add starts a process of the load.
func (l *load) add(name, line string) *shell.Job {
	j := &shell.Job{Name: name, Line: line}
	j.Signal = func(int) { l.phone.host.EndJob(j) }
	l.phone.host.Add(j)
	l.others = append(l.others, j)
	return j
}

// runs reports whether the script still runs: a restart of the phone ends it without a word.
func (l *load) runs() bool { return l.phone.host.HasJob(l.job) }

// tick looks at the switch each half second.
func (l *load) tick() {
	if !l.runs() {
		l.over()
		return
	}
	if _, err := l.phone.files.Stat(loadPath + "-on"); err != nil || l.phone.clock.Now() >= l.until {
		l.end()
		return
	}
	if l.storage > 0 && !l.failed["storage"] {
		l.write()
	}
	if l.downloads > 0 && l.phone.state.network == "none" {
		l.fail("downloads", l.none())
	}
	l.phone.clock.At(l.phone.clock.Now()+loadEvery, l.tick)
}

// end ends the load, which removes its files.
func (l *load) end() {
	for n := range l.storage {
		_ = l.phone.files.Remove(fmt.Sprint(loadPath, "-w", n+1), false)
	}
	l.phone.host.EndJob(l.job)
	l.over()
	if then := l.then; then != nil {
		l.then = nil
		then(0)
	}
}

// over gives back what the load took.
func (l *load) over() {
	l.ended()
	for _, j := range l.others {
		l.phone.host.EndJob(j)
	}
	if l.phone.load == l {
		l.phone.load = nil
		l.phone.power.HeldKB = 0
	}
}

// hold counts the memory of the processes that still run.
func (l *load) hold() {
	if !l.runs() {
		return
	}
	held := 0
	for _, j := range l.memory {
		if l.phone.host.HasJob(j) {
			held += loadHolds
		}
	}
	l.phone.power.HeldKB = held
}

// kill is what Android's low memory killer does.
func (l *load) kill() {
	if !l.runs() {
		return
	}
	for _, j := range l.memory {
		l.phone.host.EndJob(j)
	}
	l.hold()
	l.call.Printf("ended: memory: its processes were killed\n")
}

// write writes the files of the load.
func (l *load) write() {
	if !l.call.has("dd") {
		l.fail("storage", "/system/bin/sh: dd: inaccessible or not found")
	}
	for n := range l.storage {
		name := fmt.Sprint(loadPath, "-w", n+1)
		if err := l.phone.files.Write(name, make([]byte, loadWrites), 0o644); err != nil {
			_ = l.phone.files.Remove(name, false)
			l.fail("storage", fmt.Sprintf("dd: %s: %v", name, err))
		}
	}
}

// get downloads from an address: by nc, or by curl, which https needs.
func (l *load) get(address string) {
	plain := len(address) > 5 && address[:5] == "http:" && l.call.has("nc")
	if !plain && !l.call.has("curl") || !l.call.has("timeout") || l.phone.state.network == "none" {
		l.fail("downloads", l.none())
	}
}

func (l *load) none() string {
	return fmt.Sprintf("0 bytes came from %s, where 65536 are the least", l.host)
}

// ready says that a part of the load is there, unless it failed.
func (l *load) ready(part string) {
	if !l.failed[part] {
		l.call.Printf("ready: %s\n", part)
	}
}

// fail says why a part of the load ended, once.
func (l *load) fail(part, why string) {
	if !l.failed[part] {
		l.failed[part] = true
		l.call.Printf("failed: %s: %s\n", part, why)
	}
}

// factors returns what becomes longer beside the load; none of it was measured on a phone. A CPU that
// is shared with a process that asks for s of it leaves 1 - s/2, as the kernel's scheduler is fair.
// Two files that are written halve the storage, and ten downloads the network.
func (l *load) factors() (f dispatch.Loads) {
	if l == nil || !l.runs() {
		return f
	}
	f.CPU = 1 / (1 - l.cpu/2)
	if !l.failed["storage"] {
		f.IO = 1 + float64(l.storage)/2
	}
	if !l.failed["downloads"] {
		f.Network = 1 + float64(l.downloads)/10
	}
	return f
}

// slows returns the factor on all work beside the load: of its CPU, of the pages that have to be made
// where memory is held, and of the storage, which pages are read from.
func (l *load) slows() float64 {
	f := l.factors()
	factor := cmp.Or(f.CPU, 1)
	if l != nil && l.phone.power.HeldKB > 0 {
		factor *= 1.15
	}
	if f.IO > 1 {
		factor *= 1.1
	}
	return factor
}
