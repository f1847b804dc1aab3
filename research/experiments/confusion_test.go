package experiments

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/jankcause"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// outcomes count what was named first of the cases of a row on a phone.
type outcomes struct {
	cases, right int
	named        map[string]int // what was wrong, by kind; "" for nothing
	also         [2]int         // of cases with a second cause, how often it is named, and of how many
	untold       int            // cases that are not right, of what no trace of the phone shows
	overclaimed  int            // cases in which something else is first and said to be clear or seen
}

// confusion is the outcome of many cases, by row and phone; "" is the builds like their base.
type confusion struct {
	sync.Mutex
	by map[[2]string]*outcomes
}

func (c *confusion) add(s slowCase, causes []diagnose.Cause) {
	c.Lock()
	defer c.Unlock()
	if c.by == nil {
		c.by = map[[2]string]*outcomes{}
	}
	key := [2]string{s.row, s.phone}
	o := c.by[key]
	if o == nil {
		o = &outcomes{named: map[string]int{}}
		c.by[key] = o
	}
	o.cases++
	first := firstOf(causes)
	if s.right(first) {
		o.right++
	} else {
		o.named[first]++
		if s.untold() {
			o.untold++
		}
		if first != "" && causes[0].Explains.Sure != diagnose.Possible && causes[0].Explains.Sure != diagnose.Likely {
			o.overclaimed++
		}
	}
	if s.also != "" {
		o.also[1]++
		if slices.ContainsFunc(causes, func(x diagnose.Cause) bool { return x.Kind == s.also }) {
			o.also[0]++
		}
	}
}

// firstOf returns the kind that is named first, "" where none is.
func firstOf(causes []diagnose.Cause) string {
	if len(causes) == 0 || causes[0].Kind == jankcause.UnexplainedKind {
		return ""
	}
	return causes[0].Kind
}

// row sums a row's outcomes over phones.
func (c *confusion) row(name string) (all outcomes, each []string) {
	all.named = map[string]int{}
	for _, phone := range slowPhones {
		o := c.by[[2]string{name, phone}]
		if o == nil {
			each = append(each, "–")
			continue
		}
		each = append(each, fmt.Sprintf("%d/%d", o.right, o.cases))
		all.cases, all.right, all.overclaimed = all.cases+o.cases, all.right+o.right, all.overclaimed+o.overclaimed
		all.untold += o.untold
		all.also[0], all.also[1] = all.also[0]+o.also[0], all.also[1]+o.also[1]
		for kind, n := range o.named {
			all.named[kind] += n
		}
	}
	return all, each
}

// rows returns the existing names, in the order of the table.
func (c *confusion) rows() []string {
	names := []string{""}
	for _, one := range injected {
		names = append(names, one.name)
	}
	for _, one := range striking {
		names = append(names, one.row)
	}
	for _, one := range unseenRows {
		names = append(names, one.row)
	}
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(name string) bool { all, _ := c.row(name); return all.cases == 0 })
}

// lines returns the rows of the table of docs/evaluation/causes.md.
func (c *confusion) lines() (out []string) {
	for _, name := range c.rows() {
		all, each := c.row(name)
		var others []string
		for _, kind := range slices.Sorted(maps.Keys(all.named)) {
			others = append(others, fmt.Sprintf("%s %d", strings.TrimPrefix(nothing(kind), "render."), all.named[kind]))
		}
		out = append(out, fmt.Sprintf("| %s | %d | %d | %s | %s |", c.label(name), all.cases, all.right, strings.Join(each, " | "), strings.Join(others, ", ")))
	}
	return out
}

// label returns the title of a row, which is unique in the document.
func (c *confusion) label(name string) string {
	switch {
	case name != "":
		return name
	case slices.ContainsFunc(c.rows(), func(row string) bool { return strings.HasPrefix(row, "unseen: ") }):
		return "unseen: unchanged builds"
	}
	return "unchanged builds"
}

// documented compares the table with docs/evaluation/causes.md, within a case or two of each row:
// the phones' interleaving depends on the computer.
func (o *trial) documented(t *testing.T) {
	for _, line := range o.table.lines() {
		documented(t, line, 2)
	}
}

func nothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// recordings are runs of base builds that several cases are compared with.
type recordings struct {
	sync.Mutex
	by map[string]func() run.Run
}

// of returns the recording of a build in a session, made once.
func (r *recordings) of(t *testing.T, app, phone string, session uint64, repetitions int) run.Run {
	key := fmt.Sprint(phone, session, app)
	r.Lock()
	if r.by == nil {
		r.by = map[string]func() run.Run{}
	}
	if r.by[key] == nil {
		r.by[key] = sync.OnceValue(func() run.Run { return recordSlow(t, app, phone, session, repetitions) })
	}
	once := r.by[key]
	r.Unlock()
	return once()
}

// trial is how cases are tried.
type trial struct {
	repetitions, bases int
	sessions           int // of base builds that cases take turns with
	table              confusion
	base               recordings
}

// try explains a case: a build is compared with runs of its base, each of another session.
func (o *trial) try(t *testing.T, c slowCase, i int) {
	head := recordSlow(t, c.app, c.phone, uint64(10_000+i), o.repetitions)
	head.ID = "head"
	var base []run.Run
	for k := range o.bases {
		base = append(base, o.base.of(t, c.before, c.phone, uint64(i%o.sessions*o.bases+k+1), o.repetitions))
	}
	causes := jankcause.Explain(head, base, []diagnose.Finding{{Event: c.event, Metric: "frames.slow", Direction: gate.ToRegression}})
	o.table.add(c, causes)
	behind := c.also != "" && !slices.ContainsFunc(causes, func(x diagnose.Cause) bool { return x.Kind == c.also })
	if !c.right(firstOf(causes)) || behind {
		var all []string
		for _, one := range causes {
			share := -1.0
			if one.Explains.Share != nil {
				share = *one.Explains.Share
			}
			all = append(all, fmt.Sprintf("%s %q %.2f %s", one.Kind, one.Subject.Name, share, one.Explains.Sure))
		}
		t.Logf("%s, %d: %s", c, i, strings.Join(all, ", "))
	}
}

// right reports whether that kind should be named first, or nothing where nothing should be.
func (c slowCase) right(first string) bool {
	return slices.Contains(c.wants, first) || first == "" && c.wants == nil
}

// untold reports whether no trace of the phone shows the cause: when SurfaceFlinger showed a
// frame is told by the frame timeline alone, which Android has since 12.
func (c slowCase) untold() bool {
	return slices.Contains(c.wants, jankcause.CompositionKind) && strings.HasSuffix(c.phone, "-android-11")
}

// all tries the cases.
func (o *trial) all(t *testing.T, cases []slowCase) {
	work := make(chan int)
	var trying sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		trying.Go(func() {
			for i := range work {
				o.try(t, cases[i], i)
			}
		})
	}
	for i := range cases {
		if i%100 == 99 {
			t.Logf("%d of %d cases", i+1, len(cases))
		}
		work <- i
	}
	close(work)
	trying.Wait()
	t.Logf("first named, by what was injected:\n%s", strings.Join(o.table.lines(), "\n"))
}

// hold compares the table with its aims: right first in that share of each row, except for what the
// platform can't show, never a wrong cause as a certainty, and no cause of unchanged builds.
func (o *trial) hold(t *testing.T, least float64) {
	right, of := 0, 0
	for _, name := range o.table.rows() {
		all, _ := o.table.row(name)
		share := float64(all.right) / float64(max(all.cases-all.untold, 1))
		switch {
		case name == "":
			if share < 0.98 {
				t.Errorf("nothing is named of %d of %d unchanged builds, want 98 %%", all.right, all.cases)
			}
			continue
		case share < least && all.cases > all.untold:
			t.Errorf("%s: right first in %d of %d, of which %d can't be told, want %.0f %%", name, all.right, all.cases, all.untold, 100*least)
		}
		if all.overclaimed > 0 {
			t.Errorf("%s: in %d of %d something else is said to be clear", name, all.overclaimed, all.cases)
		}
		if all.also[1] > 0 {
			t.Logf("%s: the second cause is named in %d of %d", name, all.also[0], all.also[1])
		}
		right, of = right+all.right, of+all.cases
	}
	t.Logf("right first: %d of %d", right, of)
}

// TestCausesOfSlowFrames makes the table of docs/evaluation/causes.md with
//
//	APKGATE_EVALUATION=full go test ./research/experiments -run TestCausesOfSlowFrames -v
//
// and otherwise tries every fourth of its cases, on one phone.
func TestCausesOfSlowFrames(t *testing.T) {
	cases := slowCases()
	o := trial{repetitions: 3, bases: 3, sessions: 6}
	if os.Getenv("APKGATE_EVALUATION") != "full" {
		o.sessions = 1
		i := 0
		cases = slices.DeleteFunc(cases, func(c slowCase) bool {
			if c.phone != "pixel-7-android-14" || c.buffered {
				return true
			}
			i++
			return i%4 != 0
		})
	}
	o.all(t, cases)
	o.hold(t, 0.9)
	if os.Getenv("APKGATE_EVALUATION") == "full" {
		o.documented(t)
	}
}

// The paper's false positives (section 2.3): frames late by their time, which nobody saw since a
// buffer was ready, do not count as late, and what delayed them is not named.
func TestFramesThatABufferHid(t *testing.T) {
	for _, phone := range slowPhones {
		plain := slowCase{phone: phone, event: "scroll"}
		before := scrolling(plain.cost(), "")
		base := []run.Run{recordSlow(t, before, phone, 1, 1), recordSlow(t, before, phone, 2, 1)}
		hiding := fmt.Sprintf("work shader %s after scroll every 14\n", plain.on().late)
		delayed := fmt.Sprintf("work layout %s after scroll every 14 from 8\n", plain.on().absorbed)
		seen, hidden, alone := buffersAndLayout(t, plain, delayed, base)
		behind, hiddenBehind, blamed := buffersAndLayout(t, plain, hiding+delayed, base)
		t.Logf("%s: %d frames late by their time, %d of them hidden, layout blamed for %.2f ms of a frame; without a buffer %d, %d, %.2f ms",
			phone, behind+hiddenBehind, hiddenBehind, blamed, seen+hidden, hidden, alone)
		if hidden > 0 || alone == 0 {
			t.Errorf("%s: without a buffer %d frames are hidden, and layout is blamed for %.2f ms", phone, hidden, alone)
		}
		if hiddenBehind < seen/3 {
			t.Errorf("%s: behind late frames %d are hidden", phone, hiddenBehind)
		}
		if phone == slowPhones[0] && blamed > 0 { // without a frame timeline the buffers decide
			t.Errorf("%s: layout, which nobody saw, is blamed for %.2f ms, without a buffer for %.2f", phone, blamed, alone)
		}
	}
}

// buffersAndLayout returns the frames of a build that were seen late, those hidden by a buffer, and
// the ms per frame that layout is blamed for.
func buffersAndLayout(t *testing.T, c slowCase, lines string, base []run.Run) (seen, hidden int, blamed float64) {
	t.Helper()
	head := recordSlow(t, scrolling(c.cost(), lines), c.phone, 77, 1)
	head.ID = "head"
	for _, g := range head.Frames.Groups {
		switch g.Class {
		case run.SlowFrames:
			seen += g.Frames
		case run.BufferedFrames:
			hidden += g.Frames
		}
	}
	for _, cause := range jankcause.Explain(head, base, []diagnose.Finding{{Event: "scroll", Metric: "frames.slow", Direction: gate.ToRegression}}) {
		if cause.Kind == jankcause.LayoutKind {
			blamed = *cause.Explains.Value
		}
	}
	return seen, hidden, blamed
}
