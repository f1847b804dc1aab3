package anrtraces

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
)

// box is the output of dumpsys dropbox.
func box(entries ...string) string {
	return "Drop box contents: 12 entries\nMax entries: 1000\n\nSearching for: data_app_anr\n\n" + strings.Join(entries, "")
}

func boxed(date, tag, text string) string {
	return strings.Repeat("=", 40) + "\n" + date + " " + tag + " (compressed text, 4711 bytes)\n" + text + "\n\n"
}

var (
	noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	one  = run.ANR{Kind: run.ANRInput, Process: "com.example", PID: 500, Reason: "Input dispatching timed out (one)"}
)

// An entry is assigned by its head and its date.
func TestAssign(t *testing.T) {
	t.Parallel()
	const mine = "Process: com.example\nPID: 500\nFlags: 0x20\nSubject: Input dispatching timed out (one)\n\nstacks of mine\n"
	for name, c := range map[string]struct {
		text string
		want string // "" for none
	}{
		"its own":                     {box(boxed("2026-11-22 12:00:00", "data_app_anr", mine)), "stacks of mine"},
		"without a number":            {box(boxed("2026-11-22 12:00:00", "data_app_anr", strings.Replace(mine, "PID: 500\n", "", 1))), "stacks of mine"},
		"of another process":          {box(boxed("2026-11-22 12:00:00", "data_app_anr", strings.Replace(mine, "PID: 500", "PID: 501", 1))), ""},
		"of another app":              {box(boxed("2026-11-22 12:00:00", "data_app_anr", strings.Replace(mine, "com.example", "com.other", 1))), ""},
		"of the run before":           {box(boxed("2026-11-22 10:59:59", "data_app_anr", mine)), ""},
		"a name below the head alone": {box(boxed("2026-11-22 12:00:00", "data_app_anr", "Flags: 1\n\nProcess: com.example\nPID: 500\n")), ""},
		"of the watchdog":             {box(boxed("2026-11-22 12:00:00", "system_server_watchdog", mine)), ""},
		"the one of the same words": {box(boxed("2026-11-22 12:00:00", "data_app_anr", strings.NewReplacer("(one)", "(two)", "of mine", "of two").Replace(mine)),
			boxed("2026-11-22 12:00:01", "data_app_anr", mine)), "stacks of mine"},
		"other words for want of better": {box(boxed("2026-11-22 12:00:00", "data_app_anr", strings.NewReplacer("(one)", "(two)", "of mine", "of two").Replace(mine))), "stacks of two"},
		"nothing":                        {box("(No entries found.)\n"), ""},
		"lost":                           {box(strings.Repeat("=", 40) + "\n2026-11-22 12:00:00 data_app_anr (contents lost)\n\n"), ""},
	} {
		texts := make([][]byte, 1)
		assign(entriesOf(c.text, noon.Add(-time.Hour), noon.Add(time.Hour)), []run.ANR{one}, texts)
		if got := string(texts[0]); (got == "") != (c.want == "") || !strings.Contains(got, c.want) || strings.Contains(got, "=====") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Two ANRs of one process have an entry each; one of Android itself has the watchdog's.
func TestAssignSeveralANRs(t *testing.T) {
	t.Parallel()
	head := "Process: com.example\nPID: 500\nSubject: same\n\n"
	text := box(boxed("2026-11-22 12:00:00", "data_app_anr", head+"first"), boxed("2026-11-22 12:00:09", "data_app_anr", head+"second"),
		boxed("2026-11-22 12:01:00", "system_server_watchdog", "Process: system_server\nSubject: Blocked in handler\n\nthird"))
	anrs := []run.ANR{{Kind: run.ANRInput, Process: "com.example", PID: 500}, {Kind: run.ANRInput, Process: "com.example", PID: 500}, {Kind: run.SNR}}
	texts := make([][]byte, 3)
	assign(entriesOf(text, noon.Add(-time.Hour), noon.Add(time.Hour)), anrs, texts)
	for i, want := range []string{"first", "second", "third"} {
		if !strings.HasSuffix(string(texts[i]), want+"\n") {
			t.Errorf("ANR %d: %q, want %s", i+1, texts[i], want)
		}
	}
}

func FuzzDropBox(f *testing.F) {
	f.Add(box(boxed("2026-11-22 12:00:00", "data_app_anr", "Process: com.example\nPID: 500\n\nstacks")))
	f.Fuzz(func(t *testing.T, text string) {
		whole := 0
		for _, e := range entriesOf(text, time.Time{}, noon.AddDate(8000, 0, 0)) {
			whole += len(e.text)
		}
		if whole > len(text)+maxEntries {
			t.Errorf("%d bytes of entries in %d bytes", whole, len(text))
		}
	})
}

// The log around the ANR of a process is found by the log's own clock.
func TestAround(t *testing.T) {
	t.Parallel()
	log := "  1.000  1000  9  9 I x: long before\n" +
		" 20.000  1000  9  9 I x: before\n" +
		" 25.000  1000  9  9 I am_anr: [0,500,com.example,8,Input dispatching timed out (one)]\n" +
		" 25.100  1000  9  9 I am_anr: [0,501,com.other,8,x]\n" +
		" 30.000  1000  9  9 I x: after\n" +
		" 99.000  1000  9  9 I x: long after\n"
	a := one
	a.AtMS, a.WaitedMS = 25_000, 5_000
	if got := string(around([]byte(log), a)); strings.Contains(got, "long") || strings.Count(got, "\n") != 4 {
		t.Errorf("%s", got)
	}
	a.PID = 502
	if got := around([]byte(log), a); got != nil {
		t.Errorf("of a process that is not in it: %s", got)
	}
}

// The days of a repetition are queried.
func TestDays(t *testing.T) {
	t.Parallel()
	for at, want := range map[string][]string{
		"2026-03-01 12:00:00": {"2026-03-01"},
		"2026-03-01 00:02:00": {"2026-02-28", "2026-03-01"},
		"2026-12-31 23:57:00": {"2026-12-31", "2027-01-01"},
	} {
		now, err := time.Parse(time.DateTime, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := days(now.Add(-time.Minute-tolerance), now.Add(tolerance)); !slices.Equal(got, want) {
			t.Errorf("at %s: %q, want %q", at, got, want)
		}
	}
	if got := days(time.Time{}, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)); len(got) != 3 || got[2] != "2026-03-01" {
		t.Errorf("of a repetition of two thousand years: %q", got)
	}
}
