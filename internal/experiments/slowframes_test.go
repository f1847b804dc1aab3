package experiments

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/diagnose/render"
	"github.com/apkgate/apkgate/internal/simlab/clock"
	"github.com/apkgate/apkgate/internal/simlab/phone"
	"github.com/apkgate/apkgate/internal/simlab/profile"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
)

// slowCase is a build of an app on a phone, and what makes its frames slow there.
type slowCase struct {
	cause    string // as the app's file has it, "" for none: the build is the base's
	strength string
	phone    string
	buffered bool // both builds have frames that are late while a buffer is ready
	app      string
	wants    []string // the kinds that are right, the first is the name of the cause
}

// base is the case that a case is compared with.
func (c slowCase) base() slowCase {
	c.app = scrolling(c.cost(), c.lateFrames())
	c.cause, c.strength, c.wants = "", "", nil
	return c
}

func (c slowCase) String() string {
	name := strings.Join([]string{c.cause, c.strength, c.phone}, " ")
	if c.buffered {
		name += " buffered"
	}
	return name
}

// slowPhones are of 60 Hz, low-end, without a frame timeline; of 120 Hz; and of 90 Hz with
// the newest Android.
var slowPhones = []string{"c1-go-android-11", "galaxy-s21-android-13", "pixel-7-android-14"}

// injected are the causes: a line of the app's file each, with how long it takes and how
// often it strikes left open.
var injected = []struct {
	name, line string
	wants      []string
}{
	{"binder", "blocks binder com.example.backend IFeed::query %s after scroll every %d", []string{render.BinderKind}},
	{"binder through another", "blocks binder com.example.backend IFeed::query %s through com.example.store IStore::get after scroll every %d in layout", []string{render.BinderKind}},
	{"disk read", "blocks disk %s after scroll every %d", []string{render.IOKind}},
	{"disk fsync", "blocks disk %s after scroll every %d by fsync in input", []string{render.IOKind}},
	{"lock", "blocks lock db-writer %s after scroll every %d in measure", []string{render.LockKind}},
	{"lock held on disk", "blocks lock db-writer %s through disk after scroll every %d", []string{render.LockKind}},
	{"cpu", "blocks cpu %s after scroll every %d", []string{render.CPUKind}},
	{"gc", "gc %s after scroll every %d", []string{render.GCKind}},
	{"measure", "work measure %s after scroll every %d", []string{render.MeasureKind}},
	{"layout", "work layout %s after scroll every %d", []string{render.LayoutKind}},
	{"draw", "work draw %s after scroll every %d", []string{render.DrawKind}},
	{"inflate", "work inflate %s after scroll every %d of com.example.Card", []string{render.WorkKind}},
	{"compose", "work compose %s after scroll every %d", []string{render.WorkKind}},
	{"shader", "work shader %s after scroll every %d", []string{render.DrawKind}},
	{"gpu", "gpu %s after scroll every %d", []string{render.GPUKind}},
	{"composition", "blocks composition %s after scroll every %d", []string{render.CompositionKind}},
	{"little", "little after scroll", []string{render.LittleKind}},
	{"slow clock", "slow-clock after scroll", []string{render.FrequencyKind}},
}

// strengths are how often a cause strikes: each N-th frame. One that strikes all has frames
// cost more instead (cost).
var strengths = []struct {
	name  string
	every int
}{{"weak", 20}, {"medium", 7}, {"strong", 3}}

// slowCases are all causes at three strengths on three phones, buffers ready or not, and
// as many builds that are like their base.
func slowCases() (out []slowCase) {
	for _, buffered := range []bool{false, true} {
		for _, phone := range slowPhones {
			for _, cause := range injected {
				for _, s := range strengths {
					c := slowCase{cause: cause.name, strength: s.name, phone: phone, buffered: buffered, wants: cause.wants}
					line := cause.line
					if strings.Contains(line, "%d") {
						line = fmt.Sprintf(line, c.on().late, s.every)
					}
					c.app = scrolling(c.cost(), c.lateFrames()+line+"\n")
					out = append(out, c)
				}
			}
			for range len(injected) {
				c := slowCase{phone: phone, buffered: buffered}
				out = append(out, c.base())
			}
		}
	}
	return out
}

// on is what differs from phone to phone, whose screens and speeds differ.
func (c slowCase) on() slowPhoneOf { return slowPhonesOf[slices.Index(slowPhones, c.phone)] }

// slowPhoneOf is what a frame can bear on a phone.
type slowPhoneOf struct {
	late     string // what makes a frame late on a good phone
	absorbed string // what makes it late by less than a vsync
	// little and held are the costs with which half of the frames are late where all are
	// kept on the little CPUs, and on a slow clock.
	little, held time.Duration
}

var slowPhonesOf = []slowPhoneOf{
	{"26ms", "14ms", 9300 * time.Microsecond, 9600 * time.Microsecond},
	{"26ms", "25ms", 12500 * time.Microsecond, 13000 * time.Microsecond},
	{"36ms", "34ms", 16100 * time.Microsecond, 16900 * time.Microsecond},
}

// cost is what a frame costs on a good phone. A cause that has all frames take longer by
// one factor makes so many of them late as that leaves.
func (c slowCase) cost() time.Duration {
	const usual = 5 * time.Millisecond
	ofHalf := map[string]float64{"weak": 0.80, "medium": 0.88, "strong": 0.97}[c.strength]
	switch c.cause {
	case "little":
		return time.Duration(ofHalf * float64(c.on().little))
	case "slow clock":
		return time.Duration(ofHalf * float64(c.on().held))
	}
	return usual
}

// lateFrames are the lines that have frames late in both builds, each behind one for which the
// render thread took long, so that a buffer is ready.
func (c slowCase) lateFrames() string {
	if !c.buffered {
		return ""
	}
	return fmt.Sprintf("work shader %s after scroll every 60\nwork layout %s after scroll every 60 from 31\n", c.on().late, c.on().absorbed)
}

// scrolling is an app that scrolls for five seconds.
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

// slowConfig is what a trace is asked for: what collect asks of frames and their causes.
const slowConfig = `buffers { size_kb: 65536 fill_policy: RING_BUFFER }
data_sources { config { name: "linux.ftrace" ftrace_config {
  ftrace_events: "sched/sched_switch" ftrace_events: "sched/sched_waking" ftrace_events: "sched/sched_wakeup" ftrace_events: "sched/sched_blocked_reason" compact_sched { enabled: true }
  ftrace_events: "power/cpu_frequency" ftrace_events: "binder/binder_transaction" ftrace_events: "binder/binder_transaction_received"
  ftrace_events: "block/block_rq_issue" ftrace_events: "block/block_rq_complete"
  atrace_categories: ["am", "wm", "gfx", "view", "input", "binder_driver", "aidl", "dalvik", "res"] atrace_apps: "com.example.feed" } } }
data_sources { config { name: "linux.process_stats" process_stats_config { scan_all_processes_on_start: true } } }
data_sources { config { name: "android.surfaceflinger.frametimeline" } }`

const slowTrace = "/data/misc/perfetto-traces/slow.pftrace"

// recordSlow is the record of a case: so many repetitions on a phone of a session, with
// what their traces tell of frames.
func recordSlow(t *testing.T, c slowCase, session uint64, repetitions int) run.Run {
	t.Helper()
	pr, err := profile.Find(c.phone)
	if err != nil {
		t.Fatal(err)
	}
	p := slowPhone{T: t, Phone: phone.New(pr, session, phone.Options{Production: true})}
	defer p.Close()
	if err := p.Install([]byte(c.app)); err != nil {
		t.Fatal(err)
	}
	p.tell("cmd package compile -m speed -f com.example.feed", 10*time.Second)
	var frames section.Collector
	for n := range repetitions {
		frames.Add(p.repetition(n + 1))
	}
	return run.Run{
		App: run.App{Package: "com.example.feed"}, Scenario: "scroll",
		Frames: frames.Frames(),
	}
}

// slowPhone is a phone that is driven without adb.
type slowPhone struct {
	*testing.T
	*phone.Phone
}

// tell runs a command, which is over once so much of the phone's time has passed, and
// returns what it says.
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
	pid := strings.TrimSpace(p.tell("echo '"+slowConfig+"' | perfetto --txt -c - -o "+slowTrace+" --background", 0))
	if said := p.tell("am instrument -w -e class com.example.feed.ScrollTest com.example.feed/androidx.test.runner.AndroidJUnitRunner", 15*time.Second); !strings.Contains(said, "OK (1 test)") {
		p.Fatal(said)
	}
	p.tell("kill "+pid, time.Second)
	trace, err := rendering.Read(packets.Packets(strings.NewReader(p.tell("cat "+slowTrace, 0))), rendering.App{Package: "com.example.feed"})
	if err != nil {
		p.Fatal(err)
	}
	return section.Repetition{Number: n, Trace: trace, Events: p.events()}
}

// events is what the log says of the last event: a repetition has one.
func (p slowPhone) events() (out []section.Event) {
	for line := range strings.Lines(p.tell("logcat -d -v epoch -s apkgate", 0)) {
		words := strings.Fields(line)
		if len(words) < 2 || !strings.Contains(line, "apkgate") {
			continue
		}
		seconds, err := strconv.ParseFloat(words[0], 64)
		if err != nil {
			continue
		}
		at := time.Duration(seconds*1e9) - time.Duration(clock.Wall(0).UnixNano())
		out = []section.Event{{Name: words[len(words)-1], At: at}}
	}
	return out
}
