package methods_test

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// recorded is a recording of an app's thread and one of another app: task-clock at 1 kHz, with
// sched_switch in between.
func recorded() *simpleperf.Profile {
	return &simpleperf.Profile{
		Clock:   "monotonic",
		Events:  []simpleperf.Event{{Name: "sched:sched_switch"}, {Name: "task-clock:u"}},
		Threads: []simpleperf.Thread{{PID: 40, TID: 40, Name: "om.example.mail"}, {PID: 40, TID: 41, Name: "worker"}, {PID: 50, TID: 50, Name: "other"}, {PID: 0, TID: 0, Name: "swapper"}},
		Frames: []simpleperf.Frame{
			{Symbol: "com.example.mail.Inbox.open", File: "base.odex", Kind: simpleperf.AOT},
			{Symbol: "", File: "libfoo.so", Kind: simpleperf.Native},
			{Symbol: "art::Invoke", File: "/apex/com.android.art/lib64/libart.so", Kind: simpleperf.Native},
			{Symbol: "com.example.mail.App.run", File: "base.dex", Kind: simpleperf.Interpreted},
		},
		Samples: []simpleperf.Sample{
			{Time: 3 * ms, Thread: 1, Event: 1, Period: 1e6, Chain: []uint32{1, 0}},
			{Time: 1 * ms, Thread: 0, Event: 1, Period: 1e6, Chain: []uint32{0, 2, 3}},
			{Time: 2 * ms, Thread: 0, Event: 0, Period: 1, Chain: []uint32{1}},
			{Time: 4 * ms, Thread: 2, Event: 1, Period: 1e6, Chain: []uint32{1}},
			{Time: 9 * ms, Thread: 3, Event: 1, Period: 1e6, Chain: []uint32{1}},
		},
		Lost: 3,
	}
}

// ramp is 1 W at 0 ms, 2 W at 2 ms and 4 W at 4 ms.
func ramp() energy.Curve {
	return energy.OfReadings([]energy.Reading{{Time: 0, Watts: 1}, {Time: 2 * ms, Watts: 2}, {Time: 4 * ms, Watts: 4}}, 0)
}

// names returns a sample's chain by name.
func names(t methods.Trace, s methods.Sample) string {
	var out []string
	for _, f := range s.Chain {
		out = append(out, t.Frames[f].Name)
	}
	return strings.Join(out, " < ")
}

// Two of the five samples are the app's and of a clock. At 1 ms the line is at 1.5 W, at 3 ms at 3
// W.
func TestOfTakesOwnSamples(t *testing.T) {
	t.Parallel()
	got := methods.Of(recorded(), ramp(), nil, methods.Pick{App: "com.example.mail"})
	if got.Event != "task-clock:u" || got.Hz != 1000 || got.Lost != 3 || len(got.Samples) != 2 || len(got.Warnings) != 0 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []struct {
		at, period time.Duration
		thread     methods.Thread
		chain      string
		watts      float64
		reading    int
	}{
		{1 * ms, ms, methods.Thread{PID: 40, TID: 40, Name: "om.example.mail"}, "com.example.mail.Inbox.open < com.example.mail.App.run", 1.5, 0},
		{3 * ms, ms, methods.Thread{PID: 40, TID: 41, Name: "worker"}, "unknown < com.example.mail.Inbox.open", 3, 1},
	} {
		s := got.Samples[i]
		if s.Time != want.at || s.Period != want.period || got.Threads[s.Thread] != want.thread || s.Reading != want.reading {
			t.Errorf("sample %d is %+v, want %+v", i, s, want)
		}
		if n := names(got, s); n != want.chain {
			t.Errorf("sample %d is of %q, want %q", i, n, want.chain)
		}
		near(t, "power", s.Watts, want.watts)
	}
}

// report-sample drops samples by default, and its file does not report it.
func TestOfWarnsOfReportSample(t *testing.T) {
	t.Parallel()
	p := recorded()
	p.Source = simpleperf.ReportSample
	got := methods.Of(p, ramp(), nil, methods.Pick{App: "com.example.mail"})
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, "--remove-gaps 0") {
		t.Errorf("warnings %v", got.Warnings)
	}
}

// A recording without call chains has no callees, and neither has one whose stacks are not unwound.
func TestOfWarnsOfMissingCallers(t *testing.T) {
	t.Parallel()
	p := recorded()
	for i := range 20 {
		p.Samples = append(p.Samples, simpleperf.Sample{Time: time.Duration(i) * ms, Event: 1, Period: 1e6, Chain: []uint32{0}})
	}
	if got := methods.Of(p, ramp(), nil, methods.Pick{App: "com.example.mail"}); len(got.Warnings) != 0 {
		t.Errorf("some samples have callers, and still: %v", got.Warnings)
	}
	p.Samples = p.Samples[5:]
	got := methods.Of(p, ramp(), nil, methods.Pick{App: "com.example.mail"})
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, "no sample has a caller") {
		t.Errorf("warnings %v", got.Warnings)
	}
}

func TestOfPick(t *testing.T) {
	t.Parallel()
	byApp := recorded()
	byApp.Meta = map[string]string{"app_package_name": "com.example.mail"}
	second := recorded()
	second.Threads[2].Name = "mple.mail:sync1"
	idle := recorded() // its main thread has no samples
	idle.Threads[0] = simpleperf.Thread{PID: 40, TID: 42, Name: "pool", Process: "om.example.mail"}
	for _, c := range []struct {
		name    string
		p       *simpleperf.Profile
		pick    methods.Pick
		samples int
	}{
		{"all but the idle process", recorded(), methods.Pick{}, 3},
		{"by process", recorded(), methods.Pick{App: "ignored", PIDs: []int{50}}, 1},
		{"a recording of the app alone", byApp, methods.Pick{App: "com.example.mail"}, 3},
		{"a second process of the app", second, methods.Pick{App: "com.example.mail"}, 3},
		{"an app whose main thread was never hit", idle, methods.Pick{App: "com.example.mail"}, 2},
		{"another app with the same end", recorded(), methods.Pick{App: "mail"}, 0},
	} {
		if got := methods.Of(c.p, ramp(), nil, c.pick); len(got.Samples) != c.samples {
			t.Errorf("%s: %d samples, want %d", c.name, len(got.Samples), c.samples)
		}
	}
	got := methods.Of(recorded(), ramp(), nil, methods.Pick{App: "com.absent"})
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, `no sample is of com.absent: the recording holds "om.example.mail" (process 40)`) {
		t.Errorf("warnings %v", got.Warnings)
	}
}

func TestOfInlinedMethods(t *testing.T) {
	t.Parallel()
	naming := func(f simpleperf.Frame) []methods.Frame {
		if f.Symbol == "com.example.mail.Inbox.open" {
			return []methods.Frame{{Name: "Inbox.row", Line: 3}, {Name: "Inbox.open", Line: 9}}
		}
		return nil // no better name
	}
	got := methods.Of(recorded(), ramp(), naming, methods.Pick{App: "com.example.mail"})
	if n := names(got, got.Samples[0]); n != "Inbox.row < Inbox.open < com.example.mail.App.run" {
		t.Errorf("chain %q", n)
	}
}

// Samples outside the curve have no power, and Reading -1.
func TestOfSamplesOutsideTheCurve(t *testing.T) {
	t.Parallel()
	got := methods.Of(recorded(), energy.OfReadings([]energy.Reading{{Time: 2 * ms, Watts: 2}, {Time: 4 * ms, Watts: 4}}, 0), nil, methods.Pick{App: "com.example.mail"})
	if s := got.Samples[0]; s.Reading != -1 || s.Watts != 0 {
		t.Errorf("before the first reading: %+v", s)
	}
	if s := got.Samples[1]; s.Reading != 0 || s.Watts != 3 {
		t.Errorf("between readings: %+v", s)
	}
}

// Four samples a millisecond apart with 1, 1, 2 and 4 million cycles stand for 4 ms in total: 0.5,
// 0.5, 1 and 2 ms.
func TestOfCycles(t *testing.T) {
	t.Parallel()
	p := recorded()
	p.Events[1].Name = "cpu-cycles"
	p.Samples = nil
	for i, cycles := range []uint64{1e6, 1e6, 2e6, 4e6} {
		p.Samples = append(p.Samples, simpleperf.Sample{Time: time.Duration(i) * ms, Event: 1, Period: cycles, Chain: []uint32{0}})
	}
	got := methods.Of(p, ramp(), nil, methods.Pick{})
	for i, want := range []time.Duration{ms / 2, ms / 2, ms, 2 * ms} {
		if got.Samples[i].Period != want {
			t.Errorf("sample %d stands for %v, want %v", i, got.Samples[i].Period, want)
		}
	}
	if got.Hz != 1000 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, "count cycles, not time") {
		t.Errorf("%v Hz, warnings %v", got.Hz, got.Warnings)
	}
}

func TestOfRecordingsWithoutTime(t *testing.T) {
	t.Parallel()
	faults := recorded()
	faults.Events[1].Name = "page-faults"
	once := recorded()
	once.Events[1].Name = "cpu-cycles"
	once.Samples = once.Samples[:1]
	clock := recorded()
	clock.Clock = "boottime"
	silent := recorded()
	silent.Clock = ""
	for _, c := range []struct {
		name    string
		p       *simpleperf.Profile
		samples int
		want    string
	}{
		{"page faults", faults, 0, "no samples of task-clock, cpu-clock or cpu-cycles"},
		{"one sample of cycles", once, 0, "too few samples of cpu-cycles"},
		{"another clock", clock, 3, `stamped by the clock "boottime"`},
		{"no clock", silent, 3, "stamped by an unnamed clock"},
	} {
		got := methods.Of(c.p, ramp(), nil, methods.Pick{})
		if len(got.Samples) != c.samples || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, c.want) {
			t.Errorf("%s: %d samples, warnings %v", c.name, len(got.Samples), got.Warnings)
		}
	}
}

// Of two events that measure time the better one is used, of two of a kind the one with more
// samples.
func TestOfSelectsTheEvent(t *testing.T) {
	t.Parallel()
	for want, events := range map[string][]simpleperf.Event{
		"task-clock":     {{Name: "cpu-clock"}, {Name: "task-clock"}},
		"cpu-clock":      {{Name: "cpu-clock"}, {Name: "cpu-cycles"}},
		"task-clock:k":   {{Name: "task-clock:u"}, {Name: "task-clock:k"}},
		"cpu-cycles":     {{Name: "sched:sched_switch"}, {Name: "cpu-cycles"}},
		"task-clock:u":   {{Name: "task-clock:u"}, {Name: "instructions"}},
		"cpu-clock:kuuu": {{Name: "instructions"}, {Name: "cpu-clock:kuuu"}},
	} {
		p := recorded()
		p.Events = events
		for i := range p.Samples {
			p.Samples[i].Event = min(i, 1) // the second event has more samples
		}
		if got := methods.Of(p, ramp(), nil, methods.Pick{}).Event; got != want {
			t.Errorf("of %v the event %q is taken, want %q", events, got, want)
		}
	}
}

// A process of the app has its name, or its name and the process's own after a colon, or the last
// 15 bytes of that.
func TestOfProcesses(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]bool{
		"com.example.mail": true, "com.example.mail:sync": true, "com.example.mailer": false, "com.example": false,
		"om.example.mail": true, "ample.mail:sync": true, "m.example.mail": false, ":sync0123456789": false, "le.mailer:sync1": false,
		"om.example.maps": false,
	} {
		p := recorded()
		for i := range p.Threads {
			p.Threads[i] = simpleperf.Thread{PID: 7, TID: 7, Name: name}
		}
		if got := len(methods.Of(p, ramp(), nil, methods.Pick{App: "com.example.mail"}).Samples) > 0; got != own {
			t.Errorf("%q is taken for a process of com.example.mail: %v", name, got)
		}
	}
}
