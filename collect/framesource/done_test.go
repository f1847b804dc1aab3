package framesource

import (
	"strings"
	"testing"
)

// Page faults and the main thread's waits are the kernel's counts, or unknown.
func TestDoneOf(t *testing.T) {
	t.Parallel()
	stat := func(faults string) string {
		return "7 (a) b) S 600 600 0 0 -1 1077936448 " + faults + " 9 20 9 30 20 " + strings.Repeat("0 ", 30) + "\n"
	}
	const status = "Name:\ta\nvoluntary_ctxt_switches:\t412\nnonvoluntary_ctxt_switches:\t33\n"
	for _, c := range []struct {
		text string
		want Done
		ok   bool
	}{
		{stat("41000") + status, Done{41000, 412}, true},
		{"\r\n" + stat("41000") + strings.ReplaceAll(status, "\n", "\r\n"), Done{41000, 412}, true},
		{stat("41000"), Done{}, false},
		{stat("41000") + "cat: /proc/7/status: Permission denied\n", Done{}, false},
		{"cat: /proc/7/stat: No such file or directory\n" + status, Done{}, false},
		{stat("-1") + status, Done{}, false},
		{stat("99999999999999999999") + status, Done{}, false},
		{stat("41000") + "nonvoluntary_ctxt_switches:\t33\n", Done{}, false},
		{"", Done{}, false},
	} {
		got, ok := DoneOf([]byte(c.text))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %+v, %v", c.text, got, ok)
		}
	}
}
