package experiments

import (
	"bytes"
	"context"
	"fmt"
	"github.com/apkgate/apkgate/simulator"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/diagnose/jankcause"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
)

// slowCase is a build of an app on a phone, and what makes its frames slow there.
type slowCase struct {
	row      string // of the table: the cause, as the app's file has it, or how it strikes; "" for none: the build is the base's
	strength string
	phone    string
	event    string
	buffered bool     // both builds have frames that are late while a buffer is ready
	app      string   // the build's file
	before   string   // that of the base build
	wants    []string // the kinds that are right
	also     string   // the kind that is to be named behind the first, "" for none
}

func (c slowCase) String() string {
	name := strings.Join([]string{c.row, c.strength, c.phone}, " ")
	if c.buffered {
		name += " buffered"
	}
	return name
}

// slowPhones are of 60 Hz, low-end, without a frame timeline; of 90 Hz, without one too; of
// 120 Hz; and of 90 Hz with the newest Android.
var slowPhones = []string{"c1-go-android-11", "pixel-5-android-11", "galaxy-s21-android-13", "pixel-7-android-14"}

// injected are the causes: a line of the app's file each, with how long it takes and how
// often it strikes left open.
var injected = []struct {
	name, line string
	wants      []string
}{
	{"binder", "blocks binder com.example.backend IFeed::query %s after scroll every %d", []string{jankcause.BinderKind}},
	{"binder through another", "blocks binder com.example.backend IFeed::query %s through com.example.store IStore::get after scroll every %d in layout", []string{jankcause.BinderKind}},
	{"disk read", "blocks disk %s after scroll every %d", []string{jankcause.IOKind}},
	{"disk fsync", "blocks disk %s after scroll every %d by fsync in input", []string{jankcause.IOKind}},
	{"lock", "blocks lock db-writer %s after scroll every %d in measure", []string{jankcause.LockKind}},
	{"lock held on disk", "blocks lock db-writer %s through disk after scroll every %d", []string{jankcause.LockKind}},
	{"cpu", "blocks cpu %s after scroll every %d", []string{jankcause.CPUKind}},
	{"gc", "gc %s after scroll every %d", []string{jankcause.GCKind}},
	{"measure", "work measure %s after scroll every %d", []string{jankcause.MeasureKind}},
	{"layout", "work layout %s after scroll every %d", []string{jankcause.LayoutKind}},
	{"draw", "work draw %s after scroll every %d", []string{jankcause.DrawKind}},
	{"inflate", "work inflate %s after scroll every %d of com.example.Card", []string{jankcause.WorkKind}},
	{"compose", "work compose %s after scroll every %d", []string{jankcause.WorkKind}},
	{"shader", "work shader %s after scroll every %d", []string{jankcause.DrawKind}},
	{"gpu", "gpu %s after scroll every %d", []string{jankcause.GPUKind}},
	{"composition", "blocks composition %s after scroll every %d", []string{jankcause.CompositionKind}},
	{"little", "little after scroll", []string{jankcause.LittleKind}},
	{"slow clock", "slow-clock after scroll", []string{jankcause.FrequencyKind}},
}

// strengths are how often a cause strikes: each N-th frame. One that strikes all has frames
// cost more instead (cost).
var strengths = []struct {
	name  string
	every int
}{{"weak", 20}, {"medium", 7}, {"strong", 3}}

// slowCases returns all causes at three strengths on all phones, buffers ready or not, those that
// strike once, two at a time, and as many builds that are like their base.
func slowCases() (out []slowCase) {
	for _, phone := range slowPhones {
		for _, buffered := range []bool{false, true} {
			for _, cause := range injected {
				for _, s := range strengths {
					c := slowCase{row: cause.name, strength: s.name, phone: phone, event: "scroll", buffered: buffered, wants: cause.wants}
					line := cause.line
					if strings.Contains(line, "%d") {
						line = fmt.Sprintf(line, c.on().late, s.every)
					}
					c.app, c.before = scrolling(c.cost(), c.lateFrames()+line+"\n"), scrolling(c.cost(), c.lateFrames())
					out = append(out, c)
				}
			}
			for range len(injected) {
				c := slowCase{phone: phone, event: "scroll", buffered: buffered}
				c.app = scrolling(c.cost(), c.lateFrames())
				c.before = c.app
				out = append(out, c)
			}
		}
		for _, once := range striking {
			for _, one := range once.causes {
				c := slowCase{row: once.row, strength: one.name, phone: phone, event: once.event, wants: one.wants, also: one.also}
				c.app, c.before = once.app(strings.ReplaceAll(one.lines, "LATE", c.on().late)+"\n"), once.app("")
				out = append(out, c)
				out = append(out, slowCase{phone: phone, event: once.event, app: c.before, before: c.before})
			}
		}
	}
	return out
}

// struck is a cause that strikes as its row says.
type struck struct {
	name, lines string
	wants       []string
	also        string
}

// striking are causes that strike once after a tap, of which a repetition has three; once in
// a repetition, which has other events too; for so long that the frame is frozen; and two at
// a time. LATE is what makes a frame late on the phone.
var striking = []struct {
	row, event string
	app        func(lines string) string
	causes     []struck
}{
	{"once per tap", "tap", tapping, []struck{
		{"binder", "blocks binder com.example.backend IFeed::query 300ms after tap every 1000 from 5", []string{jankcause.BinderKind}, ""},
		{"disk", "blocks disk 120ms after tap every 1000 from 3", []string{jankcause.IOKind}, ""},
		{"lock", "blocks lock db-writer 200ms after tap every 1000 from 2", []string{jankcause.LockKind}, ""},
		{"layout", "work layout 250ms after tap every 1000 from 4", []string{jankcause.LayoutKind}, ""},
		{"inflate", "work inflate 200ms after tap every 1000 of com.example.Card", []string{jankcause.WorkKind}, ""},
		{"jank", "jank 280ms after tap", []string{jankcause.WorkKind}, ""},
	}},
	{"once per repetition", "open", opening, []struck{
		{"binder", "blocks binder com.example.backend IFeed::query 300ms after open every 1000 from 5", []string{jankcause.BinderKind}, ""},
		{"disk", "blocks disk 120ms after open every 1000 from 3", []string{jankcause.IOKind}, ""},
		{"gc", "gc 150ms after open every 1000 from 6", []string{jankcause.GCKind}, ""},
		{"layout", "work layout 250ms after open every 1000 from 4", []string{jankcause.LayoutKind}, ""},
		{"compose", "work compose 200ms after open every 1000", []string{jankcause.WorkKind}, ""},
		{"jank", "jank 280ms after open", []string{jankcause.WorkKind}, ""},
	}},
	{"frozen frame", "open", opening, []struck{
		{"binder", "blocks binder com.example.backend IFeed::query 1200ms after open every 1000 from 5", []string{jankcause.BinderKind}, ""},
		{"disk", "blocks disk 900ms after open every 1000 from 3", []string{jankcause.IOKind}, ""},
		{"lock", "blocks lock db-writer 2s after open every 1000 from 2", []string{jankcause.LockKind}, ""},
		{"jank", "jank 1300ms after open", []string{jankcause.WorkKind}, ""},
	}},
	{"two at once", "scroll", func(lines string) string { return scrolling(5*time.Millisecond, lines) }, []struck{
		{"lock and binder", "blocks lock db-writer 60ms after scroll every 8 in measure\nblocks binder com.example.backend IFeed::query LATE after scroll every 8 from 4", []string{jankcause.LockKind}, jankcause.BinderKind},
		{"gc and binder", "gc 60ms after scroll every 8\nblocks binder com.example.backend IFeed::query LATE after scroll every 8 from 4", []string{jankcause.GCKind}, jankcause.BinderKind},
		{"disk and inflate", "blocks disk 60ms after scroll every 8\nwork inflate LATE after scroll every 8 from 3", []string{jankcause.IOKind}, jankcause.WorkKind},
		{"layout and gpu", "work layout 60ms after scroll every 6\ngpu LATE after scroll every 12 from 4", []string{jankcause.LayoutKind}, jankcause.GPUKind},
		{"composition and draw", "blocks composition 60ms after scroll every 8\nwork draw LATE after scroll every 8 from 5", []string{jankcause.CompositionKind}, jankcause.DrawKind},
		{"cpu and measure", "blocks cpu 60ms after scroll every 8\nwork measure LATE after scroll every 8 from 4", []string{jankcause.CPUKind}, jankcause.MeasureKind},
	}},
}

// tapping returns an app that is tapped three times.
func tapping(lines string) string {
	return "apkgate-simulated-app/1\npackage com.example.feed\ncost 6ms\n" + lines +
		"scenario tap 6s\n  start 20\n  800ms tap 45\n  2.3s tap 45\n  3.8s tap 45\ntest com.example.feed.TapTest#taps tap\n"
}

// opening returns an app that opens something between other events.
func opening(lines string) string {
	return "apkgate-simulated-app/1\npackage com.example.feed\ncost 6ms\n" + lines +
		"scenario open 6s\n  start 20\n  800ms list 60\n  2.4s open 50\n  4s back 40\ntest com.example.feed.OpenTest#opens open\n"
}

// on returns what differs from phone to phone, whose screens and speeds differ.
func (c slowCase) on() slowPhoneOf { return slowPhonesOf[slices.Index(slowPhones, c.phone)] }

// slowPhoneOf is the limits of a frame on a phone.
type slowPhoneOf struct {
	late     string // what makes a frame late on a good phone
	absorbed string // what makes it late by less than a vsync
	// little and held are the costs with which half of the frames are late where all are
	// kept on the little CPUs, and on a slow clock.
	little, held time.Duration
}

var slowPhonesOf = []slowPhoneOf{
	{"26ms", "14ms", 9300 * time.Microsecond, 9600 * time.Microsecond},
	{"36ms", "34ms", 16100 * time.Microsecond, 16900 * time.Microsecond},
	{"26ms", "25ms", 12500 * time.Microsecond, 13000 * time.Microsecond},
	{"36ms", "34ms", 16100 * time.Microsecond, 16900 * time.Microsecond},
}

// cost returns the time of a frame on a good phone. A cause that slows all frames by one factor
// makes as many of them late as that leaves.
func (c slowCase) cost() time.Duration {
	const usual = 5 * time.Millisecond
	ofHalf := map[string]float64{"weak": 0.80, "medium": 0.88, "strong": 0.97}[c.strength]
	switch c.row {
	case "little":
		return time.Duration(ofHalf * float64(c.on().little))
	case "slow clock":
		return time.Duration(ofHalf * float64(c.on().held))
	}
	return usual
}

// lateFrames returns the lines that make frames late in both builds, each after one for which the
// render thread took long, so that a buffer is ready.
func (c slowCase) lateFrames() string {
	if !c.buffered {
		return ""
	}
	return fmt.Sprintf("work shader %s after scroll every 60\nwork layout %s after scroll every 60 from 31\n", c.on().late, c.on().absorbed)
}

// scrolling returns an app that scrolls for five seconds.
func scrolling(cost time.Duration, lines string) string {
	return fmt.Sprintf(`apkgate-simulated-app/1
package com.example.feed
cost %v
%sscenario scroll 6500ms
  start 20
  800ms scroll 300
test com.example.feed.ScrollTest#scrolls scroll
`, cost, lines)
}

// slowConfig is the trace configuration: what collect records of frames and their causes.
const slowConfig = `buffers { size_kb: 65536 fill_policy: RING_BUFFER }
data_sources { config { name: "linux.ftrace" ftrace_config {
  ftrace_events: "sched/sched_switch" ftrace_events: "sched/sched_waking" ftrace_events: "sched/sched_wakeup" ftrace_events: "sched/sched_blocked_reason" compact_sched { enabled: true }
  ftrace_events: "power/cpu_frequency" ftrace_events: "binder/binder_transaction" ftrace_events: "binder/binder_transaction_received"
  ftrace_events: "block/block_rq_issue" ftrace_events: "block/block_rq_complete"
  atrace_categories: ["am", "wm", "gfx", "view", "input", "binder_driver", "aidl", "dalvik", "res"] atrace_apps: "com.example.feed" } } }
data_sources { config { name: "linux.process_stats" process_stats_config { scan_all_processes_on_start: true } } }
data_sources { config { name: "android.surfaceflinger.frametimeline" } }`

const slowTrace = "/data/misc/perfetto-traces/slow.pftrace"

// recordSlow returns the record of a build: so many repetitions on a phone in a session, with the
// frames from their traces.
func recordSlow(t *testing.T, app, on string, session uint64, repetitions int) run.Run {
	t.Helper()
	pr, err := profile.Find(on)
	if err != nil {
		t.Fatal(err)
	}
	p := slowPhone{T: t, Phone: simulator.NewPhone(pr, session, simulator.Options{Production: true, Chatter: -1}), pkg: wordAfter(app, "package"), class: strings.Split(wordAfter(app, "test"), "#")[0]}
	defer p.Close()
	if err := p.Install([]byte(app)); err != nil {
		t.Fatal(err)
	}
	p.tell("cmd package compile -m speed -f "+p.pkg, 10*time.Second)
	var frames section.Collector
	for n := range repetitions {
		frames.Add(p.repetition(n + 1))
	}
	return run.Run{App: run.App{Package: p.pkg}, Scenario: "use", Frames: frames.Frames()}
}

// wordAfter returns the word after a statement of an app's file.
func wordAfter(app, statement string) string {
	for line := range strings.Lines(app) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == statement {
			return words[1]
		}
	}
	return ""
}

// slowPhone is a phone that is driven without adb.
type slowPhone struct {
	*testing.T
	*simulator.Phone
	pkg, class string
}

// tell runs a command, which ends after so much of the phone's time, and returns its output.
func (p slowPhone) tell(command string, takes time.Duration) string {
	p.Helper()
	var out, errs bytes.Buffer
	wait, ended := p.Start(context.Background(), command, strings.NewReader(""), &out, &errs), make(chan int, 1)
	go func() { ended <- wait() }()
	if err := p.Clock().Sleep(context.Background(), takes); err != nil {
		p.Fatal(err)
	}
	if code := <-ended; code != 0 {
		p.Fatalf("%s: exit code %d: %s%s", command, code, out.String(), errs.String())
	}
	return out.String()
}

// repetition plays the scenario once and reads its trace.
func (p slowPhone) repetition(n int) section.Repetition {
	p.Helper()
	from := p.Clock().Now()
	recorder := p.traces()
	if said := p.tell("am instrument -w -e class "+p.class+" "+p.pkg+"/androidx.test.runner.AndroidJUnitRunner", 15*time.Second); !strings.Contains(said, "OK (1 test)") {
		p.Fatal(said)
	}
	return section.Repetition{Number: n, Trace: p.traced(recorder), Events: p.events(from)}
}

// traces starts a recording of frames and returns its process.
func (p slowPhone) traces() (recorder string) {
	p.Helper()
	config := strings.ReplaceAll(slowConfig, "com.example.feed", p.pkg)
	return strings.TrimSpace(p.tell("echo '"+config+"' | perfetto --txt -c - -o "+slowTrace+" --background", 0))
}

// traced ends a recording and returns its frames.
func (p slowPhone) traced(recorder string) rendering.Trace {
	p.Helper()
	p.tell("kill "+recorder, time.Second)
	trace, err := rendering.Read(packets.Packets(strings.NewReader(p.tell("cat "+slowTrace, 0))), rendering.App{Package: p.pkg})
	if err != nil {
		p.Fatal(err)
	}
	return trace
}

// events returns those of the log since a moment.
func (p slowPhone) events(since time.Duration) (out []trace.Event) {
	for line := range strings.Lines(p.tell("logcat -d -v epoch -s apkgate", 0)) {
		words := strings.Fields(line)
		if len(words) < 2 || !strings.Contains(line, "apkgate") {
			continue
		}
		seconds, err := strconv.ParseFloat(words[0], 64)
		if err != nil {
			continue
		}
		if at := time.Duration(seconds*1e9) - time.Duration(simulator.BootedAt().UnixNano()); at >= since {
			out = append(out, trace.Event{Name: words[len(words)-1], At: at})
		}
	}
	return out
}
