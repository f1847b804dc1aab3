package applog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/logcat"
)

// Adding an anomaly never blocks, and dropped ones are counted.
func TestStreamCountsDroppedAnomalies(t *testing.T) {
	t.Parallel()
	s := NewStream()
	for i := range maxUnheard + 7 {
		s.Notice(Anomaly{From: time.Duration(i)})
	}
	heard := 0
	for a, ok := s.Next(); ok; a, ok = s.Next() {
		if a.From != time.Duration(heard) {
			t.Fatalf("heard %v, want %d", a, heard)
		}
		heard++
	}
	if heard != maxUnheard || s.Missed() != 7 {
		t.Errorf("%d are heard and %d missed, want %d and 7", heard, s.Missed(), maxUnheard)
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	var p policy
	var kept []time.Duration
	for at := time.Duration(0); at < 2*time.Minute; at += time.Second {
		if p.allows(at) {
			p.kept(at)
			kept = append(kept, at)
		}
	}
	if want := []time.Duration{0, 20 * time.Second}; !slices.Equal(kept, want) {
		t.Errorf("kept at %v, want %v", kept, want)
	}
}

// An event is slow only compared with the usual duration, both during it and after it.
func TestSlowEvents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		usual, took time.Duration
		slow        bool
	}{
		{0, time.Hour, false}, // the usual duration is unknown
		{time.Second, 2900 * time.Millisecond, false},
		{time.Second, 3 * time.Second, true},
		{100 * time.Millisecond, 500 * time.Millisecond, false}, // for short ones half a second counts
		{100 * time.Millisecond, 600 * time.Millisecond, true},
	} {
		a, slow := ofDuration("open", time.Minute, time.Minute+c.took, c.usual)
		if slow != c.slow || slow && (a.Kind != Slow || a.Event != "open" || a.From != time.Minute) {
			t.Errorf("%v, usually %v: %+v, slow: %v", c.took, c.usual, a, slow)
		}
		f := &follower{stream: NewStream(), usual: map[string]time.Duration{"open": c.usual}, event: logcat.Event{Name: "open", Time: time.Minute}}
		for range 2 { // it is reported once
			f.lasts(time.Minute + c.took)
		}
		_, first := f.stream.Next()
		if _, second := f.stream.Next(); first != c.slow || second {
			t.Errorf("%v, usually %v: noticed %v, and again %v", c.took, c.usual, first, second)
		}
	}
}

// frameAt is a frame that was due at a time and took that long.
func frameAt(at, took time.Duration) jank.Frame {
	return jank.Frame{At: at, Took: took}
}

func TestOfFrame(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]bool{700 * time.Millisecond: false, 701 * time.Millisecond: true} {
		f := frameAt(time.Second, took)
		if a, frozen := ofFrame(f); frozen != want || frozen && (a.Kind != Frozen || a.To-a.From != took) {
			t.Errorf("a frame of %v: %+v, frozen: %v", took, a, frozen)
		}
	}
}

// The system's log entries on the app are detected as they are written; those on another app, or
// those that an app writes in the system's name, are not.
func TestFollow(t *testing.T) {
	t.Parallel()
	const line = "   %d.000 %s  1040  1052 I %s: %s\n"
	text := "--------- beginning of events\n" +
		fmt.Sprintf(line, 10, " 1000", "am_anr", "[0,500,com.other,8,Input]") +
		fmt.Sprintf(line, 11, "10120", "am_anr", "[0,500,com.example,8,Input]") +
		fmt.Sprintf(line, 12, "10121", "apkgate", "open-list") +
		fmt.Sprintf(line, 13, " 1000", "am_anr", "[0,500,com.example,8,Input dispatching timed out]") +
		"no line of a log\n" +
		fmt.Sprintf(line, 14, " 1000", "am_crash", "[500,0,com.example:remote,8,java.lang.Error,x,A.java,4]")
	f := &follower{app: "com.example", stream: NewStream(), pids: map[int]bool{}}
	lines := newStream(nil, "m-1")
	lines.listen(f.take)
	before := fmt.Sprintf(line, 8, " 1000", "am_anr", "[0,500,com.example,8,of the repetition before]")
	lines.read(strings.NewReader(before + fmt.Sprintf(line, 9, " 2000", "apkgate-mark", "m-1") + text))
	var got []string
	for a, ok := f.stream.Next(); ok; a, ok = f.stream.Next() {
		got = append(got, fmt.Sprint(a.Kind, " at ", a.From))
	}
	if want := []string{"ANR at 13s", "crash at 14s"}; !slices.Equal(got, want) {
		t.Errorf("noticed %q, want %q", got, want)
	}
	if f.since() != 12*time.Second {
		t.Errorf("the event under way began at %v", f.since())
	}
}

// Each anomaly is named after the event in which it began, and the gravest is reported.
func TestSeenAll(t *testing.T) {
	t.Parallel()
	s := Seen{
		Events:    []logcat.Event{{Name: "open", Time: 10 * time.Second}, {Name: "scroll", Time: 20 * time.Second}},
		Anomalies: []Anomaly{{Kind: NotResponding, From: 15 * time.Second, To: 15 * time.Second, Detail: "the app did not respond: Input"}},
		Frames:    []jank.Frame{frameAt(5*time.Second, time.Second)},
		Alive:     29 * time.Second,
	}
	all := s.all(map[string]time.Duration{"scroll": 2 * time.Second})
	var got []string
	for _, a := range all {
		got = append(got, string(a.Kind)+" in "+a.Event)
	}
	if want := []string{"frozen in " + run.Start, "ANR in open", "slow in scroll"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if words := inWords(all); words != "the app did not respond: Input; and 2 more" {
		t.Errorf("in words: %s", words)
	}
}

// A trace that was saved during the workload contains everything before it, including what was
// detected later, and nothing after it except what it was saved for.
func TestSavedTakes(t *testing.T) {
	t.Parallel()
	at := func(s int) Anomaly { return Anomaly{Kind: Frozen, From: time.Duration(s) * time.Second} }
	k := saved{at: 20 * time.Second, anomalies: []Anomaly{at(10), at(21)}} // at 21 s, detected just before it was saved
	left := k.takes([]Anomaly{at(10), at(15), at(21), at(30)})
	if want := []Anomaly{at(10), at(15), at(21)}; !slices.Equal(k.anomalies, want) || !slices.Equal(left, []Anomaly{at(30)}) {
		t.Errorf("it holds %v and leaves %v, want it to hold %v", k.anomalies, left, want)
	}
}

// The usual duration of an event is that in earlier repetitions that count, once there are three of
// them: the first long one is not usual.
func TestUsualDurations(t *testing.T) {
	t.Parallel()
	w := &Watcher{}
	repetition := func(open time.Duration, lost error) []Anomaly {
		s := Seen{
			Events: []logcat.Event{{Name: "open", Time: 10 * time.Second}, {Name: "scroll", Time: 10*time.Second + open}},
			Alive:  11*time.Second + open, Lost: lost,
		}
		return w.learn(s, w.took.usual())
	}
	for i, open := range []time.Duration{time.Second, 5 * time.Second, time.Second} {
		if got := repetition(open, nil); len(got) > 0 {
			t.Errorf("repetition %d: nobody knows yet what is usual, but told %v", i+1, got)
		}
	}
	if got := repetition(9*time.Second, errors.New("lost")); len(got) != 1 || got[0].Kind != Slow || got[0].Event != "open" {
		t.Errorf("9 s after 1 s, 5 s and 1 s: told %v, want that open is slow", got)
	}
	for range 2 {
		repetition(9*time.Second, nil)
	}
	if usual := w.took.usual()["open"]; usual != 5*time.Second {
		t.Errorf("usual is %v, want the median of 1, 5, 1, 9 and 9 s; a lost repetition counts for nothing", usual)
	}
}

// An ANR is detected five seconds after the app stopped responding, when the test has sent the next
// event: its event is that of the frame that never ended.
func TestSeenEventOfAnANR(t *testing.T) {
	t.Parallel()
	anr := Anomaly{Kind: NotResponding, From: 7 * time.Second, To: 7 * time.Second}
	s := Seen{
		Anomalies: []Anomaly{anr},
		Events:    []logcat.Event{{Kind: logcat.UIEvent, Name: "open", Time: time.Second}, {Kind: logcat.UIEvent, Name: "scroll", Time: 6 * time.Second}},
	}
	if got := s.all(nil)[0].Event; got != "scroll" {
		t.Errorf("where no frame tells, the event is %q, want that under way, scroll", got)
	}
	s.Frames = []jank.Frame{frameAt(1500*time.Millisecond, 7*time.Second), frameAt(9*time.Second, 10*time.Millisecond)}
	for _, a := range s.all(nil) {
		if a.Event != "open" {
			t.Errorf("%s is of %q, want open", a.Kind, a.Event)
		}
	}
}

// A long frame is detected in the log if nothing else sees it: only of the app's processes, since
// any app may write such a line.
func TestFollowerDetectsLongFrames(t *testing.T) {
	t.Parallel()
	log := "--------- beginning of events\n" +
		"    10.000  1000  1040  1052 I am_proc_start: [0,500,10120,com.example,activity,com.example/.Main]\n" +
		"    10.001  1000  1040  1052 I am_proc_start: [0,501,10121,com.other,activity,com.other/.Main]\n" +
		"    11.000 10121   501   503 I HWUI    : Davey! duration=1000ms; Flags=0, IntendedVsync=9000000000, \n" +
		"    12.000 10120   500   502 I HWUI    : Davey! duration=700ms; Flags=0, IntendedVsync=9500000000, \n" +
		"    13.000 10120   500   502 I HWUI    : Davey! duration=2000ms; Flags=0, IntendedVsync=11000000000, \n" +
		"    14.000  1000  1040  1052 I am_proc_died: [0,500,com.example,0,2]\n"
	for _, frames := range []bool{true, false} {
		f := &follower{app: "com.example", stream: NewStream(), frames: frames, pids: map[int]bool{}}
		lines := newStream(nil, "m-1")
		lines.listen(f.take)
		lines.read(strings.NewReader("    10.000  2000  900  900 I apkgate-mark: m-1\n" + log))
		got, noticed := f.stream.Next()
		if noticed != frames || noticed && (got.Kind != Frozen || got.From != 11*time.Second || got.To != 13*time.Second) {
			t.Errorf("frames by the log: %v: %+v, noticed %v", frames, got, noticed)
		}
		if more, also := f.stream.Next(); also {
			t.Errorf("frames by the log: %v: and %+v", frames, more)
		}
	}
}

// Below Android 12 sched_waking is closed on retail phones, and sched_wakeup replaces it. Later it
// would duplicate it.
func TestSourcesOfWakings(t *testing.T) {
	t.Parallel()
	for api, want := range map[int]bool{29: true, 30: true, 31: false, 35: false} {
		kernel := sources([]string{"com.example.app"}, api)(recorders.Capabilities{})[0]
		events := kernel.Texts["ftrace_events"]
		if slices.Contains(events, "sched/sched_wakeup") != want || !slices.Contains(events, "sched/sched_waking") || !slices.Contains(kernel.Within, "compact_sched") {
			t.Errorf("Android API %d: %v, columns: %v", api, events, kernel.Within)
		}
	}
}
