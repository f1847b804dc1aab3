package collect_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// power is the state of the scripted phone's power supply: 1 W while nothing runs, 2 W while the
// workload does, and 4 W after its event "a" and before "b".
type power struct {
	emulator bool
	charger  string // "USB", "AC"; "" on battery
	rails    bool
	current  bool   // the battery reports its current
	hungry   bool   // the workload takes 8 W throughout
	noVolts  bool   // perfetto is older than the counter of the voltage
	noProps  bool   // and than system properties
	noWait   bool   // and than --background-wait
	debug    bool   // the app is a debug build
	dexopt   string // the state of the app's code, in the package manager's words
	// chargeAt is the workload, from 1, after which a charger is connected.
	chargeAt int
	// plugAt is the workload, from 1, in which a charger is connected for a moment.
	plugAt int
	// loseTrace is the workload, from 1, whose trace can't be copied.
	loseTrace int
	estimate  string // of batterystats, in checkin form
	cutStats  int    // the workload, from 1, whose statistics dumpsys gives up
	sensors   string // what `dumpsys sensorservice --proto` prints
	ticks     int    // reported CPU time of the app, 0: 100
	noReset   bool   // batterystats can't be reset
	noClocks  bool   // a trace has no snapshot of the clocks
	// lossyTrace is the workload, from 1, whose trace was partly overwritten.
	lossyTrace int
	// shortTrace is the workload, from 1, in the middle of which perfetto ends by itself.
	shortTrace int
	// noTimeline reports that a trace has no frames, though they were requested.
	noTimeline bool
	noPerfetto bool          // tracing is turned off: perfetto refuses
	asleep     time.Duration // how long the phone was suspended, by a trace
	stuck      bool          // recorders end only when they are killed
	dropped    bool          // the connection breaks when the app is compiled
	// hotFrom and hotTo is when heat throttles the phone, on its clock.
	hotFrom, hotTo time.Duration
	refuse         string // what `cmd package compile` says instead of Success

	// simpleperf is "" if there is none, else "works", "pushed", "not profileable", "no task-clock"
	// or "old kernel".
	simpleperf string

	recording map[string]*recording
	files     map[string][]byte
	pids      int
	unplugged bool
	settings  map[string]string
}

type stretch struct{ from, to time.Duration }

type recording struct {
	path string
	from time.Duration
	kind string // "perfetto", "simpleperf" or "workload"
	line string // the command line
}

func newPower() *power {
	return &power{recording: map[string]*recording{}, files: map[string][]byte{}, settings: map[string]string{
		"screen_off_timeout": "60000", "screen_brightness": "102", "screen_brightness_mode": "1", "perf_harden": "1"}}
}

// watts is the true power at an instant.
func (p *phone) watts(at time.Duration) float64 {
	for _, w := range p.power.workloads(p) {
		if at >= w.from && at < w.to {
			if p.power.hungry {
				return 8
			}
			if since := at - w.from; since > eventA && since <= eventB {
				return 4
			}
			return 2
		}
	}
	return 1
}

// workloads are when the workloads ran, by the log that they wrote.
func (*power) workloads(p *phone) (out []stretch) {
	for _, e := range p.log {
		if strings.HasSuffix(e.line, "apkgate : a") {
			out = append(out, stretch{e.at - eventA, e.at - eventA + workloadTime})
		}
	}
	return out
}

// joules is the energy from the phone's start, by steps of 5 ms.
func (p *phone) joules(from, to time.Duration) float64 {
	const step = 5 * time.Millisecond
	sum := 0.0
	for t := from; t < to; t += step {
		sum += p.watts(t) * step.Seconds()
	}
	return sum
}

// answerPower answers what only a phone with power knows.
func (p *phone) answerPower(command string, words []string, out *strings.Builder) (code int, known bool) {
	w := p.power
	switch {
	case command == "dumpsys battery":
		w.dumpBattery(p, out)
	case command == "dumpsys thermalservice":
		status := 0
		if p.now >= w.hotFrom && p.now < w.hotTo {
			status = 3
		}
		fmt.Fprintf(out, "IsStatusOverride: false\nThermal Status: %d\nHAL Ready: true\n", status)
	case command == "dumpsys battery unplug":
		w.unplugged = true
	case command == "dumpsys battery reset":
		w.unplugged = false
	case command == "getprop security.perf_harden":
		out.WriteString(w.settings["perf_harden"] + "\n")
	case strings.HasPrefix(command, "setprop security.perf_harden "):
		w.settings["perf_harden"] = words[2]
	case strings.HasPrefix(command, "settings get system"):
		out.WriteString(w.settings[words[3]] + "\n")
	case strings.HasPrefix(command, "settings put system"):
		w.settings[words[3]] = words[4]
	case strings.HasPrefix(command, "cat /data/local/tmp/apkgate-perfetto.cfg | perfetto"):
		if w.noPerfetto {
			out.WriteString("Could not connect to the traced socket\n")
			return 1, true
		}
		if strings.Contains(command, "--background-wait") && w.noWait {
			out.WriteString("perfetto: unrecognized option `--background-wait'\n")
			return 1, true
		}
		if w.knowsOfChargers() && w.noProps {
			out.WriteString("config:15:20 error: No field named \"android_system_property_config\"\n")
			return 1, true
		}
		if w.noVolts && bytes.Contains(w.files["config"], []byte("VOLTAGE")) {
			out.WriteString("config:12:20 error: Unexpected value BATTERY_COUNTER_VOLTAGE\n")
			return 1, true
		}
		w.pids++
		pid := strconv.Itoa(7000 + w.pids)
		w.recording[pid] = &recording{"/data/misc/perfetto-traces/apkgate.pftrace", p.now, "perfetto", command}
		out.WriteString(pid + "\n")
	case strings.HasPrefix(command, "test -d /proc/"):
		p.endShort()
		pid := strings.TrimPrefix(words[2], "/proc/")
		r := w.recording[pid]
		if r != nil && r.kind == "workload" && (p.run == nil || p.run.hungUp) {
			delete(w.recording, pid)
			r = nil
		}
		if r == nil {
			return 1, true
		}
	case words[0] == "kill":
		p.endShort()
		pid := words[len(words)-1]
		r := w.recording[pid]
		// SELinux lets the shell terminate perfetto, but neither query it by signal 0 nor kill it.
		if r == nil || r.kind == "perfetto" && (words[1] == "-0" || words[1] == "-KILL") {
			return 1, true
		}
		if words[1] != "-KILL" && !w.stuck {
			p.endRecording(r)
		}
		if words[1] == "-KILL" || !w.stuck {
			delete(w.recording, pid)
		}
	case words[0] == "pkill":
		pattern := regexp.MustCompile(strings.Trim(words[2], "'"))
		for pid, r := range w.recording {
			if pattern.MatchString(r.line) && !w.stuck {
				delete(w.recording, pid)
			}
		}
	case strings.HasSuffix(words[0], "simpleperf"):
		if pushed := w.simpleperf == "pushed"; w.simpleperf == "" || pushed != (words[0] != "simpleperf") {
			return 127, true
		}
	case words[0] == "nohup":
		if w.settings["perf_harden"] != "0" && w.simpleperf != "" {
			w.simpleperf = "hardened"
		}
		w.pids++
		pid := strconv.Itoa(7000 + w.pids)
		out.WriteString(pid + "\n")
		p.background(command, pid)
	case command == "cat /data/local/tmp/apkgate-perf.log":
		out.Write(w.files["/data/local/tmp/apkgate-perf.log"])
	case command == "cat /data/local/tmp/apkgate-workload.log":
		out.WriteString(p.run.out)
	case words[0] == "rm":
		for _, path := range words[1:] {
			delete(w.files, path)
		}
	case command == "cat /proc/stat":
		// Two CPUs; the first is busy all the time.
		fmt.Fprintf(out, "cpu  0 0 0 0\ncpu0 %d 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 %d 0 0 0 0 0 0\n", p.now/(10*time.Millisecond), p.now/(10*time.Millisecond))
	case strings.HasPrefix(command, "dumpsys power"):
		out.WriteString("  mWakefulness=Awake\nDisplay Power: state=ON\n")
	case strings.HasPrefix(command, "dumpsys package"):
		out.WriteString("    userId=10123\n    versionName=1.2.3\n")
		if w.debug {
			out.WriteString("    flags=[ DEBUGGABLE HAS_CODE ]\n")
		}
		out.WriteString(w.dexopt)
	case command == "dumpsys batterystats --reset":
		if w.noReset {
			out.WriteString("Permission Denial: can't dump BatteryStats\n")
			return 0, true
		}
		out.WriteString("Battery stats reset.\n")
	case command == "dumpsys batterystats -c":
		out.WriteString(checkin + w.estimate)
		if w.cutStats > 0 && w.cutStats == p.workloads {
			out.WriteString("\n*** SERVICE 'batterystats' DUMP TIMEOUT (10000ms) EXPIRED ***\n\n")
		}
	case command == "dumpsys sensorservice --proto":
		out.WriteString(w.sensors)
	default:
		return 0, false
	}
	return 0, true
}

// checkin states that the app, UID 10123, held a wakelock for 3 s, received 5000 bytes and sent
// 700.
const checkin = `9,0,i,vers,36,217,X,X
9,0,l,bt,0,12000,12000,12000,12000,1700000000000,12000,12000,4000,4000,0
9,0,l,m,12000,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
9,10123,l,nt,0,0,5000,700,0,0,4,3,0,0
9,10123,l,wl,Sync,0,f,0,0,0,0,3000,p,1,0,3000,3000,0,bp,0,0,0,0,0,w,0,0,0,0
9,0,i,uid,10123,com.example
`

// compiled is the package manager's output on a compilation.
func (w *power) compiled() string {
	if w.refuse != "" {
		return w.refuse + "\n"
	}
	return "Success\n"
}

// endShort ends perfetto in the middle of a workload, with what it has by then.
func (p *phone) endShort() {
	w := p.power
	for pid, r := range w.recording {
		if r.kind != "perfetto" || w.shortTrace == 0 || w.shortTrace != p.workloads || p.last.start < r.from {
			continue
		}
		now := p.now
		p.now = p.last.start + workloadTime/2
		p.endRecording(r)
		p.now, w.shortTrace = now, 0
		delete(w.recording, pid)
	}
}

// endRecording writes what was recorded.
func (p *phone) endRecording(r *recording) {
	w := p.power
	switch r.kind {
	case "simpleperf":
		w.files[r.path] = p.samples()
		if w.simpleperf == "cut" { // the end is missing after all that matters
			w.files[r.path] = w.files[r.path][:len(w.files[r.path])-2]
		}
	case "perfetto":
		w.files[r.path] = p.trace(r.from)
		if w.loseTrace > 0 && w.loseTrace == p.workloads {
			w.files[r.path], w.loseTrace = nil, 0
		}
	}
}

// background starts what was sent to the background: simpleperf, or a workload.
func (p *phone) background(command, pid string) {
	w := p.power
	if strings.HasPrefix(command, "nohup sh -c ") {
		w.recording[pid] = &recording{"/data/local/tmp/apkgate-workload.log", p.now, "workload", command}
		p.begin(command)
		return
	}
	said := "simpleperf I environment.cpp:545] Waiting for process of app com.example\n"
	switch {
	case w.simpleperf == "hardened":
		said = "simpleperf E environment.cpp:324] Try using `adb shell setprop security.perf_harden 0` to allow profiling.\n"
	case w.simpleperf == "old kernel":
		said = "simpleperf E cmd_record.cpp:812] Setting clockid is not supported by the kernel.\n"
	case w.simpleperf == "not profileable":
		said = "simpleperf E environment.cpp:834] Package com.example doesn't exist or isn't debuggable/profileable.\n"
	case w.simpleperf == "no task-clock" && strings.Contains(command, "-e task-clock "):
		said = "simpleperf E event_selection_set.cpp:262] Event type 'task-clock' is not supported on the device\n"
	default:
		w.recording[pid] = &recording{"/data/local/tmp/apkgate-perf.data", p.now, "simpleperf", command}
	}
	w.files["/data/local/tmp/apkgate-perf.log"] = []byte(said)
}

// samples is a recording of one thread at 10 Hz, in the form of report-sample: List.draw between
// the events, Main.open before and after.
func (p *phone) samples() []byte {
	out := append([]byte("SIMPLEPERF"), 1, 0)
	record := func(field protowire.Number, m []byte) {
		r := message(nil, field, m)
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(r))), r...)
	}
	begun := p.last.start
	for i := range 100 {
		since := time.Duration(i)*100*time.Millisecond + 50*time.Millisecond
		symbol := int64(0)
		if since > eventA && since <= eventB {
			symbol = 1
		}
		s := varint(varint(nil, 1, int64(begun+since)), 2, int64(p.last.pid))
		s = message(s, 3, varint(varint(varint(nil, 1, 4096*(symbol+1)), 2, 0), 3, symbol))
		record(1, varint(varint(s, 4, int64(100*time.Millisecond)), 5, 0))
	}
	text := func(b []byte, field protowire.Number, s string) []byte { return message(b, field, []byte(s)) }
	record(3, text(text(text(varint(nil, 1, 0), 2, "/data/app/base.odex"), 3, "com.example.Main.open"), 3, "com.example.List.draw"))
	record(4, text(varint(varint(nil, 1, int64(p.last.pid)), 2, int64(p.last.pid)), 3, "com.example"))
	record(5, text(text(nil, 1, "task-clock"), 2, "com.example"))
	return append(out, 0, 0, 0, 0)
}

func (w *power) dumpBattery(p *phone, out *strings.Builder) {
	charger := w.charger
	if w.chargeAt > 0 && p.workloads >= w.chargeAt {
		charger = "USB"
	}
	out.WriteString("Current Battery Service state:\n")
	if w.unplugged {
		out.WriteString("  (UPDATES STOPPED -- use 'reset' to restart)\n")
	}
	for _, by := range []string{"AC", "USB", "Wireless"} {
		fmt.Fprintf(out, "  %s powered: %v\n", by, by == charger && !w.unplugged)
	}
	out.WriteString("  level: 83\n  scale: 100\n  voltage: 4000\n")
	if w.current && p.api < 29 {
		fmt.Fprintf(out, "  current now: %d\n", -p.microamps(p.now))
	}
}

// microamps is the current at 4 V, which wavers by a thousandth as sensors do.
func (p *phone) microamps(at time.Duration) int64 {
	return int64(math.Round(p.watts(at)/4*1e6)) + int64(at/(250*time.Millisecond)%7)*50
}

// trace is what Perfetto recorded since an instant: readings each 250 ms.
func (p *phone) trace(from time.Duration) []byte {
	var out []byte
	if !p.power.noClocks {
		out = packet(out, from, 6, message(message(nil, 1, varint(varint(nil, 1, 3), 2, int64(from))), 1, varint(varint(nil, 1, 6), 2, int64(from))))
	}
	if p.power.rails {
		descriptor := protowire.AppendString(protowire.AppendTag(varint(nil, 1, 0), 2, protowire.BytesType), "S1M_VDD_ALL")
		out = packet(out, from, 40, message(nil, 1, descriptor))
	}
	if p.power.knowsOfChargers() {
		property := func(at time.Duration, value string) {
			text := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "debug.tracing.plug_type")
			text = protowire.AppendString(protowire.AppendTag(text, 2, protowire.BytesType), value)
			out = packet(out, at, 86, message(nil, 1, text))
		}
		property(from, "0")
		if p.power.plugAt > 0 && p.workloads == p.power.plugAt {
			property(from+3*time.Second, "2")
			property(from+4*time.Second, "0")
		}
	}
	if bytes.Contains(p.power.files["config"], []byte("frametimeline")) && !p.power.noTimeline {
		out = p.timeline(out, from)
	}
	if p.power.lossyTrace > 0 && p.power.lossyTrace == p.workloads {
		out = packet(out, p.now, 35, message(nil, 1, varint(nil, 3, 2))) // chunks of the first buffer
	}
	total := 0.0
	const every = 250 * time.Millisecond
	for at := from; at <= p.now; at += every {
		if p.power.rails {
			data := varint(varint(varint(nil, 1, 0), 2, int64(at/time.Millisecond)), 3, int64(total*1e6))
			out = packet(out, at, 40, message(nil, 2, data))
			total += p.joules(at, at+every)
		}
		if p.power.current {
			counters := varint(nil, 3, -p.microamps(at))
			if !p.power.noVolts {
				counters = varint(counters, 7, 4_000_000)
			}
			out = packet(out, at, 38, counters)
		}
	}
	if asleep := p.power.asleep; asleep > 0 {
		out = packet(out, p.now, 6, message(message(nil, 1, varint(varint(nil, 1, 3), 2, int64(p.now))), 1, varint(varint(nil, 1, 6), 2, int64(p.now+asleep))))
	}
	return out
}

// timeline adds the compositor's report on frames: of one of its own process, and of the app's,
// which are due each 20 ms and have 16 ms.
func (p *phone) timeline(out []byte, from time.Duration) []byte {
	cookie := int64(0)
	slice := func(kind protowire.Number, at, took time.Duration, pid, token, jank int64) {
		cookie++
		m := varint(varint(varint(varint(nil, 1, cookie), 2, token), 3, token+1), 4, pid)
		m = protowire.AppendString(protowire.AppendTag(m, 5, protowire.BytesType), "TX - com.example/com.example.Main#1")
		if jank > 0 {
			m = varint(varint(m, 9, jank), 11, 1)
		}
		out = packet(out, at, 76, message(nil, kind, m))
		out = packet(out, at+took, 76, message(nil, 5, varint(nil, 1, cookie)))
	}
	const expected, actual, onTime, late = 3, 4, 1, 64
	slice(actual, from, 5*time.Millisecond, 600, 1, onTime)
	w := p.last
	if w == nil || w.start < from || w.fault.noFrames {
		return out
	}
	for i := range int64(p.drewBefore) {
		slice(actual, w.start-time.Duration(1+i)*frameEvery, 5*time.Millisecond, int64(w.pid), 1000+i, onTime)
	}
	for i := range int64((workloadTime + p.drawsOn) / frameEvery) {
		due := time.Duration(i) * frameEvery
		if w.start+due > p.now {
			break
		}
		jank := int64(onTime)
		if frameTime(due) > 16*time.Millisecond {
			jank = late
		}
		slice(expected, w.start+due, 16*time.Millisecond, int64(w.pid), 2+i, 0)
		slice(actual, w.start+due, frameTime(due), int64(w.pid), 2+i, jank)
	}
	return out
}

// knowsOfChargers reports whether the configuration requests them.
func (w *power) knowsOfChargers() bool {
	return bytes.Contains(w.files["config"], []byte("system_property"))
}

func varint(b []byte, field protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

// packet adds a packet of Trace (trace_packet.proto), stamped by CLOCK_BOOTTIME, which on this
// phone is CLOCK_MONOTONIC.
func packet(b []byte, at time.Duration, field protowire.Number, m []byte) []byte {
	body := varint(varint(varint(nil, 8, int64(at)), 58, 6), 10, 1)
	return message(b, 1, message(body, field, m))
}
