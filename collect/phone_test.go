package collect_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/usecase/fleet"
)

// The package and its test in all tests here.
const (
	pkg     = "com.example"
	testPkg = "com.example.test"
)

// phone is a scripted device on a clock that only Sleep moves. A workload of 10 s draws a frame
// each 20 ms, 500 in all, and says "a" at 2.005 s and "b" at 5.005 s. Frames take 10 ms, those
// after "a" and before "b" 30 ms.
type phone struct {
	api  int
	fail func(repetition int) fault // nil: nothing fails

	mu        sync.Mutex
	now       time.Duration
	commands  []string
	installed map[string]bool
	serial    string // "" for fake-1
	opened    int
	closed    int
	gone      bool // every call fails
	hungUp    bool // the connection was closed: every call fails
	stayGone  bool // and Open too
	workloads int
	run       *workload
	last      *workload // also after the app was stopped
	log       []entry
	drained   int // frames of the old table that were dumped
	profiling bool
	power     *power // nil: the phone reports none of it
	globals   map[string]string
	addresses string // printed by "ip"
	held      bool   // the connection is an adb server's
	tap       bool   // the workload says "tap" 100 ms before "b"
	// interval is the display's while frames are drawn, as their rows state it; 0: they don't.
	interval time.Duration
	// drawsOn is how long the app continues to draw after the workload.
	drawsOn time.Duration
	// drewBefore are frames of its process that are recorded before the workload begins.
	drewBefore int
	// slowDump is how long a dump of the system takes until it reads the clock.
	slowDump time.Duration
	// breaks reports whether the connection breaks at a command; nil: it never does.
	breaks func(command string) bool
}

// Shared reports whether an adb server holds the connection.
func (p *phone) Shared() bool { return p.held }

type entry struct {
	at   time.Duration
	line string // "I tag: message" as threadtime ends
}

// fault is what goes wrong in one repetition.
type fault struct {
	crash, hang, gone, garbage, restart, anr, noFrames, noEvents, failTest bool
}

type workload struct {
	start   time.Duration
	fault   fault
	pid     int
	ended   chan struct{}
	mark    string // to be written to the log at the end
	hungUp  bool
	out     string
	crashed bool
}

const (
	frameEvery   = 20 * time.Millisecond
	workloadTime = 10 * time.Second
	eventA       = 2005 * time.Millisecond
	eventB       = 5005 * time.Millisecond
)

func newPhone(api int) *phone {
	return &phone{api: api, now: 1000 * time.Second, installed: map[string]bool{pkg: true, testPkg: true}, globals: map[string]string{}}
}

func (p *phone) job(name string) collect.Job {
	return collect.Job{
		Device: name, Clock: p, Open: p.open,
		App: config.App{Package: pkg},
		Scenario: config.Scenario{
			Name: "open", Repetitions: 3, Timeout: time.Minute, Retries: 2,
			Workload: config.Workload{Instrumentation: &config.Instrumentation{TestPackage: testPkg, Class: "com.example.Test#it's"}},
		},
		Network: "wifi",
	}
}

// stationsOf returns the devices of jobs, each opened as in its first job.
func stationsOf(jobs []collect.Job) (stations []fleet.Station) {
	known := map[string]bool{}
	for _, its := range jobs {
		if known[its.Device] {
			continue
		}
		known[its.Device] = true
		bind := func(j *collect.Job) {
			j.Open, j.Clock, j.Owner, j.OwnFor, j.Claim = its.Open, its.Clock, its.Owner, its.OwnFor, its.Claim
		}
		stations = append(stations, fleet.Station{Name: its.Device, Profile: its.Device, Start: func(context.Context, func(string)) (*fleet.Started, error) {
			return &fleet.Started{Bind: bind}, nil
		}})
	}
	return stations
}

func (p *phone) open(context.Context) (device.Device, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened++
	if p.stayGone {
		return nil, fmt.Errorf("connect: %w", device.ErrGone)
	}
	p.gone, p.hungUp = false, false
	return p, nil
}

func (p *phone) Now() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *phone) Sleep(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	p.now += d
	p.advance()
	p.mu.Unlock()
	return ctx.Err()
}

// advance does what is due in the workload.
func (p *phone) advance() {
	w := p.run
	if w == nil || w.hungUp {
		return
	}
	since := p.now - w.start
	if w.fault.gone && since > 3*time.Second {
		p.gone = true
		p.end("")
		return
	}
	if w.fault.crash && since > 3*time.Second {
		at := w.start + 3*time.Second
		p.log = append(p.log,
			entry{at, "E AndroidRuntime: FATAL EXCEPTION: main"},
			entry{at, "E AndroidRuntime: Process: " + pkg + ", PID: " + fmt.Sprint(w.pid)},
			entry{at, "E AndroidRuntime: java.lang.IllegalStateException: no account"})
		w.crashed = true
		p.end("INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n")
		return
	}
	if since >= workloadTime && !w.fault.hang {
		status := "INSTRUMENTATION_STATUS_CODE: 0\n"
		if w.fault.failTest {
			status = "INSTRUMENTATION_STATUS: stack=junit.AssertionError: expected 3\n\tat com.example\nINSTRUMENTATION_STATUS_CODE: -2\n"
		}
		p.end("INSTRUMENTATION_STATUS: class=com.example.Test\nINSTRUMENTATION_STATUS: test=it\nINSTRUMENTATION_STATUS_CODE: 1\n" +
			"INSTRUMENTATION_STATUS: class=com.example.Test\nINSTRUMENTATION_STATUS: test=it\n" + status + "INSTRUMENTATION_CODE: -1\n")
	}
}

func (p *phone) end(out string) {
	p.run.hungUp, p.run.out = true, out
	if p.run.mark != "" && out != "" {
		p.run.out += "apkgate-exit 0\n"
		p.log = append(p.log, entry{min(p.now, p.run.start+workloadTime), "I apkgate-mark: " + p.run.mark})
	}
	close(p.run.ended)
}

func (p *phone) Serial() string {
	if p.serial != "" {
		return p.serial
	}
	return "fake-1"
}

func (p *phone) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed++
	p.hungUp = true
	return nil
}

func (p *phone) Start(_ context.Context, command string) (device.Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands = append(p.commands, command)
	if strings.HasPrefix(command, "cmd package compile ") {
		if p.power.dropped {
			p.gone, p.power.dropped = true, false
			return nil, fmt.Errorf("start: %w", device.ErrGone)
		}
		done := &workload{ended: make(chan struct{}), hungUp: true, out: p.power.compiled()}
		close(done.ended)
		return &process{p, done}, nil
	}
	if strings.HasPrefix(command, "logcat ") { // it follows a log of which nothing is forgotten
		return &process{p, &workload{ended: make(chan struct{})}}, nil
	}
	return &process{p, p.begin(command)}, nil
}

var (
	beginMark = regexp.MustCompile(`log -t apkgate-mark ([\w-]+); (am|monkey|sh) `)
	endMark   = regexp.MustCompile(`echo apkgate-exit \$\?; log -t apkgate-mark ([\w-]+)`)
)

// begin starts a workload.
func (p *phone) begin(command string) *workload {
	p.workloads++
	w := &workload{start: p.now, pid: 4000 + p.workloads, ended: make(chan struct{})}
	if p.fail != nil {
		w.fault = p.fail(p.workloads)
	}
	if m := beginMark.FindStringSubmatch(command); m != nil {
		p.log = append(p.log, entry{w.start, "I apkgate-mark: " + m[1]})
	}
	if m := endMark.FindStringSubmatch(command); m != nil {
		w.mark = m[1]
	}
	p.run, p.last, p.drained = w, w, 0
	p.log = append(p.log, entry{w.start, fmt.Sprintf("I am_proc_start: [0,%d,10123,%s,activity,{com.example/com.example.Main}]", w.pid, pkg)})
	if !w.fault.noEvents {
		p.log = append(p.log, entry{w.start + eventA, "I apkgate : a"})
		if p.tap {
			p.log = append(p.log, entry{w.start + eventB - 100*time.Millisecond, "I apkgate : tap"})
		}
		p.log = append(p.log, entry{w.start + eventB, "I apkgate : b n=1"})
	} else {
		p.log = append(p.log, entry{w.start + eventA, "I input_interaction: Interaction with: 1f com.example/com.example.Main (server), "})
	}
	p.log = append(p.log, entry{w.start + 300*time.Millisecond, "I ActivityTaskManager: Displayed com.example/.Main: +250ms"})
	if w.fault.anr {
		p.log = append(p.log, entry{w.start + 4*time.Second, fmt.Sprintf("I am_anr: [0,%d,%s,8,Input dispatching timed out]", w.pid, pkg)})
	}
	if w.fault.restart {
		p.log = append(p.log, entry{w.start + 4*time.Second, fmt.Sprintf("I am_proc_died: [0,%d,%s,0,2]", w.pid, pkg)})
	}
	return w
}

type process struct {
	p *phone
	w *workload
}

func (r *process) Stdout() io.Reader { return (*output)(r) }

func (r *process) Stderr() []byte { return nil }

func (r *process) Wait() (int, error) {
	<-r.w.ended
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	if r.w.fault.gone {
		return 0, fmt.Errorf("wait: %w", device.ErrGone)
	}
	return 0, nil
}

func (r *process) Close() error {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	if !r.w.hungUp {
		r.w.hungUp = true
		close(r.w.ended)
	}
	return nil
}

type output process

func (o *output) Read(b []byte) (int, error) {
	<-o.w.ended
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	n := copy(b, o.w.out)
	o.w.out = o.w.out[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// noted matches the prefix of a command that changes something: the phone keeps no files.
var noted = regexp.MustCompile(`^(\{ echo [^;]*; \} 2>/dev/null; )+`)

func (p *phone) Exec(_ context.Context, line string) (device.Output, error) {
	line = noted.ReplaceAllString(line, "")
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone || p.hungUp {
		return device.Output{}, fmt.Errorf("exec: %w", device.ErrGone)
	}
	p.commands = append(p.commands, line)
	if p.breaks != nil && p.breaks(line) {
		p.gone = true
		return device.Output{}, fmt.Errorf("exec: %w", device.ErrGone)
	}
	var out strings.Builder
	code := 0
	parts := strings.Split(strings.ReplaceAll(line, device.BootQuery, "boot?"), "; ")
	if strings.HasPrefix(line, "nohup sh -c ") {
		parts = []string{line}
	}
	for _, part := range parts {
		code = p.answer(part, &out)
	}
	return device.Output{Stdout: []byte(out.String()), ExitCode: code}, nil
}

func (p *phone) answer(command string, out *strings.Builder) (code int) {
	if first, otherwise, has := strings.Cut(command, " || pidof "); has {
		if code = p.answer(first, out); code != 0 {
			code = p.answer("pidof "+otherwise, out)
		}
		return code
	}
	command = strings.TrimSuffix(command, " 2>/dev/null")
	words := strings.Fields(command)
	if p.power != nil {
		if code, known := p.answerPower(command, words, out); known {
			return code
		}
	}
	switch {
	case command == "getprop":
		if p.power != nil && p.power.emulator {
			out.WriteString("[ro.hardware]: [ranchu]\n")
		}
		if p.power != nil {
			out.WriteString("[security.perf_harden]: [1]\n")
		}
		fmt.Fprintf(out, "[ro.build.version.sdk]: [%d]\n[ro.build.version.release]: [4.1.2]\n[ro.product.model]: [S3]\n[ro.product.manufacturer]: [samsung]\n[ro.product.cpu.abi]: [x86]\n", p.api)
	case command == "boot?":
		out.WriteString("1,1,stopped\nService package: found\nService activity: found\n")
	case words[0] == "pm" && words[1] == "path":
		if p.installed[words[2]] {
			out.WriteString("package:/data/app/" + words[2] + "\n")
		}
	case words[0] == "pm" && words[1] == "clear":
		out.WriteString("Success\n")
	case words[0] == "setprop":
		p.profiling = words[2] == "true"
	case command == "getprop debug.hwui.profile":
		fmt.Fprintln(out, p.profiling)
	case strings.HasPrefix(command, "settings get global"):
		out.WriteString(p.globals[words[3]] + "\n")
	case strings.HasPrefix(command, "settings put global"):
		p.globals[words[3]] = words[4]
	case command == "svc power stayon true":
		p.globals["stay_on_while_plugged_in"] = "15"
	case command == "svc power stayon false":
		p.globals["stay_on_while_plugged_in"] = "0"
	case command == "ip -o addr":
		out.WriteString(p.addresses)
	case command == "wm size":
		out.WriteString("Physical size: 720x1280\nOverride size: 640x480\n")
	case command == "dumpsys battery":
		out.WriteString("Current Battery Service state:\n  level: 83\n")
	case command == "dumpsys display":
		out.WriteString(`DisplayDeviceInfo{"Built-in Screen": 720 x 1280, modeId 1, renderFrameRate 60.0, defaultModeId 1` + "\n")
	case strings.HasPrefix(command, "dumpsys package"):
		out.WriteString("    versionCode=7 minSdk=16\n    versionName=1.2.3\n")
	case strings.HasPrefix(command, "dumpsys meminfo"):
		out.WriteString("        TOTAL    45678    40000\n")
	case strings.HasPrefix(command, "am force-stop "+pkg) && words[2] == pkg:
		if p.run != nil && !p.run.hungUp {
			p.end("")
		}
		p.run = nil
	case strings.HasPrefix(command, "log -t"):
		p.now += time.Millisecond
		p.log = append(p.log, entry{p.now, "I " + words[2] + ": " + words[3]})
	case words[0] == "logcat":
		p.logcat(out, strings.Contains(command, "-v monotonic"))
	case command == "dumpsys gfxinfo com.android.systemui":
		p.now += p.slowDump
		fmt.Fprintf(out, "Applications Graphics Acceleration Info:\nUptime: %d Realtime: %d\n\n** Graphics info for pid 200 [com.android.systemui] **\n", p.now/time.Millisecond, p.now/time.Millisecond)
	case strings.HasPrefix(command, "dumpsys gfxinfo") && !strings.HasSuffix(command, "reset"):
		p.gfxinfo(out)
	case words[0] == "pidof" && words[1] == pkg && p.run != nil && !p.run.crashed:
		fmt.Fprintf(out, "%d\n", p.run.pid)
	case words[0] == "cat" && words[1] == "/proc/uptime":
		fmt.Fprintf(out, "%.2f 1.00\n", p.now.Seconds())
		if len(words) > 2 { // of the app's process
			if p.run == nil || p.run.crashed {
				return 1
			}
			return p.answer("cat "+words[2], out)
		}
	case words[0] == "echo" && len(words) > 1:
		out.WriteString(strings.Join(words[1:], " ") + "\n")
	case words[0] == "cat" && p.run != nil:
		fmt.Fprintf(out, "%d (com.exam) (ple) S 1 1 0 0 -1 0 0 0 0 0 %d 30 0 0 20 0 9 0 1 2 3\n", p.run.pid, p.userTicks())
	}
	return 0
}

// userTicks is the app's CPU time in user mode.
func (p *phone) userTicks() int {
	if p.power != nil && p.power.ticks > 0 {
		return p.power.ticks - 30
	}
	return 70
}

func (p *phone) logcat(out *strings.Builder, monotonic bool) {
	if monotonic && p.api < 24 {
		out.WriteString("Invalid parameter to -v\n")
		return
	}
	for _, e := range p.log {
		if e.at > p.now {
			continue
		}
		if monotonic {
			fmt.Fprintf(out, "%6d.%03d  900  901 %s\n", e.at/time.Second, e.at/time.Millisecond%1000, e.line)
			continue
		}
		wall := time.Date(2026, 3, 17, 12, 0, 0, 0, time.UTC).Add(e.at)
		fmt.Fprintf(out, "%s  900  901 %s\n", wall.Format("01-02 15:04:05.000"), e.line)
	}
}

// frameTime is how long the frame takes that is due so long after the start.
func frameTime(at time.Duration) time.Duration {
	if at > eventA && at <= eventB {
		return 30 * time.Millisecond
	}
	return 10 * time.Millisecond
}

func (p *phone) gfxinfo(out *strings.Builder) {
	w := p.run
	if w == nil || w.crashed || w.fault.noFrames {
		fmt.Fprintf(out, "No process found for: %s\n", pkg)
		return
	}
	fmt.Fprintf(out, "Applications Graphics Acceleration Info:\nUptime: %d Realtime: %d\n\n", p.now/time.Millisecond, p.now/time.Millisecond)
	due := min(int((p.now-w.start)/frameEvery), int(workloadTime/frameEvery))
	fmt.Fprintf(out, "** Graphics info for pid %d [%s] **\n\n", w.pid, pkg)
	if p.api < 23 {
		out.WriteString("Profile data in ms:\n\n\tcom.example/com.example.Main/android.view.ViewRootImpl@42\n")
		if p.profiling {
			out.WriteString("\tDraw\tProcess\tExecute\n")
			for ; p.drained < due; p.drained++ {
				fmt.Fprintf(out, "\t1.00\t%.2f\t2.00\n", frameTime(time.Duration(p.drained)*frameEvery).Seconds()*1000-3)
			}
		}
		out.WriteString("\nView hierarchy:\n")
		return
	}
	fmt.Fprintf(out, "Stats since: %dns\nTotal frames rendered: %d\nJanky frames: 0 (0.00%%)\n\nProfile data in ms:\n\n\tcom.example/com.example.Main/android.view.ViewRootImpl@42 (visibility=0)\nWindow: com.example/com.example.Main\n\n---PROFILEDATA---\nFlags,IntendedVsync,Vsync,FrameCompleted,FrameInterval,\n", w.start, due)
	for i := max(due-120, 0); i < due; i++ {
		at := time.Duration(i) * frameEvery
		fmt.Fprintf(out, "0,%d,%d,%d,%d,\n", w.start+at, w.start+at, w.start+at+frameTime(at), p.interval)
		if w.fault.garbage && i == due-60 && (p.now-w.start)/time.Second == 4 {
			w.fault.garbage = false
			out.WriteString("\x00\xff\x17 garbage \x01\n")
		}
	}
	out.WriteString("---PROFILEDATA---\n\nView hierarchy:\n")
}

func (p *phone) Push(_ context.Context, src io.Reader, path string, _ fs.FileMode, _ time.Time) error {
	text, err := io.ReadAll(src)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands = append(p.commands, fmt.Sprintf("push %s: %s", path, text))
	if p.power != nil && strings.HasSuffix(path, ".cfg") {
		p.power.files["config"] = text
	}
	return err
}

func (p *phone) Pull(_ context.Context, path string, dst io.Writer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.power == nil || p.power.files[path] == nil {
		return fs.ErrNotExist
	}
	_, err := dst.Write(p.power.files[path])
	return err
}

func (p *phone) Install(_ context.Context, apks ...string) error {
	apk := strings.Join(apks, " ")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands = append(p.commands, "install "+apk)
	if strings.Contains(apk, "huge") {
		return fmt.Errorf("INSTALL_FAILED_INSUFFICIENT_STORAGE")
	}
	switch apk {
	case "test.apk":
		p.installed[testPkg] = true
	case "debug.apk":
		p.installed[pkg+".debug"] = true
	default:
		p.installed[pkg] = true
	}
	return nil
}

func (p *phone) Uninstall(_ context.Context, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands = append(p.commands, "uninstall "+name)
	delete(p.installed, name)
	return nil
}

// idle reports whether no workload has begun since the app was stopped.
func (p *phone) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run == nil
}

func (p *phone) did(command string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, c := range p.commands {
		if c == command {
			n++
		}
	}
	return n
}

// progressFunc is a Progress that calls a function.
type progressFunc func(journal.Event)

func (f progressFunc) Report(e journal.Event) { f(e) }
