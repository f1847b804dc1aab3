package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/wording"
)

// Threads shows the critical paths of frames by thread: a lane for each thread, a box for each step
// of the path, the frames one below the other on one time scale.
type Threads struct {
	frames   []threadsFrame
	from, to float64 // ms
	label    string
}

// ThreadsFrame is one frame.
type ThreadsFrame struct {
	Title      string // "Late frame"
	Detail     string // "repetition 3", or ""
	TookMS     float64
	DeadlineMS float64 // 0 where unknown
	Late       bool
	// Queue is set for a task in place of a frame: its wait in a queue, and what ran in its unit
	// meanwhile. Its time begins when it was due to start.
	Queue bool
	Steps []Step
}

// Step is a step of a critical path.
type Step struct {
	Thread, Process, Stage, Kind, Does, What, Slice string
	FromMS, ToMS                                    float64 // from the vsync at which the frame was due to begin
}

// queued reports whether the step is a task's wait in its queue.
func (s Step) queued() bool { return s.Kind == "queued" }

// lasts returns the duration of the step, in ms.
func (s Step) lasts() float64 { return s.ToMS - s.FromMS }

// threadsFrame is a frame with its lanes and the steps that are described in words.
type threadsFrame struct {
	ThreadsFrame
	lanes     []lane
	left      int         // lanes that are not drawn
	places    []int       // the lane of each step, -1 for none
	described map[int]int // the number of a step that is described below the lanes, by its index
}

type lane struct{ thread, process string }

const (
	mostLanes      = 8
	mostDescribed  = 6 // described steps of a late frame
	usualDescribed = 3 // those of a usual one
	laneHead       = 17.0
	laneBar        = 20.0
	laneGap        = 5.0
	frameHead      = 42.0
	toldRow        = 19.0
	frameGap       = 26.0
	threadAxis     = 26.0
	threadLeft     = 4.0
	leastStep      = 0.8  // pixels
	describedShare = 0.01 // share of the frame from which on a step is described
)

// NewThreads returns the figure of frames, and false where there is nothing to draw. label
// describes the figure to those who can't see it.
func NewThreads(label string, frames []ThreadsFrame) (Threads, bool) {
	t := Threads{label: label}
	for _, f := range frames {
		if len(f.Steps) == 0 {
			continue
		}
		f.Steps = slices.Clone(f.Steps)
		slices.SortStableFunc(f.Steps, func(a, b Step) int {
			switch { // a task's wait is first, and what ran meanwhile below
			case a.queued() && !b.queued():
				return -1
			case b.queued() && !a.queued():
				return 1
			}
			return cmp.Compare(a.FromMS, b.FromMS)
		})
		t.frames = append(t.frames, laneOut(f))
		t.to = max(t.to, f.TookMS, f.DeadlineMS)
		for _, s := range f.Steps {
			t.from, t.to = min(t.from, s.FromMS), max(t.to, s.ToMS)
		}
	}
	return t, t.from < t.to
}

// laneOut gives each thread a lane, in the order of the path, and the longest steps a number.
func laneOut(f ThreadsFrame) threadsFrame {
	out := threadsFrame{ThreadsFrame: f, described: map[int]int{}}
	known := map[lane]int{}
	byLength := make([]int, len(f.Steps))
	for i, s := range f.Steps {
		byLength[i] = i
		l := s.lane()
		at, ok := known[l]
		if !ok {
			at = -1
			if len(out.lanes) < mostLanes {
				at = len(out.lanes)
				out.lanes = append(out.lanes, l)
			} else {
				out.left++
			}
			known[l] = at
		}
		out.places = append(out.places, at)
	}
	slices.SortStableFunc(byLength, func(a, b int) int { return cmp.Compare(f.Steps[b].lasts(), f.Steps[a].lasts()) })
	most := usualDescribed
	if f.Late {
		most = mostDescribed
	}
	chosen := byLength[:min(most, len(byLength))]
	chosen = slices.DeleteFunc(chosen, func(i int) bool { return f.Steps[i].lasts() < describedShare*f.TookMS })
	slices.Sort(chosen)
	for n, i := range chosen {
		out.described[i] = n + 1
	}
	return out
}

func (f threadsFrame) height() float64 {
	return frameHead + float64(len(f.lanes))*(laneHead+laneBar+laneGap) + threadAxis + float64(len(f.described))*toldRow
}

// Draw returns the figure as SVG.
func (t Threads) Draw(id, class string, width float64) string {
	c := &canvas{width: width}
	x := scale{low: t.from, high: t.to, from: threadLeft, to: width - 14}
	top := 0.0
	for i, f := range t.frames {
		if i > 0 {
			top += frameGap
		}
		t.drawFrame(c, x, f, top)
		top += f.height()
	}
	c.height = top + 4
	return c.svg(id, class, wording.Name(t.label), t.description())
}

func (t Threads) drawFrame(c *canvas, x scale, f threadsFrame, top float64) {
	c.text("strong", x.from, top+14, startAt, fitText(f.heading(), x.to-x.from))
	first := top + frameHead
	bottom := first + float64(len(f.lanes))*(laneHead+laneBar+laneGap) - laneGap
	if f.DeadlineMS > 0 && f.TookMS > f.DeadlineMS {
		c.rect("overdue", x.at(f.DeadlineMS), first-4, x.at(f.TookMS)-x.at(f.DeadlineMS), bottom-first+8, 0)
	}
	for i := range f.lanes {
		y := laneTop(first, i)
		c.line("grid", x.from, y+laneHead+laneBar/2, x.at(max(f.TookMS, f.DeadlineMS)), y+laneHead+laneBar/2)
	}
	if !f.Queue { // what runs while a task waits is no path
		f.drawHandovers(c, x, first)
	}
	for i, s := range f.Steps {
		if f.places[i] >= 0 {
			f.drawStep(c, x, i, s, laneTop(first, f.places[i])+laneHead)
		}
	}
	f.drawMoments(c, x, first, bottom)
	for i, l := range f.lanes { // over the lines, which may cross a short frame's names
		c.text("small halo", x.from, laneTop(first, i)+12, startAt, fitText(l.name(), x.to-x.from))
	}
	drawTime(c, x, bottom+4)
	f.describeSteps(c, x, bottom+4+threadAxis)
}

// drawTime draws the axis below the lanes.
func drawTime(c *canvas, x scale, y float64) {
	ticks := x.ticks(max(2, int((x.to-x.from)/110)))
	c.line("axis", x.from, y, x.to, y)
	for i, tick := range ticks {
		c.line("axis", x.at(tick), y, x.at(tick), y+4)
		text, anchor := wording.Minus(wording.Digits(tick, stepOf(ticks))), middleAt
		if i == len(ticks)-1 {
			text += wording.Unit("ms")
		}
		switch half := textWidth(text) / 2; {
		case x.at(tick)-half < 0:
			anchor = startAt
		case x.at(tick)+half > x.to+12:
			anchor = endAt
		}
		c.text("small muted", x.at(tick), y+17, anchor, text)
	}
}

func laneTop(first float64, lane int) float64 {
	return first + float64(lane)*(laneHead+laneBar+laneGap)
}

// drawHandovers joins the boxes where the path goes from one thread to another.
func (f threadsFrame) drawHandovers(c *canvas, x scale, first float64) {
	for i := 1; i < len(f.Steps); i++ {
		a, b := f.places[i-1], f.places[i]
		if a < 0 || b < 0 || a == b {
			continue
		}
		middle, at := laneHead+laneBar/2, x.at(f.Steps[i].FromMS)
		from := min(x.at(f.Steps[i-1].ToMS), at)
		c.path("handover", fmt.Sprintf("M%s %sH%sV%s", px(from), px(laneTop(first, a)+middle), px(at), px(laneTop(first, b)+middle)))
	}
}

func (f threadsFrame) drawStep(c *canvas, x scale, i int, s Step, y float64) {
	from, w := x.at(s.FromMS), max(x.at(s.ToMS)-x.at(s.FromMS), leastStep)
	fmt.Fprintf(&c.b, `<g><title>%s</title>`, xmlText(s.lane().name()+" "+s.text()+", "+f.takes(s)))
	c.rect("step "+stepClass(s.Kind), from, y, w, laneBar, 2)
	label := ""
	if n, ok := f.described[i]; ok {
		label = strconv.Itoa(n)
	}
	if long := strings.TrimSpace(label + " " + s.brief()); textWidth(long) <= w-8 {
		label = long
	} else if cut := fitText(long, w-8); len([]rune(cut)) > 8 {
		label = cut
	}
	if label != "" && textWidth(label) <= w-2 {
		c.text("small", from+w/2, y+laneBar/2+4, middleAt, label)
	}
	c.b.WriteString("</g>")
}

// drawMoments marks when the frame was due, and when it was done.
func (f threadsFrame) drawMoments(c *canvas, x scale, first, bottom float64) {
	mark := func(class, text string, at float64) {
		c.line(class, at, first-6, at, bottom+4)
		anchor := middleAt
		switch half := textWidth(text) / 2; {
		case at-half < x.from:
			anchor = startAt
		case at+half > x.to:
			anchor = endAt
		}
		c.text("small muted halo", at, first-10, anchor, text)
	}
	done := x.at(f.TookMS)
	if due := x.at(f.DeadlineMS); f.DeadlineMS > 0 {
		mark("limit", "due", due)
		if done-due < 44 && due-done < 44 {
			c.line("done", done, first-6, done, bottom+4)
			return
		}
	}
	mark("done", "done", done)
}

// describeSteps writes the longest steps in words, by their numbers.
func (f threadsFrame) describeSteps(c *canvas, x scale, bottom float64) {
	y := bottom + toldRow - 5
	for i, s := range f.Steps {
		if n, ok := f.described[i]; ok {
			c.rect("step "+stepClass(s.Kind), x.from, y-11, 14, 14, 2)
			c.text("small", x.from+7, y, middleAt, strconv.Itoa(n))
			c.text("small", x.from+20, y, startAt, fitText(f.takes(s)+" "+f.who(s)+" "+s.text(), x.to-x.from-20))
			y += toldRow
		}
	}
}

// heading returns the frame in a line.
func (f threadsFrame) heading() string {
	text := wording.Name(f.Title) + ": " + milliseconds(f.TookMS)
	if f.Queue {
		text = wording.Name(f.Title) + ": " + milliseconds(f.waited()) + ", done after " + milliseconds(f.TookMS)
	}
	if f.DeadlineMS > 0 {
		text += ", due after " + milliseconds(f.DeadlineMS)
	}
	if f.Detail != "" {
		text += " (" + wording.Name(f.Detail) + ")"
	}
	return text
}

// waited returns how long the task of a frame waited in its queue.
func (f threadsFrame) waited() (ms float64) {
	for _, s := range f.Steps {
		if s.queued() {
			ms += s.lasts()
		}
	}
	return ms
}

func milliseconds(v float64) string { return wording.Quantity(v, "ms", false) }

func (s Step) lane() lane {
	if s.Thread == "" && s.Kind == "gpu" {
		return lane{"GPU", ""}
	}
	return lane{s.Thread, s.Process}
}

// name returns the thread and its process.
func (l lane) name() string {
	thread, process := cmp.Or(wording.Name(l.thread), "a thread without a name"), wording.Name(l.process)
	if process == "" || process == thread {
		return thread
	}
	return thread + " of " + process
}

// doing describes what a thread does in a step of each kind, and introduces its detail; an unknown
// kind is shown as it is.
var doing = map[string]struct{ class, text, about, end string }{
	"running":    {"running", "runs", " ", ""},
	"runnable":   {"runnable", "waits for a processor", ", on which ", " runs"},
	"sleep":      {"sleep", "sleeps", ": ", ""},
	"idle":       {"sleep", "has nothing to do", ": ", ""},
	"blocked":    {"blocked", "is blocked in the kernel", ": ", ""},
	"lock":       {"blocked", "waits for a lock", ", held by ", ""},
	"binder":     {"binder", "waits for binder", ": ", ""},
	"io":         {"io", "waits for I/O", ": ", ""},
	"buffer":     {"device", "waits for a buffer", ": ", ""},
	"gpu":        {"device", "waits for the GPU", ": ", ""},
	"gc":         {"blocked", "waits for the garbage collector", ": ", ""},
	"queued":     {"runnable", "waits in the queue", ": ", ""},
	"scheduling": {"sleep", "the task is due", ": ", ""},
	"unknown":    {"sleep", "did what the trace does not tell", ": ", ""},
}

func stepClass(kind string) string { return cmp.Or(doing[kind].class, "sleep") }

// brief returns the step's detail for a box.
func (s Step) brief() string {
	about := wording.Name(cmp.Or(s.What, s.Slice))
	if about == "" || s.Kind != "running" {
		return strings.TrimSuffix(wording.Brief(s.Kind)+": "+about, ": ")
	}
	return about
}

// answering describes what a thread does for a thread of the frame that waits for it, and
// introduces the detail.
var answering = map[string]struct{ text, about string }{
	"binder": {"answers binder", ": "},
	"lock":   {"holds the lock", ": "},
}

// text returns the step in words: "waits for binder: com.example Feed::get, in measure".
func (s Step) text() string {
	d := doing[s.Kind]
	text, about := cmp.Or(d.text, wording.Brief(s.Kind)), wording.Name(s.What)
	if about == "" && s.Kind == "running" {
		about = wording.Name(s.Slice)
	}
	between, end := cmp.Or(d.about, ": "), ""
	if about != "" {
		end = d.end
	}
	if a, does := answering[s.Kind]; does && s.Does != "" {
		text, between, end = a.text, a.about, ""
		if s.Does != "running" {
			end = ", and " + cmp.Or(doing[s.Does].text, wording.Brief(s.Does))
		}
	}
	if about != "" {
		text += between + about
	}
	text += end
	if stage := wording.Brief(s.Stage); stage != "" && stage != about && stage != s.Kind {
		text += ", in " + stage
	}
	return text
}

// takes returns the duration of a step of the frame: "64 ms (76 %)".
func (f threadsFrame) takes(s Step) string {
	if f.TookMS <= 0 {
		return milliseconds(s.lasts())
	}
	return milliseconds(s.lasts()) + " (" + wording.Percent(s.lasts()/f.TookMS) + ")"
}

// who returns the thread of a step, with its process where that is not the frame's own.
func (f threadsFrame) who(s Step) string {
	if s.Process == f.Steps[0].Process {
		s.Process = ""
	}
	return s.lane().name()
}

// Note says how to read the figure, and what it leaves out.
func (t Threads) Note() string {
	text := "Time runs from the vsync at which the frame was due to begin. Each lane is a thread; its boxes are the critical path: what decided when the frame was done. Lines connect them. Past the dashed line the frame is late. Numbered boxes are listed below."
	if t.ofQueue() {
		text = "Time runs from when the task was due to start. The first lane is its wait. Below are the threads of its unit with the tasks that ran there, from the event that the task belongs to until it was done; and, where the trace shows it, what these tasks waited for, on the thread that held them up. Numbered boxes are listed below."
	}
	left := 0
	for _, f := range t.frames {
		left += f.left
	}
	if left > 0 {
		text += " Not drawn: " + prose.Count(left, "thread", "threads") + "."
	}
	return text
}

// ofQueue reports whether the figure shows tasks in a queue.
func (t Threads) ofQueue() bool { return len(t.frames) > 0 && t.frames[0].Queue }

// description describes the frames in words, for those who can't see them.
func (t Threads) description() string {
	var parts []string
	for _, f := range t.frames {
		described := []string{}
		for i, s := range f.Steps {
			if _, ok := f.described[i]; ok {
				described = append(described, f.who(s)+" "+s.text()+", "+f.takes(s))
			}
		}
		parts = append(parts, strings.TrimSuffix(f.heading()+": "+strings.Join(described, "; "), ": "))
	}
	return strings.Join(parts, ". ") + "."
}
