package phone

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	gfxread "github.com/apkgate/apkgate/trace/gfxinfo"
	"github.com/apkgate/apkgate/trace/jank"
)

// The columns of real dumps of these versions, counted by hand.
func TestFramestatsColumns(t *testing.T) {
	for name, want := range map[string]struct {
		columns     int
		first, last string
	}{
		"nexus-5x-android-6.0.0": {14, "Flags,IntendedVsync,Vsync,OldestInputEvent,", "SwapBuffers,FrameCompleted,"},
		"moto-g5-android-7.0":    {16, "Flags,IntendedVsync,Vsync,OldestInputEvent,", "DequeueBufferDuration,QueueBufferDuration,"},
		"pixel-3-android-9":      {16, "Flags,IntendedVsync,Vsync,OldestInputEvent,", "DequeueBufferDuration,QueueBufferDuration,"},
		"pixel-5-android-11":     {17, "Flags,IntendedVsync,Vsync,OldestInputEvent,", "QueueBufferDuration,GpuCompleted,"},
		"pixel-7-android-14":     {23, "Flags,FrameTimelineVsyncId,IntendedVsync,Vsync,InputEventId,", "DisplayPresentTime,CommandSubmissionCompleted,"},
	} {
		p := newPhone(t, name, still)
		start(p, instrument)
		pass(t, p, 2500*time.Millisecond)
		lines := strings.Split(output(t, p, "dumpsys gfxinfo com.example.still framestats"), "\n")
		header := ""
		rows := 0
		for i, line := range lines {
			if strings.HasPrefix(line, "Flags,") {
				header = line
				if lines[i-1] != "---PROFILEDATA---" {
					t.Errorf("%s: the header stands behind %q", name, lines[i-1])
				}
			} else if header != "" && strings.Count(line, ",") == want.columns {
				rows++
			}
		}
		if strings.Count(header, ",") != want.columns || !strings.HasPrefix(header, want.first) || !strings.HasSuffix(header, want.last) {
			t.Errorf("%s: header %q", name, header)
		}
		if rows < 60 || rows > 120 {
			t.Errorf("%s: %d rows, want those of 2.5 s, at most 120", name, rows)
		}
	}
}

// Frames that only the render thread draws, and those that lay out a window, are in the rows
// and in the summary, as on phones.
func TestFramestatsAgreeWithTheSummary(t *testing.T) {
	for _, name := range []string{"nexus-5x-android-6.0.0", "moto-g5-android-7.0", "pixel-3-android-9", "pixel-5-android-11", "pixel-7-android-14"} {
		p := newPhone(t, name, still)
		start(p, instrument)
		pass(t, p, 1500*time.Millisecond)
		d, err := gfxread.Read(strings.NewReader(output(t, p, "dumpsys gfxinfo com.example.still framestats")))
		if err != nil {
			t.Fatal(err)
		}
		w := d.Processes[0].Windows[0]
		flags := map[int64]int{}
		for _, f := range w.Frames {
			flags[f.Flags]++
		}
		if len(w.Frames) >= 120 || flags[gfxread.FlagWindowChanged] == 0 || flags[gfxread.FlagRTAnimation] == 0 {
			t.Errorf("%s: %d rows, by flags: %v", name, len(w.Frames), flags)
		}
		got := gfxread.Metrics(w.Frames, jank.Display{Period: p.profile.Period()})
		if int64(got["frames.count"]) != w.Stats.Total || int64(got["frames.janky"]) != w.Stats.Janky {
			t.Errorf("%s: the rows are %g frames, %g janky; the summary states %d and %d", name,
				got["frames.count"], got["frames.janky"], w.Stats.Total, w.Stats.Janky)
		}
	}
}

// Before the event there are 30 frames and 2 that lay out the window; tap adds 60. All of them
// take 5 ms and a fraction of a millisecond.
func TestSummaryCountsUntilAReset(t *testing.T) {
	p := newPhone(t, "pixel-2-android-8.1.0", still)
	output(t, p, "cmd package compile -m speed -f com.example.still") // interpreted code is slower
	start(p, instrument)
	total := func(dump string) int {
		m := regexp.MustCompile(`Total frames rendered: (\d+)`).FindStringSubmatch(dump)
		if m == nil {
			t.Fatal("no total")
		}
		n, _ := strconv.Atoi(m[1])
		return n
	}
	pass(t, p, 1050*time.Millisecond)
	dump := output(t, p, "dumpsys gfxinfo com.example.still reset")
	if n := total(dump); n < 31 || n > 33 {
		t.Errorf("%d frames after 1.05 s, want 30 and one or two of the launch", n)
	}
	has(t, dump, "** Graphics info for pid ", "[com.example.still] **", "50th percentile: 5ms", "99th percentile: ", "HISTOGRAM: 5ms=", " 4950ms=0", "Number Missed Vsync: ")
	if n := total(output(t, p, "dumpsys gfxinfo com.example.still")); n != 0 {
		t.Errorf("%d frames after a reset", n)
	}
	pass(t, p, 1900*time.Millisecond)
	if n := total(output(t, p, "dumpsys gfxinfo com.example.still")); n < 59 || n > 61 {
		t.Errorf("%d frames after the tap, want 60", n)
	}
	if out := output(t, p, "dumpsys gfxinfo com.example.nobody"); out != "No process found for: com.example.nobody\n" {
		t.Errorf("of an app that doesn't run: %q", out)
	}
}

func TestSummaryOfNewerVersions(t *testing.T) {
	for name, wants := range map[string][]string{
		"pixel-5-android-11": {"GPU HISTOGRAM: 1ms=", "50th gpu percentile: ", "Number Frame deadline missed: "},
		"pixel-7-android-14": {"Janky frames (legacy): ", "Number Frame deadline missed (legacy): ", "GPU HISTOGRAM: 1ms="},
	} {
		p := newPhone(t, name, still)
		start(p, instrument)
		pass(t, p, 2*time.Second)
		has(t, output(t, p, "dumpsys gfxinfo com.example.still"), wants...)
	}
}

var tableRow = regexp.MustCompile(`(?m)^(\t\d+\.\d\d){3,4}$`)

// Android 4 and 5 print a table, once, and only for a process that was started after the
// property was set.
func TestProfileTableIsDrained(t *testing.T) {
	for name, header := range map[string]string{
		"nexus-4-android-4.3":   "\n\tDraw\tProcess\tExecute\n",
		"nexus-4-android-5.0.0": "\n\tDraw\tPrepare\tProcess\tExecute\n",
	} {
		p := newPhone(t, name, still)
		rows := func() []string {
			return tableRow.FindAllString(output(t, p, "dumpsys gfxinfo com.example.still"), -1)
		}
		start(p, instrument)
		pass(t, p, 950*time.Millisecond)
		if n := len(rows()); n != 0 {
			t.Errorf("%s: %d rows without the property", name, n)
		}
		output(t, p, "setprop debug.hwui.profile true; am force-stop com.example.still")
		start(p, instrument)
		pass(t, p, 950*time.Millisecond)
		has(t, output(t, p, "dumpsys gfxinfo com.example.nobody; dumpsys gfxinfo com.android.systemui"), "Profile data in ms:")
		first := rows()
		if n := len(first); n < 31 || n > 33 {
			t.Errorf("%s: %d rows after 0.95 s, want 30 and one or two of the launch", name, n)
		}
		sum := 0.0
		for _, v := range strings.Fields(first[20]) {
			ms, err := strconv.ParseFloat(v, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += ms
		}
		if sum < 4.5 || sum > 5.6 { // includes the phone's own noise, 3 %
			t.Errorf("%s: the stages %q add up to %.2f ms, want about 5", name, first[20], sum)
		}
		if n := len(rows()); n != 0 {
			t.Errorf("%s: %d rows in a second dump at the same time", name, n)
		}
		pass(t, p, 2*time.Second)
		if n := len(rows()); n < 59 || n > 61 {
			t.Errorf("%s: %d rows of the tap, want 60", name, n)
		}
		out := output(t, p, "dumpsys gfxinfo com.example.still")
		has(t, out, header)
		if got := strings.Contains(out, "frames rendered"); got != (name == "nexus-4-android-4.3") {
			t.Errorf("%s: the view hierarchy counts frames: %v", name, got)
		}
	}
}

// The table holds 128 frames: the oldest of more are lost.
func TestProfileTableHolds128Frames(t *testing.T) {
	p := newPhone(t, "nexus-4-android-4.3", strings.NewReplacer("start 30", "start 200", " opens", "").Replace(still))
	output(t, p, "setprop debug.hwui.profile visual_bars")
	start(p, instrument)
	pass(t, p, 4800*time.Millisecond)
	if n := len(tableRow.FindAllString(output(t, p, "dumpsys gfxinfo com.example.still"), -1)); n != 128 {
		t.Errorf("%d rows, want 128", n)
	}
}

func BenchmarkDump(b *testing.B) {
	p := benchPhone(b)
	for b.Loop() {
		var out strings.Builder
		if code := p.Start(b.Context(), "dumpsys gfxinfo com.example.still framestats", nil, &out, &out)(); code != 0 {
			b.Fatal(fmt.Sprint("exit code ", code))
		}
		b.SetBytes(int64(out.Len()))
	}
}

// The system keeps the statistics of an ended process, a moment later.
func TestGraphicsStatsOfAnEndedProcess(t *testing.T) {
	for _, name := range []string{"moto-g5-android-7.0", "pixel-5-android-11"} {
		p := newPhone(t, name, still)
		total := func() int64 {
			d, err := gfxread.Read(strings.NewReader(output(t, p, "dumpsys graphicsstats")))
			if err != nil || len(d.Packages) == 0 {
				t.Fatalf("%s: %v, %+v", name, err, d)
			}
			return d.OfPackage("com.example.still").Total
		}
		start(p, instrument)
		pass(t, p, 1500*time.Millisecond)
		d, err := gfxread.Read(strings.NewReader(output(t, p, "dumpsys gfxinfo com.example.still")))
		if err != nil {
			t.Fatal(err)
		}
		lived := d.Processes[0].Stats.Total
		if now := total(); lived == 0 || now < lived {
			t.Errorf("%s: %d frames of a process that runs, which says %d itself", name, now, lived)
		}
		output(t, p, "am force-stop com.example.still")
		pass(t, p, 300*time.Millisecond)
		once := total()
		if once < lived || once > lived+10 {
			t.Errorf("%s: %d frames are kept of a process that had counted %d", name, once, lived)
		}
		start(p, instrument)
		pass(t, p, 1500*time.Millisecond)
		if twice := total(); twice <= once {
			t.Errorf("%s: %d frames of two processes, %d of the first", name, twice, once)
		}
	}
}
