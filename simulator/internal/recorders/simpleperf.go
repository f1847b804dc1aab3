package recorders

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/perfdata"
	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// sampling is a running simpleperf.
type sampling struct {
	call   *call
	job    *shell.Job
	pkg    string // of --app, or ""
	pid    int    // of -p, or 0
	event  string
	hz     int
	clock  string
	file   string
	words  []string
	offCPU bool // --trace-offcpu
	begun  time.Duration
	until  time.Duration // of --duration
	over   bool
	then   func(code int)
	target *account.Process
}

// Simpleperf is simpleperf record and --version.
func Simpleperf(p *Phone, asked *shell.Call, then func(code int)) {
	c := &call{p, asked}
	switch c.Arg(0) {
	case "--version":
		c.Printf("Simpleperf version 1.%d.simulated\n", c.Profile.API)
		then(0)
	case "list":
		// Of what ShowFeatures prints, the second depends on the kernel.
		features := "dwarf-based-call-graph\n%sset-clockid\n"
		c.Printf(features, map[bool]string{true: "trace-offcpu\n"}[c.tracesOffCPU()])
		then(0)
	case "record":
		c.Args = c.Args[1:]
		c.record(then)
	default:
		c.Errorf("simpleperf E command.cpp:124] unknown command %s\n", c.Arg(0))
		then(1)
	}
}

// offCPUSince is the first version of Android whose simulated phones have Linux 4.2 or later: those
// of Android 10 still have 3.18, as Google's first Pixel.
const offCPUSince = 30

func (c *call) tracesOffCPU() bool { return c.Profile.API >= offCPUSince }

// clockEvents are the software events for time, with Linux's numbers.
var clockEvents = map[string]uint64{"cpu-clock": perfdata.CPUClock, "task-clock": perfdata.TaskClock}

// recordOptions are the supported options of simpleperf record, and whether each has a value.
var recordOptions = map[string]bool{
	"--app": true, "-p": true, "-e": true, "-f": true, "--call-graph": true, "--clockid": true, "-o": true, "--duration": true,
	"-m": true, "--user-buffer-size": true, "--cpu-percent": true, "--size-limit": true,
	"-g": false, "--trace-offcpu": false, "--log-to-android-buffer": false, "--no-dump-kernel-symbols": false, "--no-dump-symbols": false,
	"--exit-with-parent": false, "--no-inherit": false, "--post-unwind=yes": false, "--in-app": false,
}

// Defaults and limits of simpleperf record.
const (
	defaultHz = 4000
	mostHz    = 100_000
)

// record starts recording, or prints why it can't.
func (c *call) record(then func(code int)) {
	s := &sampling{call: c, hz: defaultHz, event: "cpu-cycles", clock: "monotonic", file: "perf.data", then: then,
		words: append([]string{"simpleperf", "record"}, c.Args...)}
	if problem := s.parse(c.Args); problem != "" {
		c.Errorf("simpleperf E %s\n", problem)
		then(1)
		return
	}
	s.begun = c.Clock.Now()
	c.Settle()
	if s.find() == nil {
		c.Errorf("simpleperf I environment.cpp:545] Waiting for process of app %s\n", s.pkg)
	}
	s.job = &shell.Job{Program: s, Name: "simpleperf", Line: strings.Join(s.words, " "), Signal: func(int) { s.stop() }, Died: s.lost}
	c.AddJob(s.job)
	if !c.Detached() {
		c.OnHangUp(s.stop)
	}
	if s.until > 0 {
		c.Clock.At(s.begun+s.until, s.stop)
	}
}

// parse parses the options and returns the error in simpleperf's wording.
func (s *sampling) parse(args []string) string {
	for i := 0; i < len(args); i++ {
		takes, known := recordOptions[args[i]]
		if !known {
			return fmt.Sprintf("command.cpp:80] Unknown option for record command: '%s'. Try `simpleperf help record`", args[i])
		}
		if !takes {
			s.offCPU = s.offCPU || args[i] == "--trace-offcpu"
			continue
		}
		if i+1 == len(args) {
			return fmt.Sprintf("command.cpp:92] No argument following %s option. Try `simpleperf help record`", args[i])
		}
		i++
		if problem := s.option(args[i-1], args[i]); problem != "" {
			return problem
		}
	}
	return s.allowed()
}

func (s *sampling) option(name, value string) string {
	n, err := strconv.ParseFloat(value, 64)
	switch name {
	case "--app":
		s.pkg = value
	case "-e":
		s.event, _, _ = strings.Cut(value, ":")
	case "-o":
		s.file = value
	case "--clockid":
		if s.clock = value; value != "monotonic" && value != "boottime" && value != "perf" {
			return "cmd_record.cpp:1056] Invalid clockid: " + value
		}
	case "-f", "-p", "--duration":
		if err != nil || !(n > 0 && n < 1e9) {
			return fmt.Sprintf("command.cpp:110] Invalid argument %s: %s", name, value)
		}
		switch name {
		case "-f":
			s.hz = min(max(int(n), 1), mostHz)
		case "-p":
			s.pid = int(n)
		default:
			s.until = time.Duration(n * float64(time.Second))
		}
	}
	return ""
}

// allowed returns why the phone does not permit the recording.
func (s *sampling) allowed() string {
	c := s.call
	_, known := clockEvents[s.event]
	if !known || s.event == "task-clock" && c.Sensors.NoTaskClock {
		return fmt.Sprintf("event_selection_set.cpp:262] Event type '%s' is not supported on the device", s.event)
	}
	if s.offCPU && !c.tracesOffCPU() {
		return "cmd_record.cpp:1730] Dumping regs for tracepoint events is not supported by the kernel"
	}
	if s.pid == 0 && s.pkg == "" {
		return "cmd_record.cpp:1180] No threads to monitor. Try `simpleperf help record` for help"
	}
	a := c.App(s.pkg)
	if s.pkg != "" && (a == nil || a.Power.Unprofileable && !a.Power.Debuggable) {
		return fmt.Sprintf("environment.cpp:834] Package %s doesn't exist or isn't debuggable/profileable.", s.pkg)
	}
	return ""
}

// find returns the recorded process: the first match since the beginning.
func (s *sampling) find() *account.Process {
	if s.target != nil {
		return s.target
	}
	for _, d := range s.call.All() {
		if (d.App.Package == s.pkg || d.PID == s.pid) && d.Lives(s.begun, s.call.Clock.Now()+1) {
			s.target = d
			break
		}
	}
	return s.target
}

// perSample is what a sample with a copy of the stack costs the sampled thread. No number of it is
// published: this one is invented.
const perSample = 10 * time.Microsecond

// SamplingCost returns how much longer a thread of a package takes for work while simpleperf samples
// it.
func SamplingCost(host *shell.Host, pkg string, work time.Duration) (more time.Duration) {
	for _, j := range host.Jobs() {
		if s, ok := j.Program.(*sampling); ok && !s.over && s.pkg == pkg {
			more += time.Duration(float64(work) * float64(s.hz) * perSample.Seconds())
		}
	}
	return more
}

// lost ends the recording when its process has ended.
func (s *sampling) lost(pid int) {
	if d := s.find(); d != nil && d.PID == pid {
		s.stop()
	}
}

// processes is how long simpleperf takes after the last sample.
const processes = 250 * time.Millisecond

// stop ends the recording; its file is complete a moment later.
func (s *sampling) stop() {
	if s.over || !s.call.Host.HasJob(s.job) {
		return
	}
	s.over = true
	c, ended := s.call, s.call.Clock.Now()
	if s.find() == nil { // still waiting for the app
		c.Host.EndJob(s.job)
		s.then(1)
		return
	}
	c.Errorf("simpleperf I cmd_record.cpp:826] Recorded for %g seconds. Start post processing.\n", (ended - s.begun).Seconds())
	c.Clock.At(ended+processes, func() {
		if !c.Host.HasJob(s.job) {
			return
		}
		r := s.recording(ended)
		err := c.Files.Write(s.file, r.Bytes(), 0o644)
		c.Errorf("simpleperf I cmd_record.cpp:916] Samples recorded: %d. Samples lost: %d.\n", len(r.Samples), r.Lost)
		c.Host.EndJob(s.job)
		if err != nil {
			c.Errorf("simpleperf E record_file_writer.cpp:70] %v\n", err)
			s.then(1)
			return
		}
		s.then(0)
	})
}

// recording returns the samples up to a time.
func (s *sampling) recording(until time.Duration) perfdata.Recording {
	c, d := s.call, s.target
	code := newCode(d)
	r := perfdata.Recording{
		Config: clockEvents[s.event], Hz: s.hz, Arch: archOf(c.Profile.ABI), Command: s.words, Files: code.files,
		Meta: map[string]string{
			"simpleperf_version": fmt.Sprintf("1.%d.simulated", c.Profile.API), "system_wide_collection": "false", "trace_offcpu": strconv.FormatBool(s.offCPU),
			"event_type_info": fmt.Sprintf("%s,1,%d", s.event, clockEvents[s.event]), "clockid": s.clock, "app_package_name": d.App.Package,
			"android_version": c.Profile.SDK, "android_sdk_version": strconv.Itoa(c.Profile.API), "android_build_type": "userdebug",
			"product_props": c.Profile.Manufacturer + ":" + c.Profile.Model + ":" + c.Property("ro.product.name"),
			"timestamp":     strconv.FormatInt(clock.Wall(s.begun).Unix(), 10), "kernel_version": "simulated",
			"app_type": map[bool]string{true: "debuggable", false: "profileable"}[d.App.Power.Debuggable],
		},
	}
	if r.OffCPU = s.offCPU; s.offCPU {
		r.Meta["event_type_info"] += fmt.Sprintf("\nsched:sched_switch,2,%d", perfdata.SwitchID)
	}
	r.Threads, r.Samples = s.samples(code, until)
	return r
}

// archOf returns the architecture of an ABI, as in uname.
func archOf(abi string) string {
	switch abi {
	case "arm64-v8a":
		return "aarch64"
	case "armeabi-v7a":
		return "armv8l"
	case "x86":
		return "i686"
	}
	return abi
}

// maxSamples limits a recording.
const maxSamples = 1_000_000

// shift returns the offset from the phone's time to the recording's clock.
func (s *sampling) shift() time.Duration {
	if s.clock == "boottime" {
		return clock.Slept
	}
	return 0
}

// samples returns the hits of each thread's CPU time timer, by time.
func (s *sampling) samples(code *code, until time.Duration) ([]perfdata.Thread, []perfdata.Sample) {
	d := s.target
	period := time.Second / time.Duration(s.hz)
	var threads []perfdata.Thread
	place := map[int]int{}
	var out []perfdata.Sample
	for h := range hitsOf(s.call.Phone, d, s.begun, until, period) {
		if len(out) == maxSamples {
			break
		}
		if _, known := place[h.Thread]; !known {
			place[h.Thread] = len(threads)
			threads = append(threads, threadOf(d, h.Thread))
		}
		out = append(out, perfdata.Sample{At: h.at + s.shift(), Thread: place[h.Thread], CPU: h.CPU, Period: period, Chain: code.chain(h.Slice)})
	}
	if s.offCPU && len(threads) > 0 {
		if _, known := place[account.UI]; !known {
			place[account.UI] = len(threads)
			threads = append(threads, threadOf(d, account.UI))
		}
		for _, w := range d.Waiting(s.begun, until) {
			chain := code.chain(power.Slice{Thread: account.UI, Kind: power.Block, Method: w.Method})
			out = append(out, perfdata.Sample{At: w.From + s.shift(), Thread: place[account.UI], Chain: chain, Away: w.To - w.From})
		}
	}
	slices.SortStableFunc(out, func(a, b perfdata.Sample) int { return cmp.Compare(a.At, b.At) })
	return threads, out
}

// threadOf returns a thread with the kernel's name for it.
func threadOf(d *account.Process, thread int) perfdata.Thread {
	t := d.Threads[thread]
	return perfdata.Thread{PID: int(t.PID), TID: int(t.TID), Name: t.Name}
}
