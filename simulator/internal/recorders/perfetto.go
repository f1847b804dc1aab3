package recorders

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/internal/storage"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/pftrace"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// tracing is a running perfetto.
type tracing struct {
	phone  *Phone
	job    *shell.Job
	config pftrace.Config
	file   string
	begun  time.Duration
	over   bool
	then   func(code int) // for one in the foreground
}

// flushes is how long perfetto takes to exit after a signal.
const flushes = 150 * time.Millisecond

// hasClone reports whether perfetto can clone sessions by name: since its version 49, by its
// own guide on Android 14 and later (docs/getting-started/periodic-trace-snapshots.md).
func (c *call) hasClone() bool { return c.Profile.API >= 34 }

// Perfetto is perfetto [--txt] -c FILE|- -o FILE [--background|--background-wait],
// or perfetto --clone-by-name NAME -o FILE.
func Perfetto(p *Phone, asked *shell.Call, then func(code int)) {
	c := &call{p, asked}
	config, out, name, background := "", "", "", false
	for i := 0; i < len(c.Args); i++ {
		switch a := c.Args[i]; {
		case a == "--version":
			c.Printf("Perfetto v%d.0 (simulated)\n", c.Profile.API)
			then(0)
			return
		case a == "--help" || a == "-h":
			c.perfettoHelp()
			then(1)
			return
		case a == "--query-raw":
			c.queryService()
			then(0)
			return
		case a == "--clone-by-name" && c.hasClone():
			i++
			name = c.Arg(i)
		case a == "-c" || a == "--config":
			i++
			config = c.Arg(i)
		case a == "-o" || a == "--out":
			i++
			out = c.Arg(i)
		case a == "--txt":
		case a == "--background" || a == "-d", (a == "--background-wait" || a == "-D") && c.Profile.API >= 33:
			background = true
		default:
			c.Errorf("perfetto: unrecognized option '%s'\n", a)
			then(1)
			return
		}
	}
	if name != "" {
		c.cloneTracing(name, out, then)
		return
	}
	if c.Property("init.svc.traced") != "running" {
		c.Errorf("perfetto_cmd.cc Could not connect to the traced socket. Is traced running? (persist.traced.enable)\n")
		then(1)
		return
	}
	t, err := c.newTracing(config, out)
	if err != nil {
		c.Errorf("perfetto_cmd.cc %v\n", err)
		then(1)
		return
	}
	c.AddJob(t.job)
	if background {
		c.Printf("%d\n", t.job.PID())
		then(0)
		return
	}
	t.then = then
	c.OnHangUp(func() { t.stop(shell.HangUp) })
}

// perfettoHelp prints perfetto's usage to its standard error.
func (c *call) perfettoHelp() {
	c.Errorf("\nUsage: perfetto\n  --background     -d      : Exits immediately and continues in the background.\n" +
		"  --config         -c      : /path/to/trace/config/file or - for stdin\n  --out            -o      : /path/to/out/trace/file or - for stdout\n")
	if c.hasClone() {
		c.Errorf("  --clone-by-name NAME     : Creates a read-only clone of an existing tracing\n                             session, identified by its unique_session_name.\n")
	}
}

// session returns the running session with the name, or nil.
func (p *Phone) session(name string) *tracing {
	for _, j := range p.Host.Jobs() {
		if t, ok := j.Program.(*tracing); ok && t.config.Name == name {
			return t
		}
	}
	return nil
}

// cloneTracing writes what a session has recorded so far, without ending it. The buffers of a
// session that writes to a file contain only what is not written yet.
func (c *call) cloneTracing(name, out string, then func(code int)) {
	t := c.session(name)
	if t == nil || t.over {
		c.Errorf("perfetto_cmd.cc Tracing session \"%s\" not found\n", name)
		then(1)
		return
	}
	until, from := c.Clock.Now(), t.begun
	if t.config.IntoFile > 0 {
		from = until - (until-t.begun)%t.config.IntoFile
	}
	if err := c.writeTrace(out, t.trace(from, until)); err != nil {
		c.Errorf("perfetto_cmd.cc %v\n", err)
		then(1)
		return
	}
	then(0)
}

// writeTrace writes to a path that perfetto may write to.
func (c *call) writeTrace(out string, trace []byte) error {
	if !strings.HasPrefix(storage.Clean(out), "/data/misc/perfetto-traces/") {
		return fmt.Errorf("could not open %s: Permission denied", out)
	}
	return c.Files.Write(out, trace, 0o644)
}

// newTracing validates the configuration and starts the recording. perfetto may not read the
// shell's files, except in its own folders: before Android 12 a configuration can only come
// through a pipe.
func (c *call) newTracing(config, out string) (*tracing, error) {
	text := string(c.In)
	if config != "-" {
		data, err := c.Files.Read(config)
		if err != nil || c.Profile.API < 31 || !strings.HasPrefix(storage.Clean(config), "/data/misc/perfetto-configs/") {
			return nil, fmt.Errorf("could not open %s", config)
		}
		text = string(data)
	}
	asked, err := pftrace.ParseConfig(text, c.Profile.API)
	if err != nil {
		return nil, fmt.Errorf("the trace config is invalid, bailing out: %w", err)
	}
	if asked.Name != "" && c.session(asked.Name) != nil {
		return nil, fmt.Errorf("a session with the unique_session_name %q exists already", asked.Name)
	}
	if err := c.writeTrace(out, nil); err != nil {
		return nil, err
	}
	c.Settle()
	t := &tracing{phone: c.Phone, config: asked, file: out, begun: c.Clock.Now()}
	t.job = &shell.Job{Program: t, Name: "perfetto", Line: "perfetto " + strings.Join(c.Args, " "), Signal: t.stop, Guarded: true}
	if asked.Duration > 0 {
		c.Clock.At(c.Clock.Now()+asked.Duration, func() { t.stop(shell.Term) })
	}
	return t, nil
}

// stop ends the trace: its file is complete a moment later.
func (t *tracing) stop(int) {
	if t.over || !t.phone.Host.HasJob(t.job) {
		return
	}
	t.over = true
	p, ended := t.phone, t.phone.Clock.Now()
	p.Clock.At(ended+flushes, func() {
		if !p.Host.HasJob(t.job) {
			return
		}
		_ = p.Files.Write(t.file, t.trace(t.begun, ended), 0o644)
		p.Host.EndJob(t.job)
		if t.then != nil {
			t.then(0)
		}
	})
}

// snapshotEvery is the interval of traced's clock snapshots.
const snapshotEvery = 10 * time.Second

// trace returns a file with everything recorded from one time to another.
func (t *tracing) trace(from, until time.Duration) []byte {
	p := t.phone
	w := pftrace.New(uint64(clock.Boottime(t.begun)))
	snapshot := from
	w.Snapshot(clocks(snapshot))
	t.schedule(w, from, until)
	if t.config.Frames {
		w.Frames(p.Timeline(), timeline.Interval{From: from, To: until}, clock.Slept)
	}
	if t.config.Shown {
		w.Shown(p.Timeline(), p.Profile.API, timeline.Interval{From: from, To: until})
	}
	if t.config.Messages {
		t.messages(w, from, until)
	}
	if !t.config.Power {
		w.Snapshot(clocks(until))
		return w.Bytes()
	}
	w.ClearState()
	rails := p.newRails(from)
	for at := from; at <= until; at = (at/t.config.Poll + 1) * t.config.Poll {
		if at-snapshot >= snapshotEvery {
			snapshot = at
			w.Snapshot(clocks(at))
		}
		if len(t.config.Counters) > 0 {
			w.Battery(clock.Boottime(at), p.batteryCounters(at, t.config.Counters))
		}
		if t.config.Rails && rails != nil {
			w.Rails(clock.Boottime(at), rails.describe(), rails.counters(at))
		}
	}
	w.Snapshot(clocks(until))
	return w.Bytes()
}

// ringHolds is the approximate time span of kernel events in a ring buffer of the requested
// size.
const ringHolds = time.Minute

// schedule writes the events of the kernel and of processes, and the process list.
func (t *tracing) schedule(w *pftrace.Writer, from, until time.Duration) {
	if t.config.Ring {
		from = max(from, until-ringHolds)
	}
	during := timeline.Interval{From: from, To: until}
	if t.config.Processes {
		w.Processes(t.phone.Scheduled(), during, clock.Slept)
	}
	if t.config.Kernel {
		// Only init of a debug build lets traced_probes read /proc/kallsyms
		// (security.lower_kptr_restrict in Android's sepolicy).
		asked, forDevelopers := t.config.Ftrace, t.phone.Property("ro.debuggable") == "1"
		asked.Symbols = asked.Symbols && forDevelopers
		// private/genfs_contexts permits sched_waking since Android 12, and sched_wakeup
		// always; a debug build permits everything (traced_probes.te).
		if t.phone.Profile.API < 31 && !forDevelopers {
			asked = asked.Without("sched_waking")
		}
		if !forDevelopers {
			asked.Closed = t.phone.untraceable()
		}
		w.Ftrace(t.phone.Scheduled(), asked, t.phone.Profile.API, during, clock.Slept)
	}
}

// messages writes what the loopers of the apps tell that register with perfetto.
func (t *tracing) messages(w *pftrace.Writer, from, until time.Duration) {
	if t.config.Ring {
		from = max(from, until-ringHolds)
	}
	for _, d := range t.phone.All() {
		if t.phone.Registers(d.App) && t.config.Producer(d.App.Package) && d.Lives(from, until) {
			w.Messages(t.phone.Scheduled(), int32(d.PID), t.phone.Profile.API, timeline.Interval{From: from, To: until}, clock.Slept)
		}
	}
}

// Registers reports whether a process of an app registers the category mq with perfetto: Android
// has the flag on, and the app asks for it (Trace.registerWithPerfetto, which apps may not call).
func (p *Phone) Registers(app *simapp.App) bool {
	return p.Profile.SDKTracing && app.Power.RegistersPerfetto
}

// untraceable returns the apps whose own sections appear in no trace: those that are neither
// debuggable nor profileable (ActivityThread.handleBindApplication,
// Trace.setAppTracingAllowed). On a debug build all are traceable (libcutils,
// atrace_is_app_tracing_enabled).
func (p *Phone) untraceable() (packages []string) {
	for _, d := range p.All() {
		if w := d.App.Power; w.Unprofileable && !w.Debuggable && !slices.Contains(packages, d.App.Package) {
			packages = append(packages, d.App.Package)
		}
	}
	return packages
}

func clocks(at time.Duration) pftrace.Clocks {
	return pftrace.Clocks{Monotonic: at, Boottime: clock.Boottime(at), Realtime: time.Duration(clock.Wall(at).UnixNano())}
}

// batteryCounters returns the requested counters that the phone has.
func (p *Phone) batteryCounters(at time.Duration, asked []string) pftrace.Battery {
	s := p.Battery(at)
	var b pftrace.Battery
	give := func(name string, v float64, there bool) *int64 {
		if !there || !slices.Contains(asked, name) {
			return nil
		}
		n := int64(math.Round(v))
		return &n
	}
	b.ChargeUAH = give("CHARGE", s.Charge, s.HasCharge)
	b.CurrentUA = give("CURRENT", s.Current, s.HasCurrent)
	b.CurrentAvgUA = give("CURRENT_AVG", s.Average, s.HasCurrent)
	b.VoltageUV = give("VOLTAGE", s.VoltageUV, true)
	if slices.Contains(asked, "CAPACITY_PERCENT") {
		percent := float64(s.Percent)
		b.CapacityPercent = &percent
	}
	return b
}
