package waits_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/anr/waits"
)

// A dump may make one chain of all the threads that the reader keeps. It is followed to
// its end, by steps that don't cost more where the dump is larger.
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
