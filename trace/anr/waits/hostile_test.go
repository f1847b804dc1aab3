package waits_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/anr/waits"
)

// A dump may chain all the threads that the reader keeps. The chain is followed to its end in
// linear time.
func TestHugeChains(t *testing.T) {
	for name, thread := range map[string]func(i int) string{
		"locks": func(i int) string {
			return fmt.Sprintf("\"t%d\" prio=5 tid=%d Blocked\n  at a.B.c(B.java:1)\n  - waiting to lock <0x%x> (a.B) held by thread %d\n", i, i, i+1, i+1)
		},
		"ends of threads": func(i int) string {
			return fmt.Sprintf("\"t%d\" prio=5 tid=%d Waiting\n  | obj=0x%x\n  at java.lang.Object.wait(Native method)\n  - waiting on <@addr=0x%x> (a java.lang.Thread)\n  at java.lang.Thread.join(Thread.java:1)\n%s", i, i, i, i+1,
				strings.Repeat("  - waiting on <@addr=0xffffffff> (a java.lang.Object)\n", 3))
		},
		"calls": func(i int) string {
			return fmt.Sprintf("\"t%d\" prio=5 tid=%d Native\n  | sysTid=%d\n\noutgoing transaction %d: 0 from 9:%d to 9:%d code 1 flags 10 pri 0 r1\n", i, i, i, i, i, i+1)
		},
	} {
		var text strings.Builder
		text.WriteString("----- pid 9 at x -----\nCmd line: a\n")
		for i := range anr.MaxThreads {
			text.WriteString(thread(i + 1))
			text.WriteString("\n")
		}
		d, err := anr.Read(strings.NewReader(text.String()))
		if err != nil {
			t.Fatal(err)
		}
		if steps := len(waits.Of(d, waits.Subject{}).Steps); steps != anr.MaxThreads {
			t.Errorf("%s: a chain of %d threads", name, steps)
		}
	}
}

// Cycles and main threads of a dump with the maximum of threads, processes and frames are found in
// linear time.
func TestHugeCycles(t *testing.T) {
	circle, many, named := &strings.Builder{}, &strings.Builder{}, &strings.Builder{}
	fmt.Fprint(circle, "----- pid 9 at x -----\nCmd line: a\n")
	for i := range anr.MaxThreads {
		fmt.Fprintf(circle, "\"t%d\" prio=5 tid=%d Blocked\n  at a.B.c(B.java:1)\n  - waiting to lock <0x%x> (a.B) held by thread %d\n\n", i, i+2, i, (i+1)%anr.MaxThreads+2)
	}
	for i := range anr.MaxProcesses {
		fmt.Fprintf(many, "----- pid %d at x -----\nCmd line: a%d\n", i+1, i)
		for j := range anr.MaxThreads / anr.MaxProcesses {
			fmt.Fprintf(many, "\"t%d\" prio=5 tid=%d Native\n  | sysTid=%d\n  at android.os.BinderProxy.transactNative(Native method)\n\n", j, j+1, j+1)
		}
		fmt.Fprintf(many, "----- end %d -----\noutgoing transaction %d: 0 from %d:1 to %d:1 code 1 flags 10 pri 0 r1\n", i+1, i+1, i+1, (i+1)%anr.MaxProcesses+1)
	}
	fmt.Fprint(named, "----- pid 9 at x -----\nCmd line: a\n")
	for i := range anr.MaxThreads {
		fmt.Fprintf(named, "\"t%d\" prio=5 tid=%d Native\n", i, i+2)
		for j := range 10 {
			fmt.Fprintf(named, "  native: #%02d pc 01  /l.so (_ZN7android10uirenderer12renderthread%d%sEv+1)\n", j, 40, strings.Repeat("a", 40))
		}
		fmt.Fprint(named, "\n")
	}
	for name, c := range map[string]struct {
		text          string
		cycles, mains int
	}{"one of all threads": {circle.String(), 1, 0}, "one of all processes": {many.String(), 1, waits.MaxMains}, "names of C++": {named.String(), 0, 0}} {
		d, err := anr.Read(strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if cycles, mains := len(waits.Cycles(d)), len(waits.Mains(d)); cycles != c.cycles || mains != c.mains {
			t.Errorf("%s: %d cycles and %d main threads, want %d and %d", name, cycles, mains, c.cycles, c.mains)
		}
	}
}
