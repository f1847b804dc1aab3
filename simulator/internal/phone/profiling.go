package phone

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/logcat"
	"github.com/apkgate/apkgate/simulator/internal/methodtrace"
	"github.com/apkgate/apkgate/simulator/internal/recorders"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// profiling is what a process's runtime records of its calls.
type profiling struct {
	mode      methodtrace.Mode
	every     time.Duration // between two samples
	recording methodtrace.Recording
	file      string
	begun     time.Duration // 0 until the UI thread has handled the request
}

// profileAsked is an `am profile` command.
type profileAsked struct {
	profiling
	low, start    bool
	lasts         time.Duration // of long-running ones
	process, file string
}

// The API levels that brought the options of am profile (ActivityManagerShellCommand.runProfile).
const (
	profileSampling    = 21
	profileStreaming   = 26
	profileClock       = 35
	profileLowOverhead = 36
)

// amProfile is am profile start|stop and am profile lowoverhead start|stop.
func amProfile(c *call, then func(code int)) {
	a, problem := c.parseProfile()
	if problem != "" {
		c.Errorf("%s\n", problem)
		then(255)
		return
	}
	pr := c.processOf(a.process)
	if a.start && (pr == nil || pr.usage == nil) {
		c.refuse("java.lang.IllegalArgumentException: Unknown process: "+a.process, then)
		return
	}
	if a.start && c.options.Production && pr.app.Power.Unprofileable && !pr.app.Power.Debuggable {
		c.refuse("java.lang.SecurityException: Process not debuggable, and not profileable by shell: "+pr.app.Package, then)
		return
	}
	if a.file != "" {
		if err := c.files.Write(a.file, nil, 0o644); err != nil { // opened by the command, written by the app
			c.Errorf("Error: Unable to open file: %s\n", a.file)
			then(255)
			return
		}
	}
	if pr != nil && pr.usage != nil { // oneway: the command does not wait for the app
		const binder, handles = 2 * time.Millisecond, time.Millisecond
		c.clock.At(pr.draws.Free(c.clock.Now()+binder)+handles, func() { c.handleProfile(pr, a) })
	}
	then(0)
}

// refuse prints the exception of a shell command.
func (c *call) refuse(exception string, then func(code int)) {
	c.Errorf("\nException occurred while executing 'profile':\n%s\n\tat com.android.server.am.ActivityManagerService.profileControl(ActivityManagerService.java)\n", exception)
	then(255)
}

// processOf returns the running process of a name or a pid, or nil.
func (p *Phone) processOf(name string) *process {
	for _, pkg := range sortedKeys(p.state.running) {
		if pr := p.state.running[pkg]; pkg == name || strconv.Itoa(pr.PID) == name {
			return pr
		}
	}
	return nil
}

// parseProfile parses the words after am profile.
func (c *call) parseProfile() (a profileAsked, problem string) {
	a.recording.Clock = methodtrace.Dual
	words := slices.Clone(c.Args)
	next := func() (word string) {
		if len(words) > 0 {
			word, words = words[0], words[1:]
		}
		return word
	}
	verb := next()
	if verb == "lowoverhead" && c.profile.API >= profileLowOverhead {
		a.low, a.mode = true, methodtrace.AllMethods
		verb = next()
	}
	if a.start = verb == "start"; !a.start && verb != "stop" {
		return a, "Error: Profile command " + verb + " not valid"
	}
	for len(words) > 0 && strings.HasPrefix(words[0], "--") {
		option := next()
		if a.start && a.low {
			switch option {
			case "--longrunning":
				a.mode = methodtrace.LongRunning
			case "--duration":
				ms, _ := strconv.Atoi(next())
				a.lasts = time.Duration(ms) * time.Millisecond
			}
			continue // others are ignored
		}
		if problem := c.profileOption(&a, option, next); problem != "" {
			return a, problem
		}
	}
	if a.process = next(); a.process == "" {
		return a, "Error: Argument expected after \"" + verb + "\""
	}
	if a.start != a.low {
		a.file = next()
	}
	if a.start && !a.low && a.file == "" {
		return a, "Error: Argument expected after \"" + a.process + "\""
	}
	return a, ""
}

// profileOption parses an option of am profile start or stop.
func (c *call) profileOption(a *profileAsked, option string, next func() string) (problem string) {
	switch {
	case option == "--user":
		next()
	case option == "--sampling" && a.start && c.profile.API >= profileSampling:
		us, err := strconv.Atoi(next())
		if err != nil || us <= 0 {
			return "Error: Invalid sampling interval"
		}
		a.mode, a.every = methodtrace.Sampled, time.Duration(us)*time.Microsecond
	case option == "--streaming" && a.start && c.profile.API >= profileStreaming:
		a.recording.Streaming = true
	case option == "--clock-type" && a.start && c.profile.API >= profileClock:
		clock := methodtrace.Clock(next())
		if !slices.Contains([]methodtrace.Clock{methodtrace.Wall, methodtrace.CPU, methodtrace.Dual}, clock) {
			return "Error: Unknown clock type: " + string(clock)
		}
		a.recording.Clock = clock
	case option == "--profiler-output-version" && a.start && c.profile.API >= profileLowOverhead:
		a.recording.V2 = next() == "2"
	default:
		return "Error: Unknown option: " + option
	}
	return ""
}

// allowsProfileCode is the property of a build whose compiled code can call the low-overhead tracer.
const allowsProfileCode = "dalvik.vm.allow_profile_code"

// handleProfile is the app's side, on its UI thread (ActivityThread.handleProfilerControl).
func (p *Phone) handleProfile(pr *process, a profileAsked) {
	if pr.dead {
		return
	}
	if a.low && p.property(allowsProfileCode) != "true" {
		p.says(pr, "ActivityThread", "Low overhead tracing feature is not enabled")
		return
	}
	running := pr.profiles
	switch {
	case a.start && running != nil:
		p.startAgain(pr, a)
	case a.start:
		p.startProfiling(pr, a)
	case running == nil || a.low != running.low():
		p.says(pr, p.runtimeTag(pr), "Trace stop requested, but no trace currently running")
	default:
		running.file = cmp.Or(running.file, a.file)
		p.endProfiling(pr)
	}
}

func (o *profiling) low() bool {
	return o.mode == methodtrace.LongRunning || o.mode == methodtrace.AllMethods
}

// defaultLong is how long a recording of long calls lasts by itself (kDefaultTraceDurationNs).
const defaultLong = 2 * time.Second

// startProfiling begins to record a process.
func (p *Phone) startProfiling(pr *process, a profileAsked) {
	o := a.profiling
	o.begun, o.file = p.clock.Now(), a.file
	pr.profiles = &o
	if o.mode == methodtrace.LongRunning {
		p.expireProfiling(pr, &o, cmp.Or(a.lasts, defaultLong))
	}
}

// expireProfiling drops a recording of long calls after its time.
func (p *Phone) expireProfiling(pr *process, o *profiling, lasts time.Duration) {
	o.recording.Until = max(o.recording.Until, p.clock.Now()+lasts)
	p.clock.At(p.clock.Now()+lasts, func() {
		if pr.profiles == o && p.clock.Now() >= o.recording.Until {
			pr.profiles = nil
		}
	})
}

// startAgain is a start while something is recorded: only recordings of long calls are extended.
func (p *Phone) startAgain(pr *process, a profileAsked) {
	if a.mode == methodtrace.LongRunning && pr.profiles.mode == methodtrace.LongRunning {
		p.expireProfiling(pr, pr.profiles, cmp.Or(a.lasts, defaultLong))
		return
	}
	p.says(pr, p.runtimeTag(pr), "Trace already in progress, ignoring this request")
}

// runtimeTag is the tag of ART's messages: the process's name.
func (p *Phone) runtimeTag(pr *process) string {
	return pr.app.Package[max(0, len(pr.app.Package)-15):]
}

func (p *Phone) says(pr *process, tag, text string) {
	p.log.Add(logcat.Entry{Buffer: "main", PID: pr.PID, TID: pr.PID, Priority: 'W', Tag: tag, Text: text})
}

// bufferSize is ART's buffer unless the property debug.traceview-buffer-size-mb says otherwise, and
// writesPerSecond how fast a file is written.
const (
	bufferSize      = 8 << 20
	writesPerSecond = 40 << 20
)

// endProfiling ends a recording, whose file is complete a while later.
func (p *Phone) endProfiling(pr *process) {
	o := pr.profiles
	pr.profiles = nil
	if o.file == "" {
		return
	}
	data := p.recordedCalls(pr, o)
	takes := 5*time.Millisecond + time.Duration(len(data))*time.Second/writesPerSecond
	p.clock.At(p.clock.Now()+takes, func() {
		if !pr.dead {
			_ = p.files.Write(o.file, data, 0o644)
		}
	})
}

// recordedCalls returns the file of a recording that ends now.
func (p *Phone) recordedCalls(pr *process, o *profiling) []byte {
	now := p.clock.Now()
	switch chart := p.chart(pr, o.begun, now); o.mode {
	case methodtrace.LongRunning:
		return chart.LowOverhead(o.begun, now)
	case methodtrace.AllMethods:
		return chart.Latest(o.begun, now)
	default:
		r := p.recordingOf(pr, o)
		return r.Bytes()
	}
}

// recordingOf returns what is recorded of all calls, or of samples, until now.
func (p *Phone) recordingOf(pr *process, o *profiling) methodtrace.Recording {
	r := o.recording
	r.Chart, r.From, r.Until, r.Every = p.chart(pr, o.begun, p.clock.Now()), o.begun, p.clock.Now(), o.every
	r.Buffer, r.VM = bufferSize, "art"
	if p.profile.API < 21 {
		r.VM = "dalvik"
	}
	if mb, err := strconv.Atoi(p.property("debug.traceview-buffer-size-mb")); err == nil && mb > 0 {
		r.Buffer = min(mb, 64) << 20
	}
	return r
}

// dropProfiling is the end of a process whose calls are recorded. One that crashes ends its
// recording first (RuntimeInit.KillApplicationHandler); of one that is killed, what it has in memory
// is lost.
func (p *Phone) dropProfiling(pr *process, crashes bool) {
	o := pr.profiles
	pr.profiles = nil
	if o == nil || o.low() || o.file == "" {
		return
	}
	r := p.recordingOf(pr, o)
	data := r.Killed()
	if crashes {
		data = r.Bytes()
	}
	_ = p.files.Write(o.file, data, 0o644)
}

// recordingCost returns how much longer a process takes because its calls are recorded.
func (p *Phone) recordingCost(app *simapp.App) func(calls int, work time.Duration) time.Duration {
	return func(calls int, work time.Duration) (more time.Duration) {
		if pr := p.state.running[app.Package]; pr != nil && pr.profiles != nil {
			more = pr.profiles.mode.Cost(calls, work, pr.profiles.every)
		}
		return more + recorders.SamplingCost(p.host, app.Package, work)
	}
}

// stretchBlock lengthens a block of the UI thread, which begins now, by what recording it costs.
func (p *Phone) stretchBlock(pr *process, i int) {
	if pr.dead || i >= len(pr.busy) {
		return
	}
	b := &pr.busy[i]
	calls, _ := simapp.Count(pr.app.CallsAfter(b.Event, p.context()))
	if more := p.recordingCost(pr.app)(max(calls, 1), b.For); more > 0 {
		pr.draws.HoldFrom(p.clock.Now(), b.At+b.For, more)
		b.For += more
	}
}
