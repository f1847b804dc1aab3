package waits_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/anr/waits"
)

// processes is a dump of several processes after a head, each "PID NAME THREAD…", whose threads are
// idle.
func processes(t *testing.T, head string, list ...string) anr.Dump {
	t.Helper()
	var text strings.Builder
	text.WriteString(head + "\n\n")
	for _, p := range list {
		f := strings.Split(p, " ")
		fmt.Fprintf(&text, "----- pid %s at 2026-03-02 -----\nCmd line: %s\n\n", f[0], f[1])
		for _, th := range f[2:] {
			name, rest, _ := strings.Cut(th, "/")
			fmt.Fprintf(&text, "\"%s\" %s\n\n", name, rest)
		}
		fmt.Fprintf(&text, "----- end %s -----\n\n", f[0])
	}
	d, err := anr.Read(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The chain begins with the thread that the watchdog names, or the main thread of the process known
// to be unresponsive, and with no other.
func TestOfBeginsWithTheUnresponsiveThread(t *testing.T) {
	const unidentified = "nothing in the file identifies the process that did not respond"
	app, server := "9 com.example sync/tid=5 main/tid=1", "3 system_server main/tid=1 android.fg/tid=8 ActivityManager:procStart/sysTid=7"
	for name, test := range map[string]struct {
		head  string
		list  []string
		about waits.Subject
		want  string // PID/NAME, or a part of the warning
	}{
		"a guess, the first process":      {"", []string{app, server}, waits.Subject{}, "9/main"},
		"a guess, behind its parent":      {"", []string{app, "4 com.example.parent main/tid=1", server}, waits.Subject{}, "9/main"},
		"system_server first":             {"", []string{server, app}, waits.Subject{}, unidentified},
		"two apps":                        {"", []string{app, "4 com.example.other main/tid=1"}, waits.Subject{}, unidentified},
		"system_server far behind":        {"", []string{app, "4 a main/tid=1", "5 b main/tid=1", server}, waits.Subject{}, unidentified},
		"a native process first":          {"", []string{"2 /system/bin/hal hal/sysTid=2", server, app}, waits.Subject{}, unidentified},
		"one again and again":             {"", []string{app, app}, waits.Subject{}, "9/main"},
		"the first behind a subject":      {"Subject: Input dispatching timed out", []string{app, "4 com.example.other main/tid=1"}, waits.Subject{}, "9/main"},
		"that of the head":                {"Process: com.example\nPID: 9", []string{server, app}, waits.Subject{}, "9/main"},
		"that of the head, by its name":   {"ANR in com.example (com.example/.Main)\nPID: 10", []string{server, app}, waits.Subject{}, "9/main"},
		"a name that is given":            {"Process: system_server", []string{server, app}, waits.Subject{Process: "com.example"}, "9/main"},
		"a number that is given":          {"", []string{server, app}, waits.Subject{PID: 9, Process: "other"}, "9/main"},
		"a process that is not there":     {"", []string{server, app}, waits.Subject{Process: "other"}, "the dump does not show the process that did not respond"},
		"a number that is not there":      {"", []string{server, app}, waits.Subject{PID: 77}, "the dump does not show the process that did not respond"},
		"the only one, without a name":    {"", []string{"5  main/tid=1"}, waits.Subject{Process: "com.example"}, "5/main"},
		"the only one has another name":   {"", []string{app}, waits.Subject{Process: "other"}, "the dump does not show the process that did not respond"},
		"two without names":               {"", []string{"5  main/tid=1", "6  main/tid=1"}, waits.Subject{Process: "other"}, "the dump does not show the process that did not respond"},
		"no main thread":                  {"", []string{"9 com.example sync/tid=5"}, waits.Subject{}, "the dump does not show the thread of process 9"},
		"the main thread by its number":   {"", []string{"9 com.example x/sysTid=8 com.example/sysTid=9"}, waits.Subject{}, "9/com.example"},
		"the main thread by its name":     {"", []string{"9 com.example x/sysTid=8 main/sysTid=7"}, waits.Subject{}, "9/main"},
		"the watchdog's handler":          {"Subject: Blocked in handler on foreground thread (android.fg) for 61s", []string{app, server}, waits.Subject{}, "3/android.fg"},
		"the watchdog's monitor":          {"", []string{app, server}, waits.Subject{Reason: "Blocked in monitor com.android.server.X on foreground thread (android.fg)"}, "3/android.fg"},
		"the watchdog's main thread":      {"Subject: Blocked in handler on main thread (main)", []string{app, server}, waits.Subject{}, "3/main"},
		"a thread that is not there":      {"Subject: Blocked in handler on i/o thread (android.io)", []string{server}, waits.Subject{}, "the dump does not show the thread of process 3"},
		"several of the watchdog's":       {"Subject: Blocked in handler on foreground thread (android.fg), Blocked in handler on main thread (main)", []string{server}, waits.Subject{}, "3/android.fg"},
		"what another program calls that": {"Subject: Blocked in handler", []string{app, server}, waits.Subject{}, "9/main"},
	} {
		t.Run(name, func(t *testing.T) {
			chain := waits.Of(processes(t, test.head, test.list...), test.about)
			got := fmt.Sprint(chain.Warnings)
			chain.Warnings = slices.DeleteFunc(chain.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, "has no stack") })
			if len(chain.Steps) > 0 {
				got = names(chain.Steps)
			}
			if ok := got == test.want || len(chain.Steps) == 0 && strings.Contains(got, test.want); !ok {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if doubt := strings.Contains(name, "several") || strings.Contains(name, "guess"); doubt != (len(chain.Steps) > 0 && len(chain.Warnings) > 0) {
				t.Errorf("warnings %v", chain.Warnings)
			}
		})
	}
}

// A native thread's name is cut to 15 bytes, of its beginning or its end.
func TestOfMatchesCutThreadNames(t *testing.T) {
	for thread, there := range map[string]string{"ActivityManager:kill": "ActivityManager", "io.sentry.samples.android": "samples.android"} {
		chain := waits.Of(processes(t, "Subject: Blocked in handler on it ("+thread+")", "3 system_server "+there+"/sysTid=7"), waits.Subject{})
		if got := names(chain.Steps); got != "3/"+there {
			t.Errorf("%s: %q, %v", thread, got, chain.Warnings)
		}
	}
	if chain := waits.Of(processes(t, "Subject: Blocked in handler on it (ActivityManager:kill)", "3 system_server Activity/sysTid=7"), waits.Subject{}); len(chain.Steps) > 0 {
		t.Errorf("a shorter name was taken for a cut one: %s", names(chain.Steps))
	}
}

// An unreadable stack is a warning for the critical thread alone.
func TestOfWarnsOfUnreadableStacks(t *testing.T) {
	none := "the dump has no stack of the critical thread \"sync\""
	for stack, want := range map[string]string{
		"": none, "\n  native: (backtrace::Unwind failed for thread 5)": none, "\n  at a.b.c(A.java:1)": "",
		"\n  native: (backtrace::Unwind failed for thread 5)\n  at a.b.c(A.java:1)": "the native part of the stack of the critical thread \"sync\" could not be read",
	} {
		chain := waits.Of(parse(t, wantsStore+" held by thread 4", "\"sync\" prio=5 tid=4 Native"+stack, "\"other\" prio=5 tid=5 Native"), waits.Subject{})
		got := ""
		for _, w := range chain.Warnings {
			got += w.Text
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", stack, got, want)
		}
	}
}

// queue is a dump in which each of n threads waits for the next one's lock, and the last for that
// of thread back, or for none if back is 0.
func queue(t *testing.T, n, back int) anr.Dump {
	t.Helper()
	var threads []string
	for i := 1; i <= n; i++ {
		wants := i + 1
		if i == n {
			wants = back
		}
		text := fmt.Sprintf("\"t%d\" prio=5 tid=%d Blocked\n  at a.b.c(A.java:1)\n", i, i)
		if wants > 0 {
			text += fmt.Sprintf("  - waiting to lock <0x%x> (a a.B) held by thread %d\n", wants, wants)
		}
		threads = append(threads, text+fmt.Sprintf("  - locked <0x%x> (a a.B)", i))
	}
	return parse(t, threads...)
}

// A record keeps the two ends of a chain that is too long, and states how much is missing.
func TestFillShortensLongChains(t *testing.T) {
	for _, test := range []struct {
		threads, back, next int
		lost                string
	}{
		{16, 0, 0, ""}, {16, 3, 3, ""}, {17, 0, 0, "1 thread more"}, {40, 0, 0, "24 threads more"},
		{40, 8, 8, "24 threads more"}, {40, 33, 9, "24 threads more"}, {40, 20, 0, "24 threads more"},
	} {
		var a run.ANR
		chain := waits.Of(queue(t, test.threads, test.back), waits.Subject{})
		chain.Fill(&a)
		last := a.Threads[len(a.Threads)-1]
		switch {
		case len(a.Threads) != 16 || a.Threads[0].Name != "t1" || last.Name != fmt.Sprintf("t%d", test.threads):
			t.Errorf("%+v: %d threads, the last is %s", test, len(a.Threads), last.Name)
		case last.Next != test.next || a.Cycle != (test.back > 0) || !last.Critical:
			t.Errorf("%+v: cycle %v, the last one %+v", test, a.Cycle, last)
		case test.lost != "" && !strings.HasSuffix(a.Threads[7].WaitsFor, ", and so on for "+test.lost):
			t.Errorf("%+v: %q", test, a.Threads[7].WaitsFor)
		case test.lost == "" && strings.Contains(a.Threads[7].WaitsFor, "so on"):
			t.Errorf("%+v: %q", test, a.Threads[7].WaitsFor)
		case test.next > 0 && !a.Threads[test.next-1].Critical:
			t.Errorf("%+v: %+v is of the cycle", test, a.Threads[test.next-1])
		}
		if critical := len(chain.Critical()); test.back > 0 && critical != test.threads-test.back+1 {
			t.Errorf("%+v: %d are critical", test, critical)
		}
	}
}

// Fill keeps the record's values and sets the missing ones, and the record can be written.
func TestFill(t *testing.T) {
	a := run.ANR{Kind: run.ANRInput, Repetition: 1, Process: "com.example.mail:remote", PID: 7, Threads: []run.ANRThread{{Name: "old"}}}
	chain := waits.Of(read(t, "deadlock.txt"), waits.Subject{})
	chain.Fill(&a)
	if a.Process != "com.example.mail:remote" || a.PID != 7 || len(a.Threads) != 2 || a.Threads[0].Process != "com.example.mail" {
		t.Errorf("filled %+v", a)
	}
	b := run.ANR{Kind: run.ANRInput, Repetition: 1}
	chain.Fill(&b)
	if b.Process != "com.example.mail" || b.PID != 4100 || b.Threads[0].Process != "" || b.Threads[0].State != "Blocked" || b.Threads[0].Kind != run.WaitLock {
		t.Errorf("filled %+v", b)
	}
	nameless := run.ANR{Kind: run.ANRInput, Repetition: 1, Process: "com.example.mail"}
	waits.Of(processes(t, "", "5  main/tid=1"), waits.Subject{Process: "com.example.mail"}).Fill(&nameless)
	if nameless.Process != "com.example.mail" || nameless.Threads[0].Process != "" {
		t.Errorf("a process whose name the dump has lost is another one's: %+v", nameless)
	}
	if stack := b.Threads[1].Stack; len(stack) != 5 || stack[1] != "- waiting to lock <0x0a000002> (a com.example.mail.Inbox) held by thread 1" || b.Threads[1].Tells != 1 {
		t.Errorf("tells %d, stack %q", b.Threads[1].Tells, stack)
	}
	var io run.ANR
	waits.Of(read(t, "binder.txt"), waits.Subject{}).Fill(&io)
	if last := io.Threads[5]; last.Tells != 2 || last.Stack[last.Tells-1] != "kernel: io_schedule" {
		t.Errorf("tells %d of %q", last.Tells, last.Stack)
	}
	waits.Chain{Cycle: -1}.Fill(&a)
	if a.Threads != nil || a.Cycle || a.Process == "" {
		t.Errorf("of no chain: %+v", a)
	}
	long := strings.Repeat("ä", 3000)
	var c run.ANR
	waits.Of(parse(t, "\""+long+"\" prio=5 tid=1 Native\n"+strings.Repeat("  native: #00 pc 1  /"+long+" ("+long+"+1) (BuildId: "+long+")\n", 200)), waits.Subject{}).Fill(&c)
	if len(c.Threads) != 1 || len(c.Threads[0].Stack) != run.MaxStack {
		t.Fatalf("filled %d threads", len(c.Threads))
	}
	for _, text := range append(c.Threads[0].Stack, c.Threads[0].Name) {
		if len(text) > run.MaxText || !utf8.ValidString(text) {
			t.Errorf("a text of %d bytes is more than a record holds", len(text))
		}
	}
}

// The kernel's list of transactions takes precedence over the stacks, and shows where no thread of
// the dump answers a call.
func TestCalls(t *testing.T) {
	const call = "\"main\" prio=5 tid=1 Native\n  | sysTid=4100\n  at android.os.BinderProxy.transactNative(Native method)\n  at android.os.BinderProxy.transact(B.java:1)\n  at a.IFeed$Stub$Proxy.query(I.java:1)"
	const answer = "\"%s\" prio=5 tid=%d Runnable\n  | sysTid=%d\n  at a.Feed.query(F.java:1)\n  at a.IFeed$Stub.onTransact(I.java:1)\n  at android.os.Binder.execTransact(B.java:1)"
	one, two := fmt.Sprintf(answer, "one", 5, 4105), fmt.Sprintf(answer, "two", 6, 4106)
	list := func(place, to, flags string) string {
		return "\n\n" + place + " transaction 7: 0 from 4100:4100 to " + to + " code 1 flags " + flags + " pri 0 r1"
	}
	for name, test := range map[string]struct {
		threads []string
		want    string
	}{
		"told":                         {[]string{call, one, two + list("outgoing", "4100:4106", "10")}, "main: binder a.IFeed::query (com.example.mail)|two: !"},
		"told where it is answered":    {[]string{call, one, two + list("incoming", "4100:4106", "10")}, "main: binder a.IFeed::query (com.example.mail)|two: !"},
		"likely":                       {[]string{call, two}, "main: binder a.IFeed::query (com.example.mail, likely)|two: !"},
		"one of two":                   {[]string{call, one, two}, "main: binder a.IFeed::query !"},
		"another method":               {[]string{call, strings.Replace(one, "query", "other", 1)}, "main: binder a.IFeed::query !"},
		"nobody has taken it":          {[]string{call, one + list("outgoing", "4100:0", "10")}, "main: binder a.IFeed::query (com.example.mail, none of whose threads has taken the call) !"},
		"nobody has taken it, pending": {[]string{call, one + list("pending", "4100:0", "10")}, "main: binder a.IFeed::query (com.example.mail, none of whose threads has taken the call) !"},
		"a process that is not there":  {[]string{call, one + list("outgoing", "55:56", "10")}, "main: binder a.IFeed::query (process 55) !"},
		"a thread that is not there":   {[]string{call, one + list("outgoing", "4100:77", "10")}, "main: binder a.IFeed::query (thread 77 of com.example.mail) !"},
		"nobody waits for it":          {[]string{call, two + list("outgoing", "55:56", "11")}, "main: binder a.IFeed::query (com.example.mail, likely)|two: !"},
		"a stack that was not read":    {[]string{"\"main\" prio=5 tid=1 Native\n  | sysTid=4100", two + list("outgoing", "4100:4106", "10")}, "main: binder (com.example.mail)|two: !"},
		"called back meanwhile":        {[]string{"\"main\" prio=5 tid=1 Native\n  | sysTid=4100", two + list("outgoing", "4100:4106", "10") + "\nincoming transaction 8: 0 from 4100:4106 to 4100:4100 code 1 flags 10 pri 0 r1"}, "main: unknown !"},
		"another one is called":        {[]string{"\"main\" prio=5 tid=1 Native\n  | sysTid=4100", two + list("outgoing", "4100:4106", "10") + "\nincoming transaction 8: 0 from 4100:4106 to 4100:4101 code 1 flags 10 pri 0 r1"}, "main: binder (com.example.mail)|two: !"},
		"the last of several":          {[]string{call, one, two + strings.Replace(list("incoming", "4100:4105", "10"), " 7:", " 6:", 1) + list("outgoing", "4100:4106", "10")}, "main: binder a.IFeed::query (com.example.mail)|two: !"},
		"the first that is listed":     {[]string{call, one, two + list("outgoing", "4100:4106", "10") + list("outgoing", "4100:4105", "10")}, "main: binder a.IFeed::query (com.example.mail)|two: !"},
		"answered an earlier one":      {[]string{"\"main\" prio=5 tid=1 Native\n  | sysTid=4100", two + list("outgoing", "4100:4106", "10") + "\nincoming transaction 6: 0 from 4100:4106 to 4100:4100 code 1 flags 10 pri 0 r1"}, "main: binder (com.example.mail)|two: !"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(said(waits.Of(parse(t, test.threads...), waits.Subject{})), "|"); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}
