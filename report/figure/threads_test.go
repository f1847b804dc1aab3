package figure

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/apkgate/apkgate/report/reporttest"
)

// lateFrame waits for the disk in a provider's binder thread.
var lateFrame = ThreadsFrame{Title: "Late frame", Detail: "repetition 3", TookMS: 80, DeadlineMS: 16, Late: true, Steps: []Step{
	{Thread: "main", Process: "mail", Stage: "measure", Kind: "running", Slice: "onBind", ToMS: 8},
	{Thread: "Binder:9_1", Process: "provider", Kind: "runnable", What: "kswapd0", FromMS: 8, ToMS: 20},
	{Thread: "Binder:9_1", Process: "provider", Kind: "io", What: "f2fs_write", FromMS: 20, ToMS: 60},
	{Thread: "main", Process: "mail", Stage: "draw", Kind: "running", FromMS: 60, ToMS: 70},
	{Thread: "RenderThread", Process: "mail", Stage: "render", Kind: "running", FromMS: 70, ToMS: 79.8},
	{Thread: "RenderThread", Process: "mail", Stage: "render", Kind: "lock", What: "hwuiTask0", FromMS: 79.8, ToMS: 80},
}}

var usualFrame = ThreadsFrame{Title: "Usual frame", TookMS: 10, DeadlineMS: 16, Steps: []Step{
	{Thread: "main", Process: "mail", Stage: "measure", Kind: "running", Slice: "onBind", ToMS: 10},
}}

// box returns a step of a kind as drawn: its left edge, top and width.
func box(t *testing.T, svg, class string) (x, y, w string) {
	t.Helper()
	m := regexp.MustCompile(`class="step ` + class + `" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="20"`).FindStringSubmatch(svg)
	if m == nil {
		t.Fatalf("no box is of the class %q:\n%s", class, svg)
	}
	return m[1], m[2], m[3]
}

func TestThreadsDraw(t *testing.T) {
	f, ok := NewThreads("a frame", []ThreadsFrame{lateFrame, usualFrame})
	if !ok {
		t.Fatal("no figure")
	}
	svg := strings.ReplaceAll(f.Draw("x", "wide", 818), "\u00a0", " ") // 10 pixels per millisecond after the first four
	x, ioY, w := box(t, svg, "io")
	if x != "204" || w != "400" {
		t.Errorf("the wait for I/O from 20 to 60 ms is drawn at %s and %s wide, want 204 and 400", x, w)
	}
	if _, y, _ := box(t, svg, "runnable"); y != ioY {
		t.Errorf("the binder thread's steps stand at %s and %s, want in one lane", y, ioY)
	}
	if _, y, _ := box(t, svg, "blocked"); y == ioY {
		t.Error("the render thread's steps stand in the lane of the binder thread")
	}
	if name := strings.Index(svg, `>main of mail</text>`); name < strings.Index(svg, `class="handover"`) || name < strings.Index(svg, `class="limit"`) {
		t.Error("a lane's name is drawn below the lines that may cross it")
	}
	if n := strings.Count(svg, `class="handover"`); n != 3 {
		t.Errorf("the path goes over %d times, want from main to binder, back, and to the render thread", n)
	}
	for _, want := range []string{
		"Late frame: 80 ms, due after 16 ms (repetition 3)", ">Usual frame: 10 ms, due after 16 ms<", ">Binder:9_1 of provider<",
		"40 ms (50 %) Binder:9_1 of provider waits for I/O: f2fs_write", "waits for a processor, on which kswapd0 runs", "main runs onBind, in measure",
		`class="limit" d="M164 `, `class="overdue" x="164" y="38" width="640"`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture lacks %q:\n%s", want, svg)
		}
	}
	if strings.Contains(svg, "held by hwuiTask0, in render</text>") {
		t.Error("what took less than a hundredth of the frame is told below it")
	}
	if n := strings.Count(svg, `class="overdue"`); n != 1 {
		t.Errorf("%d frames are drawn as late, want one of two", n)
	}
}

func TestThreadsText(t *testing.T) {
	f, _ := NewThreads("a frame", []ThreadsFrame{lateFrame, usualFrame})
	got := strings.ReplaceAll(strings.Join(f.Text(110), "\n"), "\u00a0", " ")
	const want = `Late frame: 80 ms, due after 16 ms (repetition 3)
██······················      8 ms  main runs onBind, in measure
··░░░░··················     12 ms  Binder:9_1 of provider waits for a processor, on which kswapd0 runs
······░░░░░░░░░░░░······     40 ms  Binder:9_1 of provider waits for I/O: f2fs_write
··················███···     10 ms  main runs, in draw
·····················██·    9.8 ms  RenderThread runs, in render
·······················░    0.2 ms  RenderThread waits for a lock, held by hwuiTask0, in render

Usual frame: 10 ms, due after 16 ms
███·····················     10 ms  main runs onBind, in measure`
	if got != want {
		t.Errorf("the text is\n%s\nwant\n%s", got, want)
	}
	if narrow := strings.Join(f.Text(60), "\n"); !strings.Contains(narrow, "Binder:9_1 waits for I/O") {
		t.Errorf("where there is little room the thread's process is not left out:\n%s", narrow)
	}
}

// A step has what the frame's own thread waited for, and what the other thread did at that time; no
// word is repeated.
func TestStepsInWords(t *testing.T) {
	for want, s := range map[string]Step{
		"waits for binder: feed I::m, in layout":                     {Kind: "binder", What: "feed I::m", Stage: "layout"},
		"answers binder: feed I::m, in layout":                       {Kind: "binder", Does: "running", What: "feed I::m", Stage: "layout"},
		"answers binder: feed I::m, and waits for I/O":               {Kind: "binder", Does: "io", What: "feed I::m"},
		"holds the lock: db, and waits for a processor":              {Kind: "lock", Does: "runnable", What: "db"},
		"waits for a processor, on which dex2oat runs, in animation": {Kind: "runnable", What: "dex2oat", Stage: "animation"},
		"waits for a processor":                                      {Kind: "runnable"},
		"runs draw":                                                  {Kind: "running", What: "draw", Stage: "draw"},
		"waits for the GPU":                                          {Kind: "gpu", Stage: "gpu"},
		"levitates":                                                  {Kind: "levitates"},
	} {
		if got := s.text(); got != want {
			t.Errorf("%+v is %q, want %q", s, got, want)
		}
	}
	if gpu, nobody := (Step{Kind: "gpu"}).lane().name(), (Step{Kind: "running"}).lane().name(); gpu != "GPU" || nobody != "a thread without a name" {
		t.Errorf("threads without names are %q and %q", gpu, nobody)
	}
}

func TestThreadsCountWhatIsLeftOut(t *testing.T) {
	f := ThreadsFrame{Title: "Late frame", TookMS: 100, Late: true}
	for i := range 12 {
		f.Steps = append(f.Steps, Step{Thread: fmt.Sprint("thread ", i), Kind: "running", FromMS: float64(8 * i), ToMS: float64(8*i + 8)})
	}
	f.Steps[3].ToMS -= 2 // the shortest ones
	f.Steps[7].ToMS--
	fig, _ := NewThreads("many", []ThreadsFrame{f})
	if note := fig.Note(); !strings.Contains(note, "Not drawn: 4 threads.") {
		t.Errorf("of 12 threads the note says %q, want 4 that are not drawn", note)
	}
	lines := fig.Text(100)
	if last := lines[len(lines)-1]; len(lines) != 12 || !strings.HasSuffix(last, "  2 shorter steps left out") || slices.ContainsFunc(lines, func(s string) bool { return strings.Contains(s, "thread 3 ") }) {
		t.Errorf("of 12 steps the text tells %d lines, the last %q; want the ten longest and a count", len(lines), last)
	}
}

// A step from before the frame was due is left of that moment.
func TestThreadsOfEarlyFrame(t *testing.T) {
	f, _ := NewThreads("early", []ThreadsFrame{{Title: "Late frame", TookMS: 60, DeadlineMS: 20, Steps: []Step{
		{Thread: "main", Kind: "io", FromMS: -20, ToMS: 20}, {Thread: "main", Kind: "running", FromMS: 20, ToMS: 60},
	}}})
	svg := f.Draw("x", "wide", 818)
	if x, _, w := box(t, svg, "io"); x != "4" || w != "400" || !strings.Contains(svg, `class="limit" d="M404 `) {
		t.Errorf("a step from -20 to 20 of 80 ms stands at %s and is %s wide, want 4 and 400, and the deadline at its end:\n%s", x, w, svg)
	}
	if line := f.Text(100)[1]; !strings.HasPrefix(line, strings.Repeat("░", 12)+strings.Repeat("·", 12)) {
		t.Errorf("as text the step is %q, want the first half of the bar", line)
	}
}

// deadlock is two threads that wait for each other and block main.
var deadlock = []Waiting{
	{Name: "main", Process: "mail", State: "Blocked", WaitsFor: "lock a.Store held by sync", At: "a.List.show(List.java:8)", Next: 1},
	{Name: "sync", Process: "mail", State: "Blocked", WaitsFor: "lock a.Cache held by worker", Next: 2, Critical: true},
	{Name: "worker", Process: "mail", State: "Blocked", WaitsFor: "lock a.Store held by sync", Next: 1, Critical: true},
}

func TestWaitsOfDeadlock(t *testing.T) {
	w, _ := NewWaits("a deadlock", deadlock)
	svg := w.Draw("x", "wide", Wide)
	for what, want := range map[string]int{`class="thread worse"`: 2, `class="thread"`: 1, `class="way"`: 1, `class="way worse"`: 2, `class="group"`: 1} {
		if n := strings.Count(svg, what); n != want {
			t.Errorf("%s is there %d times, want %d:\n%s", what, n, want, svg)
		}
	}
	if !strings.Contains(w.Note(), "form a cycle") {
		t.Errorf("the note does not name the cycle: %s", w.Note())
	}
	const want = `main of mail (Blocked)
  at a.List.show(List.java:8)
  waits for lock a.Store held by sync
sync of mail (Blocked, keeps the others waiting)
  waits for lock a.Cache held by worker
worker of mail (Blocked, keeps the others waiting)
  waits for lock a.Store held by sync, which leads back to sync`
	if got := strings.Join(w.Text(100), "\n"); got != want {
		t.Errorf("the text is\n%s\nwant\n%s", got, want)
	}
}

// A chain through three processes ends at a thread that waits for no other.
func TestWaitsOfChain(t *testing.T) {
	chain := []Waiting{
		{Name: "main", Process: "mail", WaitsFor: "binder", Next: 1}, {Name: "Binder:2_1", Process: "provider", WaitsFor: "lock", Next: 2},
		{Name: "writer", Process: "provider", WaitsFor: "binder", Next: 3}, {Name: "Binder:3_1", Process: "vold", WaitsFor: "io", Next: -1, Critical: true},
	}
	w, _ := NewWaits("a chain", chain)
	svg := w.Draw("x", "wide", Wide)
	if groups, ways, red := strings.Count(svg, `class="group"`), strings.Count(svg, `class="way"`), strings.Count(svg, "way worse"); groups != 3 || ways != 3 || red != 0 {
		t.Errorf("%d processes, %d arrows and %d red ones; want 3, 3 and none", groups, ways, red)
	}
	if strings.Contains(w.Note(), "cycle") {
		t.Errorf("the note names a cycle: %s", w.Note())
	}
	if lines := w.Text(0); lines[len(lines)-1] != "  waits for I/O" {
		t.Errorf("the wait for no thread is told as %q", lines[len(lines)-1])
	}
	chain[0].Next = 3 // past the others
	w, _ = NewWaits("a chain", chain)
	if lines := w.Text(0); lines[1] != "  waits for binder, which leads to Binder:3_1" {
		t.Errorf("a wait for a thread further down is told as %q", lines[1])
	}
}

// A thread that waits for no other has no arrow, and a single one blocks nobody.
func TestWaitsOfOneThread(t *testing.T) {
	for wait, want := range map[string]string{"sleep": "  sleeps", "idle": "  is idle", "gpu": "  waits for the graphics driver", "io f2fs_write": "  waits for I/O f2fs_write", "iota": "  waits for iota"} {
		w, _ := NewWaits("alone", []Waiting{{Name: "main", State: "Native", WaitsFor: wait, Next: -1, Critical: true}})
		if lines := w.Text(0); len(lines) != 2 || lines[0] != "main (Native)" || lines[1] != want {
			t.Errorf("a wait for %q is told as %q, want %q", wait, lines, want)
		}
	}
}

// Names from outside stay text, whatever they are and however little room there is, and no number
// breaks a figure.
func TestWaitsWithHostileInput(t *testing.T) {
	late, chain := lateFrame, slices.Clone(deadlock)
	late.Steps = slices.Clone(late.Steps)
	for i, bad := range reporttest.Hostile {
		late.Steps = append(late.Steps, Step{Thread: bad, Process: bad, Stage: bad, Kind: bad, What: bad, Slice: bad, FromMS: 80, ToMS: 80 + float64(i)})
		chain = append(chain, Waiting{Name: bad, Process: bad, State: bad, WaitsFor: bad, At: bad, Next: i - 5, Critical: i%2 == 0})
	}
	flat := ThreadsFrame{Title: reporttest.Hostile[0], TookMS: 0, DeadlineMS: 1e12, Steps: []Step{{Kind: "running"}}}
	threads, ok := NewThreads(reporttest.Hostile[1], []ThreadsFrame{late, flat, {}})
	waits, alsoOK := NewWaits(reporttest.Hostile[2], chain)
	bad := Delayed{Tasks: -1, MS: []float64{math.NaN(), math.Inf(1), -5, 1e300, 0, 1e-300}}
	delays, delaysOK := NewDelays(reporttest.Hostile[3], reporttest.Hostile[4], 1e12, []Delay{{Name: reporttest.Hostile[0], Base: bad, Head: bad}, {Name: reporttest.Hostile[1], Head: Delayed{MS: []float64{0}}}})
	if !ok || !alsoOK || !delaysOK {
		t.Fatal("no figure")
	}
	for _, p := range []interface {
		Draw(id, class string, width float64) string
		Text(width int) []string
	}{threads, waits, delays} {
		for _, width := range []float64{Wide, Narrow, 40} {
			svg := p.Draw("x", "wide", width)
			for d := xml.NewDecoder(strings.NewReader(svg)); ; {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("the picture is no XML: %v\n%s", err, svg)
				}
				if e, ok := token.(xml.StartElement); ok && !slices.Contains([]string{"svg", "title", "desc", "g", "rect", "path", "text"}, e.Name.Local) {
					t.Errorf("a name makes an element %q", e.Name.Local)
				}
			}
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("a length is no number:\n%s", svg)
			}
		}
		for _, width := range []int{30, 79, 80, 120} {
			for _, line := range p.Text(width) {
				if twwidth.Width(line) > width || strings.ContainsAny(line, "\x1b\n\u202e") {
					t.Errorf("in %d columns a line is %q", width, line)
				}
			}
		}
	}
	if _, ok := NewThreads("", []ThreadsFrame{{TookMS: math.MaxFloat64}}); ok {
		t.Error("a frame without steps is drawn")
	}
	if _, ok := NewWaits("", nil); ok {
		t.Error("a chain without threads is drawn")
	}
}

// A task's wait in a queue is drawn like a frame: its wait first, below it what ran meanwhile, with
// no path that leads from one to the next.
func TestThreadsOfAQueue(t *testing.T) {
	steps := []Step{
		{Thread: "worker #1", Kind: "running", What: "Sync", FromMS: -50, ToMS: 1_600},
		{Thread: "Picture", Kind: "queued", ToMS: 1_600},
		{Thread: "worker #1", Kind: "running", What: "Picture", FromMS: 1_600, ToMS: 2_000},
	}
	figure, ok := NewThreads("What Picture waited for", []ThreadsFrame{{Title: "Longest wait", Detail: "repetition 3", TookMS: 2_000, Late: true, Queue: true, Steps: steps}})
	if !ok {
		t.Fatal("nothing is drawn")
	}
	svg := figure.Draw("id", "wide", Wide)
	picture, worker := strings.Index(svg, ">Picture<"), strings.Index(svg, ">worker #1<")
	if picture < 0 || worker < picture || strings.Contains(svg, "handover") {
		t.Errorf("the wait's lane is at %d, the thread's at %d, or a path is drawn", picture, worker)
	}
	want := []string{
		"Longest wait: 1600 ms, done after 2000 ms (repetition 3)",
		"░░░░░░░░··   1600 ms  Picture waits in the queue",
		"████████··   1650 ms  worker #1 runs Sync",
		"········██    400 ms  worker #1 runs Picture",
	}
	got := figure.Text(70)
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], "\u00a0", " ")
	}
	if !slices.Equal(got, want) {
		t.Errorf("the lines are %q, want %q", got, want)
	}
	if note := figure.Note(); !strings.Contains(note, "from when the task was due to start") {
		t.Errorf("the note is %q", note)
	}
}
