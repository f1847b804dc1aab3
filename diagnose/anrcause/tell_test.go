package anrcause

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

func day2026(d int) time.Time { return time.Date(2026, 11, d, 12, 0, 0, 0, time.UTC) }

// contention is a main thread that waits for a worker's lock in the method.
func contention(method string) run.ANR {
	return threads(
		thread("main", run.WaitLock, "lock com.example.mail.Store held by sync", onLoop("com.example.mail.Inbox.open(Inbox.java:12)")...),
		thread("sync", run.WaitIO, "io f2fs_sync_file", "java.io.FileDescriptor.sync(Native method)", method, "com.example.mail.Sync.run(Sync.java:9)", "java.lang.Thread.run(Thread.java:1012)"))
}

// headRun is a run of the head build, on the 20th.
func headRun(anrs ...run.ANR) run.Run {
	return run.Run{
		ID: "head", Scenario: "scroll", Started: day2026(20), Session: "today", Source: run.Source{Commit: "fff"},
		Context: map[string]string{"model": "Pixel 7", "battery": "80-100%"}, ANRs: anrs,
	}
}

func past(id string, d int, state string, anrs ...run.ANR) Past {
	return Past{Run: id, Started: day2026(d), Session: "session " + id, Commit: "commit of " + id, Version: "1", State: state, ANRs: anrs}
}

func TestNewAndKnown(t *testing.T) {
	write, load := "com.example.mail.Store.write(Store.java:90)", "com.example.mail.Cache.load(Cache.java:7)"
	moved := contention("com.example.mail.Store.write(Store.java:93)") // by three lines
	for name, test := range map[string]struct {
		past []Past
		want string
	}{
		"an empty history": {nil, "this is new: nothing in the history is like it"},
		"others":           {[]Past{past("a", 3, "accepted", contention(load))}, "this is new: nothing in the history is like it"},
		"known": {[]Past{past("b", 5, "", moved), past("a", 3, "accepted", contention(write), contention(write)), past("c", 1, "accepted", contention(load))},
			"known since 3 November 2026 (commit commit of a), 3 times in 2 runs"},
		"known, and never accepted": {[]Past{past("b", 5, "rejected", moved)}, "known since 5 November 2026 (commit commit of b), 1 time in 1 run, none of which was accepted"},
		"later":                     {[]Past{past("b", 21, "accepted", moved)}, "this is new: nothing in the history is like it"},
		"itself":                    {[]Past{{Run: "head", Started: day2026(20), ANRs: []run.ANR{moved}}}, "this is new: nothing in the history is like it"},
		"this build's other run": {[]Past{{Run: "b", Started: day2026(20), Commit: "fff", ANRs: []run.ANR{moved, moved}}},
			"this is new: in the history only other runs of this build have it, 2 times"},
		"this session's other run": {[]Past{{Run: "b", Started: day2026(19), Session: "today", ANRs: []run.ANR{moved}}},
			"this is new: in the history only other runs of this build have it, 1 time"},
		"the base build": {[]Past{{Run: "b", Started: day2026(20), Session: "today", Base: true, ANRs: []run.ANR{moved}}}, "the base build has it too, 1 time"},
		"the base build and before": {[]Past{{Run: "b", Started: day2026(20), Session: "today", Base: true, ANRs: []run.ANR{moved}}, past("a", 3, "", moved)},
			"known since 3 November 2026 (commit commit of a), 2 times in 2 runs"},
	} {
		causes := Over(test.past).Explain(headRun(contention(write)), nil)
		if len(causes) != 1 {
			t.Fatalf("%s: %d causes, want one", name, len(causes))
		}
		c := causes[0]
		want := "the main thread of com.example.mail did not respond: it waited for thread sync, which waited for the disk in java.io.FileDescriptor.sync, in com.example.mail.Store.write; " + test.want
		if got := plain(c.Sentence); got != want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
		if err := diagnose.Validate(causes); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCause(t *testing.T) {
	a := contention("com.example.mail.Store.write(Store.java:90)")
	a.AtMS, a.WaitedMS, a.Evidence = 7000, 5000, []string{strings.Repeat("ab", 32)}
	other := threads(thread("main", run.WaitRunning, "", onLoop("com.example.mail.Feed.parse(Feed.java:3)")...))
	causes := Over([]Past{past("a", 3, "accepted", a)}).Explain(headRun(a, other, a), nil)
	if len(causes) != 2 {
		t.Fatalf("%d causes, want one for each fault", len(causes))
	}
	c := causes[0]
	if c.Run != "head" || c.Scenario != "scroll" || c.Event != "open" || c.Metric != "anr.count" || c.Kind != IOKind || c.Direction != gate.ToRegression ||
		c.Device["model"] != "Pixel 7" || c.Device["battery"] != "" || *c.Explains.Value != 2 || *c.Explains.Share != 2.0/3 || c.Explains.Sure != diagnose.Seen {
		t.Errorf("the cause of two of three: %+v", c)
	}
	if d := cmp.Diff([]diagnose.Link{{Digest: a.Evidence[0], FromMS: 2000, ToMS: 7000}}, c.Evidence); d != "" {
		t.Errorf("evidence (-want +got):\n%s", d)
	}
	if c.Picture == nil || len(c.Tables) != 2 || len(c.Tables[0].Rows) != 4 || plain(c.Tables[1].Rows[0].Cells[0]) != "a" || plain(c.Tables[1].Rows[0].Cells[4]) != "accepted" {
		t.Errorf("what it shows: %+v, %+v", c.Picture, c.Tables)
	}
	if got := plain(causes[1].Sentence); causes[1].Kind != WorkKind || !strings.Contains(got, "it was busy, not blocked, in com.example.mail.Feed.parse; this is new") {
		t.Errorf("the other one is %s: %q", causes[1].Kind, got)
	}
}

// A cause is shown with each finding that counts its ANRs, with its figures at the first, and else
// with its own event.
func TestFindings(t *testing.T) {
	a := contention("com.example.mail.Store.write(Store.java:90)")
	worse := func(event, metric string) diagnose.Finding {
		return diagnose.Finding{Event: event, Metric: metric, Direction: gate.ToRegression}
	}
	found := []diagnose.Finding{
		{Metric: "anr.count", Direction: gate.ToImprovement}, worse("", "frames.count"), worse("", "anr.count"), worse("close", "anr.count"),
		worse("open", "anr.input"), worse("open", "anr.broadcast"), worse("open", "snr.count"),
	}
	var got []string
	for i, c := range Over(nil).Explain(headRun(a), found) {
		got = append(got, c.Event+" "+c.Metric)
		if (i == 0) != (c.Picture != nil) {
			t.Errorf("at %q a picture: %v", got[i], c.Picture != nil)
		}
	}
	if d := cmp.Diff([]string{" anr.count", "open anr.input"}, got); d != "" {
		t.Errorf("causes stand at (-want +got):\n%s", d)
	}
	system := a
	system.Kind, system.Process = run.SNR, "system_server"
	service := a
	service.Kind = run.ANRForegroundService
	if c := Over(nil).Explain(headRun(system), found)[0]; c.Event != "open" || c.Metric != "snr.count" {
		t.Errorf("of Android itself at %q %q", c.Event, c.Metric)
	}
	if c := Over(nil).Explain(headRun(service), []diagnose.Finding{worse("open", "anr.service")})[0]; c.Metric != "anr.service" {
		t.Errorf("of a service in the foreground at %q", c.Metric)
	}
	file := headRun(a)
	file.ID = ""
	if got := plain(Over(nil).Explain(file, nil)[0].Sentence); strings.Contains(got, "new") || strings.Contains(got, ";") {
		t.Errorf("of a file alone: %q", got)
	}
	if causes := Over(nil).Explain(headRun(), found); causes != nil {
		t.Errorf("without ANRs: %+v", causes)
	}
}

func TestSentences(t *testing.T) {
	dead := threads(thread("main", run.WaitLock, "lock A held by sync", "a.B.c(B.java:1)"), thread("sync", run.WaitLock, "lock B held by main", "a.D.e(D.java:1)"))
	dead.Cycle = true
	far := threads(thread("main", run.WaitBinder, "binder IFeed::query (com.example.feed)", "a.B.c(B.java:1)"), in("com.example.feed", thread("Binder:7_1", run.WaitLock, "lock X held by db", "f.F.g(F.java:1)")),
		in("com.example.feed", thread("db", run.WaitRunning, "", "f.Db.vacuum(Db.java:1)")))
	var long []run.ANRThread
	for range run.MaxANRThreads {
		long = append(long, thread("t", run.WaitLock, "lock A held by t", "a.B.c(B.java:1)"))
	}
	system := run.ANR{Kind: run.SNR, Repetition: 1}
	behind := threads(thread("main", run.WaitLock, "lock A held by sync", "a.B.c(B.java:1)"), thread("sync", run.WaitLock, "lock B held by index", "a.D.e(D.java:1)"), thread("index", run.WaitLock, "lock A held by sync", "a.F.g(F.java:1)"))
	behind.Cycle, behind.Threads[1].Critical, behind.Threads[2].Next = true, true, 2
	idle := threads(thread("main", run.WaitIdle, "idle", "android.os.MessageQueue.nativePollOnce(Native method)"))
	for _, test := range []struct {
		anr   run.ANR
		title string
		want  string
	}{
		{dead, "Deadlock of main, sync", "the main thread of com.example.mail did not respond: the threads main, sync wait for each other, for ever"},
		{behind, "Deadlock of index, sync", "the main thread of com.example.mail did not respond: it waited for the threads index, sync, which wait for each other forever"},
		{threads(append(long, thread("last", run.WaitRunning, "", "a.D.e(D.java:1)"))[1:]...), "Waiting for A", "thread t of com.example.mail did not respond: it waited through at least 14 others for thread last, which held the lock, in a.D.e"},
		{far, "No answer from com.example.feed IFeed::query", "the main thread of com.example.mail did not respond: it waited through 1 other for thread db of com.example.feed, which kept a binder call unanswered (com.example.feed IFeed::query), in f.Db.vacuum"},
		{system, "Not known: watchdog", "Android did not respond, and no thread's stack was read"},
		{threads(thread("main", run.WaitIO, "io", "native: pc 1  /apex/libc.so (read+4)")), "Waiting for disk", "the main thread of com.example.mail did not respond: it waited for the disk"},
		{threads(thread("main", run.WaitIO, "io", "java.io.RandomAccessFile.read(Native method)")), "Waiting for java.io.RandomAccessFile.read", "the main thread of com.example.mail did not respond: it waited for the disk in java.io.RandomAccessFile.read"},
		{idle, "Idle by then: main", "the main thread of com.example.mail did not respond: it was idle when the stacks were written"},
	} {
		c := Over(nil).Explain(headRun(test.anr), nil)[0]
		sentence, _, _ := strings.Cut(plain(c.Sentence), "; ")
		if plain(c.Title) != test.title || sentence != test.want {
			t.Errorf("%q: %q\nwant %q: %q", plain(c.Title), sentence, test.title, test.want)
		}
	}
}

func TestDoubts(t *testing.T) {
	unread := threads(run.ANRThread{Name: "main", Kind: run.WaitUnknown})
	short := with(threads(thread("main", run.WaitRunning, "", "a.B.c(B.java:1)")), "memory: low")
	idle := threads(thread("main", run.WaitIdle, "idle", "android.os.MessageQueue.nativePollOnce(Native method)"))
	idle.Signature, short.Signature = "ab", "ab"
	for _, test := range []struct {
		anr  run.ANR
		want string
	}{
		{idle, "Either the stacks came late"}, {short, "Memory was short"},
		{unread, "No function of the critical thread"}, {threads(thread("main", "", "", "a.B.c(B.java:1)")), "The stacks point there"},
	} {
		c := Over(nil).Explain(headRun(test.anr), nil)[0]
		if !slices.ContainsFunc(c.Doubts, func(p diagnose.Phrase) bool { return strings.HasPrefix(plain(p), test.want) }) {
			t.Errorf("%s: doubts %v, want one that begins %q", c.Kind, c.Doubts, test.want)
		}
	}
}

// The rows of the tables are limited and counted, the basis says what was read, and of several ANRs
// one with threads is described.
func TestTablesAreLimited(t *testing.T) {
	var stack []string
	for i := range 30 {
		stack = append(stack, fmt.Sprintf("com.example.mail.Deep.f%d(Deep.java:1)", i), "- locked <0x1> (a b.C)")
	}
	deep := threads(thread("main", run.WaitRunning, "", stack...))
	var all []Past
	for i := range 25 {
		all = append(all, past(fmt.Sprint("run ", i), 1, "accepted", deep))
	}
	c := Over(all).Explain(headRun(deep), nil)[0]
	for _, table := range []struct {
		diagnose.Table
		rows, all int
	}{{c.Tables[0], maxFrames, 30}, {c.Tables[1], maxRows, 25}} {
		if len(table.Rows) != table.rows || table.All() != table.all {
			t.Errorf("%s: %d rows of %d, want %d of %d", table.Title, len(table.Rows), table.All(), table.rows, table.all)
		}
	}
	whole := Over(all[:maxRows]).Explain(headRun(threads(thread("main", run.WaitRunning, "", stack[:2*maxFrames]...)), deep), nil)
	for _, c := range whole {
		for _, table := range c.Tables {
			if table.Title == "The same in other runs" && table.Total != 0 {
				t.Errorf("of a table that is whole, %d rows are told", table.Total)
			}
		}
	}
	for want, a := range map[string]run.ANR{
		"by what Android said of it alone":                     {Kind: run.ANRInput, Repetition: 1},
		"by the stacks of 1 thread":                            with(deep, "cpu: low", "heap: good"),
		"by the stacks of 1 thread and cpu: high, memory: low": with(deep, "cpu: high", "heap: good", "memory: low"),
	} {
		if got := plain(Over(nil).Explain(headRun(a), nil)[0].Basis); got != want {
			t.Errorf("basis %q, want %q", got, want)
		}
	}
	none, unread := run.ANR{Kind: run.ANRInput, Repetition: 1}, threads(run.ANRThread{Name: "main", Kind: run.WaitUnknown})
	if c := Over(nil).Explain(headRun(none, unread), nil); len(c) != 1 || len(c[0].Picture.Waits.Threads) != 1 {
		t.Errorf("of two of which one has a thread: %+v", c)
	}
	if c := Over(nil).Explain(headRun(unread, none), nil); len(c) != 1 || c[0].Picture == nil {
		t.Errorf("the other way round: %+v", c)
	}
	for _, a := range []run.ANR{deep, threads(thread("main", run.WaitIO, "io", "java.io.FileDescriptor.sync(Native method)")), threads(thread("main", run.WaitIO, "io", loop...))} {
		c := Over(nil).Explain(headRun(a), nil)[0]
		last := c.Title[len(c.Title)-1]
		if short := last.As == diagnose.Short; short != strings.Contains(c.Subject.Name, ".") {
			t.Errorf("%q is shown as %q", c.Subject.Name, last.As)
		}
	}
}

// TestClusters lists the faults of a history, the most frequent first.
func TestClusters(t *testing.T) {
	write, load := contention("com.example.mail.Store.write(Store.java:90)"), contention("com.example.mail.Cache.load(Cache.java:7)")
	write.Signature, load.Signature = "aa", "bb"
	again := write
	again.Signature = "ac"
	dead := threads(thread("main", run.WaitLock, "lock A held by sync", "a.B.c(B.java:1)", "a.B.d(B.java:2)"), thread("sync", run.WaitLock, "lock B held by main", "x.Y.z(Y.java:1)", "x.Y.w(Y.java:2)"))
	dead.Cycle, dead.Threads[1].Critical = true, false
	got, leftOut := Over([]Past{past("b", 5, "", write, load), past("a", 3, "rejected", again), past("c", 7, "accepted", dead), past("d", 8, "", write, dead)}).Clusters()
	want := []string{
		"anr.io java.io.FileDescriptor.sync seen: 3 times in 3 runs, first a, last d, accepted false, [aa ac]",
		"anr.deadlock main, sync seen: 2 times in 2 runs, first c, last d, accepted true, []",
		"anr.io java.io.FileDescriptor.sync seen: 1 times in 1 runs, first b, last b, accepted false, [bb]",
	}
	var said []string
	for _, c := range got {
		said = append(said, fmt.Sprintf("%s %s %s: %d times in %d runs, first %s, last %s, accepted %v, %v", c.Kind, c.Subject, c.Sure, c.Times, c.Runs, c.First.Run, c.Last.Run, c.Accepted, c.Signatures))
	}
	if d := cmp.Diff(want, said); d != "" || leftOut != 0 {
		t.Errorf("%d left out (-want +got):\n%s", leftOut, d)
	}
	none, unread := run.ANR{Kind: run.ANRInput, Repetition: 1}, threads(run.ANRThread{Name: "main", Kind: run.WaitUnknown})
	one, _ := Over([]Past{past("b", 5, "", none), past("a", 3, "", unread)}).Clusters()
	two, _ := Over([]Past{past("b", 5, "", write), past("a", 3, "", contention("com.example.mail.Store.write(Store.java:1)"), none)}).Clusters()
	if len(one) != 1 || !strings.HasPrefix(plain(one[0].Sentence), "the main thread") || one[0].Last.Run != "b" || len(two) != 2 || two[0].Last.Run != "b" {
		t.Errorf("the newest with threads is told: %+v, %+v", one, two)
	}
	if got, _ := Over(nil).Clusters(); len(got) != 0 {
		t.Errorf("of an empty history: %+v", got)
	}
}

// Components that share an ANR are one, also through a third.
func TestJoint(t *testing.T) {
	at := func(anr int) point { return point{anr: anr} }
	all := joint(map[int][]point{0: {at(1)}, 1: {at(2)}, 2: {at(3), at(2)}, 3: {at(1), at(3)}, 4: {at(4)}})
	for part, want := range []int{0, 0, 0, 0, 4} {
		if got := root(all, part); got != want {
			t.Errorf("part %d is one with %d, want %d", part, got, want)
		}
	}
}

// Doubts that do not apply are left out.
func TestNoDoubts(t *testing.T) {
	sure := threads(thread("main", run.WaitRunning, "", "a.B.c(B.java:1)"))
	sure.Signature = "ab"
	short := with(threads(thread("main", run.WaitGC, "gc", "a.B.c(B.java:1)")), "memory: low")
	short.Signature = "ab"
	for _, a := range []run.ANR{sure, short} {
		if c := Over(nil).Explain(headRun(a), nil)[0]; len(c.Doubts) != 0 {
			t.Errorf("%s: doubts %v", c.Kind, c.Doubts)
		}
	}
	none := Over(nil).Explain(headRun(run.ANR{Kind: run.ANRInput, Repetition: 1}), nil)[0]
	if slices.ContainsFunc(none.Doubts, func(p diagnose.Phrase) bool { return strings.HasPrefix(plain(p), "No function") }) {
		t.Errorf("without a thread: doubts %v", none.Doubts)
	}
	if untold := Over(nil).Explain(headRun(threads(run.ANRThread{Name: "main", Kind: run.WaitUnknown})), nil)[0]; len(none.Doubts) != 0 || len(untold.Doubts) != 1 {
		t.Errorf("what shows no stack points nowhere: %v, %v", none.Doubts, untold.Doubts)
	}
	first, second := contention("com.example.mail.Store.write(Store.java:90)"), contention("com.example.mail.Store.write(Store.java:91)")
	c := Over(nil).Explain(headRun(first, second), nil)
	if len(c) != 1 || plain(c[0].Tables[0].Rows[1].Cells[0]) != "com.example.mail.Store.write(Store.java:90)" {
		t.Errorf("of two like ones the first is shown: %+v", c[0].Tables[0].Rows)
	}
}

// A cycle is in a cluster for each of its threads; it is known where either was seen.
func TestDeadlockKnownByEitherThread(t *testing.T) {
	a, b := thread("main", run.WaitLock, "lock A held by sync", "a.B.c(B.java:1)", "a.B.d(B.java:2)"), thread("sync", run.WaitLock, "lock B held by main", "x.Y.z(Y.java:1)", "x.Y.w(Y.java:2)")
	dead := run.ANR{Kind: run.ANRInput, Process: "com.example.mail", Repetition: 1, Cycle: true, Threads: []run.ANRThread{a, b}}
	turned := dead
	turned.Threads = []run.ANRThread{b, a}
	if c := Over([]Past{past("a", 3, "", turned)}).Explain(headRun(dead), nil); len(c) != 1 || !strings.Contains(plain(c[0].Sentence), "1 time in 1 run") {
		t.Errorf("the same cycle, told from its other end: %+v", c)
	}
	another := dead
	another.Threads = []run.ANRThread{a, thread("index", run.WaitLock, "lock B held by main", "i.J.k(J.java:1)", "i.J.l(J.java:2)")}
	if c := Over([]Past{past("a", 3, "", another)}).Explain(headRun(dead), nil); !strings.Contains(plain(c[0].Sentence), "1 time in 1 run") {
		t.Errorf("a cycle with one thread in common: %q", plain(c[0].Sentence))
	}
	if c := Over(nil).Explain(headRun(dead, another), nil); len(c) != 1 {
		t.Errorf("two cycles of one run that share a thread are %d faults", len(c))
	}
}

// Without a stack only the kind distinguishes ANRs, and none is like one with a stack.
func TestWithoutStacks(t *testing.T) {
	none, broadcast := run.ANR{Kind: run.ANRInput, Repetition: 1}, run.ANR{Kind: run.ANRBroadcast, Repetition: 1}
	unread := threads(run.ANRThread{Name: "main"})
	h := Over([]Past{past("a", 3, "accepted", none, unread, broadcast, contention("a.B.c(B.java:1)"))})
	if got := plain(h.Explain(headRun(none), nil)[0].Sentence); !strings.HasSuffix(got, "2 times in 1 run") {
		t.Errorf("without threads: %q", got)
	}
}

// TestOrderDoesNotMatter shuffles a history: the known occurrences of a fault are the same.
func TestOrderDoesNotMatter(t *testing.T) {
	var all []Past
	for i := range 12 {
		all = append(all, past(fmt.Sprint("run ", i), 1+i, "accepted", chained(i)))
	}
	want := plain(Over(all).Explain(headRun(chained(0)), nil)[0].Sentence)
	if !strings.HasSuffix(want, "12 times in 12 runs") {
		t.Errorf("a chain of which each is like the next: %q", want)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := plain(Over(all).Explain(headRun(chained(0)), nil)[0].Sentence); got != want {
			t.Errorf("in another order %q, want %q", got, want)
		}
	}
}

// chained has a stack of forty functions, one of which changes with each step.
func chained(step int) run.ANR {
	var stack []string
	for i := range 40 {
		v := 0
		if i < step {
			v = 1
		}
		stack = append(stack, fmt.Sprintf("com.example.mail.C%c.f%c%d(X.java:1)", 'a'+i/20, 'a'+i%20, v))
	}
	return threads(thread("main", run.WaitRunning, "", stack...))
}

// The newest ANRs count, and the others are reported as left out.
func TestHistoryIsBounded(t *testing.T) {
	many := make([]run.ANR, run.MaxANRs)
	for i := range many {
		many[i] = contention("com.example.mail.Store.write(Store.java:90)")
	}
	var all []Past
	for i := range MaxHistory/run.MaxANRs + 2 {
		p := past(fmt.Sprint("run ", i), 1, "accepted", many...)
		p.Started = p.Started.Add(time.Duration(i) * time.Minute)
		all = append(all, p)
	}
	c := Over(all).Explain(headRun(many[0]), nil)[0]
	if got := plain(c.Sentence); !strings.Contains(got, fmt.Sprintf("%d times in %d runs", MaxHistory, MaxHistory/run.MaxANRs)) || !strings.Contains(got, "commit of run 2)") {
		t.Errorf("of more than are compared: %q", got)
	}
	if !strings.Contains(plain(c.Doubts[len(c.Doubts)-1]), "200 older ANRs") {
		t.Errorf("doubts: %v", c.Doubts)
	}
}
