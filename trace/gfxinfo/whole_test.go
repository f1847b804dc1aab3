package gfxinfo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/trace/gfxinfo"
)

const (
	dumpHead = "Applications Graphics Acceleration Info:\nUptime: 123456 Realtime: 123456\n\n"
	dumpEnd  = "View hierarchy:\n\nTotal ViewRootImpl: 1\nTotal Views: 22\nTotal DisplayList: 32.25 kB\n\n"
)

func TestReadMarksAnAbortedDumpCut(t *testing.T) {
	t.Parallel()
	rows := row16(0, 1e9, 10e6) + row16(0, 2e9, 10e6)
	whole := dumpHead + process(7, "p", "Profile data in ms:\n\n"+window("p/p.A", "1a", rows)+dumpEnd)
	half := whole[:strings.Index(whole, "0,2000000000")]
	for said, cut := range map[string]bool{
		"*** SERVICE 'gfxinfo' DUMP TIMEOUT (10000ms) EXPIRED ***":                       true,
		"*** SERVICE 'gfxinfo' DUMP TIMEOUT (10s) EXPIRED ***":                           true,
		"*** SERVICE DUMP TIMEOUT EXPIRED ***":                                           true,
		"*** command 'dumpsys -t 60 gfxinfo' timed out after 60.010s (killing pid 4711)": true,
	} {
		d := read(t, half+"\n"+said+"\n\n")
		if d.Cut != cut || d.UnreadRows != 0 || len(d.Rows()) != 1 || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0].Text, "aborted its own dump") {
			t.Errorf("%q: cut %v, %d rows, %v", said, d.Cut, len(d.Rows()), d.Warnings)
		}
	}
	if d := read(t, whole+"*** SERVICE 'meminfo' DUMP TIMEOUT (10000ms) EXPIRED ***\n"); d.Cut || len(d.Warnings) != 0 {
		t.Errorf("another service's time-out: %v", d.Warnings)
	}
}

func TestReadMarksATruncatedDumpCut(t *testing.T) {
	t.Parallel()
	whole := dumpHead + process(7, "p", summary+"\nProfile data in ms:\n\n"+window("p/p.A", "1a", row16(0, 1e9, 10e6))+dumpEnd)
	if d := read(t, whole); d.Cut || len(d.Warnings) != 0 {
		t.Errorf("whole: %v", d.Warnings)
	}
	for name, text := range map[string]string{
		"within a line":             whole[:strings.Index(whole, "Total Views: 22")+6],
		"within the summary":        whole[:strings.Index(whole, "HISTOGRAM")],
		"behind the summary":        whole[:strings.Index(whole, "Profile data")],
		"within the rows":           whole[:strings.Index(whole, "0,1000000000")],
		"behind the rows":           whole[:strings.Index(whole, "View hierarchy")],
		"within a bug report":       "DUMP OF SERVICE gfxinfo:\n" + whole[:strings.Index(whole, "View hierarchy")] + "DUMP OF SERVICE meminfo:\nTotal: 1\n",
		"within the last package":   "Package: a\n" + summary + "Package: b\n" + summary[:strings.Index(summary, "HISTOGRAM")],
		"before a package's totals": "Package: a\n" + summary + "Package: b\n",
	} {
		if d := read(t, text); !d.Cut || !strings.Contains(d.Warnings[0].Text, "text ends") {
			t.Errorf("%s: cut %v, %v", name, d.Cut, d.Warnings)
		}
	}
}

// A service among several ends with a line that marks the end.
func TestReadWarnsOfAnUnclosedService(t *testing.T) {
	t.Parallel()
	text := "DUMP OF SERVICE graphicsstats:\nPackage: a\n" + summary
	const closed = "--------- 0.004s was the duration of dumpsys graphicsstats, ending at: 2026-01-02 03:04:05\n"
	for text, doubted := range map[string]bool{
		text: true, text + closed: false, text + "-----\nDUMP OF SERVICE meminfo:\n": false, "Package: a\n" + summary: false,
	} {
		if d := read(t, text); doubted != strings.Contains(fmt.Sprint(d.Warnings), "ends a service's dump") || d.Cut {
			t.Errorf("%q: cut %v, %v", text, d.Cut, d.Warnings)
		}
	}
}

// "No frames were counted" differs from "no frame was drawn".
func TestInspectFailedDumpHasNoCounts(t *testing.T) {
	t.Parallel()
	for text, doubt := range map[string]string{
		"No process found for: com.example\n":                                    "returned no dump",
		"Can't find service: gfxinfo\n":                                          "returned no dump",
		process(7, "p", "Failure while dumping the app: ProcessRecord{1:p/1}\n"): "returned no dump",
		row16(0, 1e9, 10e6) + "---PROFILEDATA---\n" + row16(0, 2e9, 10e6):        "1 rows of frames can't be read",
	} {
		in, err := gfxinfo.Inspect(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		_, counted := in.Metrics["frames.count"]
		said := false
		for _, w := range in.Warnings {
			said = said || strings.Contains(w.Text, doubt)
			if strings.Contains(w.Text, "before Android 6") {
				t.Errorf("%q: misleading: %v", text, w)
			}
		}
		if counted || !in.Nothing || !said {
			t.Errorf("%q: %v, nothing %v, %v, want %q", text, in.Metrics, in.Nothing, in.Warnings, doubt)
		}
	}
	// One failed process of several leaves the others' counts.
	in, err := gfxinfo.Inspect(strings.NewReader(process(7, "p", summary) + process(8, "q", "Failure while dumping the app: q\n")))
	if err != nil || in.Metrics["frames.count"] != 100 || in.Nothing {
		t.Errorf("%v, %v", in.Metrics, err)
	}
}
