package grouping

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
)

// labelledApp is an app of the corpus, in whose dump the stacks are.
type labelledApp struct{ process, file string }

var labelledApps = []labelledApp{
	{"com.datadog.android.sample", "datadog_anr_crash_trace.txt"},
	{"com.tencent.mm", "digitalfarms_traces.txt"},
	{"com.google.android.gms.persistent", "jeanboydev_emulator_9_anr_2019-04-11-14-10-57-693.txt"},
	{"com.meizu.mstore", "hbpencil_wanandroid_traces.txt"},
	{"io.sentry.samples.android", "sentry_thread_dump.txt"},
}

// labelledContext is a context of which it is known which method of the app scheduled the task.
type labelledContext struct {
	label  string
	frames []string // with a line number in each
}

// noise is what differs between two contexts of one task.
type noise struct {
	name                                string
	lines, hooked, framework, otherwise bool
	// through a helper of the app are a third of the tasks scheduled, as many apps have one.
	helper bool
}

var (
	allNoise = noise{name: "all of these", lines: true, hooked: true, framework: true, otherwise: true}
	noises   = []noise{
		{name: "line numbers", lines: true},
		{name: "Xposed-like lines", hooked: true},
		{name: "framework lines", framework: true},
		{name: "another caller, or a stack cut at 24 lines", otherwise: true},
		allNoise,
		{name: "all, and a third through one method", lines: true, hooked: true, framework: true, otherwise: true, helper: true},
	}
)

// stacksOf returns the different stacks of an app's threads, the innermost frame first.
func stacksOf(t testing.TB, app labelledApp) (stacks [][]string) {
	t.Helper()
	f, err := os.Open(corpustest.Path(t, "anr", app.file))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	known := map[string]bool{}
	process := ""
	var stack []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for {
		more := lines.Scan()
		line := lines.Text()
		switch frame, is := strings.CutPrefix(line, "  at "); {
		case strings.HasPrefix(line, "Cmd line: "):
			process = strings.TrimPrefix(line, "Cmd line: ")
		case is && process == app.process:
			stack = append(stack, strings.ReplaceAll(frame, "!(", "("))
		case !more || line == "" || strings.HasPrefix(line, `"`):
			if key := strings.Join(stack, "\n"); len(stack) > 0 && !known[key] {
				known[key] = true
				stacks = append(stacks, stack)
			}
			stack = nil
		}
		if !more {
			return stacks
		}
	}
}

// isPlatform is of the test alone: it knows the names that begin Android's and the languages' own.
func isPlatform(frame string) bool {
	for _, p := range strings.Fields("android. androidx. com.android. com.google.android. dalvik. libcore. java. javax. jdk. sun. kotlin. kotlinx. org.json. org.xmlpull.") {
		if strings.HasPrefix(frame, p) {
			return true
		}
	}
	return false
}

// labelledTasks returns a context for each place in the stacks from which the app could schedule a
// task: each method of the app's package, or of a stack without one, each method that is not the
// platform's. The label is the method's name.
func labelledTasks(t testing.TB, app labelledApp) (out []labelledContext) {
	t.Helper()
	parts := strings.Split(app.process, ".")
	own := strings.Join(parts[:min(len(parts), 3)], ".") + "."
	isOwn := func(frame string) bool { return strings.HasPrefix(frame, own) }
	known := map[string]bool{}
	for _, stack := range stacksOf(t, app) {
		is := isOwn
		if !slices.ContainsFunc(stack, isOwn) {
			is = func(frame string) bool { return !isPlatform(frame) }
		}
		for i, frame := range stack {
			if !is(frame) {
				continue
			}
			name, _, _ := strings.Cut(frame, "(")
			if key := strings.Join(stack[i:], "\n"); !known[key] {
				known[key] = true
				out = append(out, labelledContext{app.process + " " + name, stack[i:]})
			}
		}
	}
	return out
}

// schedulers are the ways to schedule a task (section 5.2), the innermost frame first.
var schedulers = [][]string{
	{"android.os.AsyncTask.executeOnExecutor(Native Method)", "android.os.AsyncTask.execute(AsyncTask.java:535)"},
	{"java.util.concurrent.ThreadPoolExecutor.execute(Native Method)"},
	{"android.os.Handler.sendMessageAtTime(Native Method)", "android.os.Handler.sendMessageDelayed(Handler.java:580)", "android.os.Handler.post(Handler.java:330)"},
	{"android.app.ContextImpl.startService(Native Method)", "android.content.ContextWrapper.startService(ContextWrapper.java:515)"},
	{"java.lang.Thread.start(Native Method)"},
}

// maker makes contexts.
type maker struct {
	*rand.Rand
	noise
	platform []string // frames of the platform, of all stacks
}

// context returns a context of a task with what may differ.
func (m maker) context(of labelledContext) []string {
	h := fnv.New32()
	_, _ = h.Write([]byte(of.label))
	front := slices.Clone(schedulers[h.Sum32()%uint32(len(schedulers))])
	body := slices.Clone(of.frames)
	if m.otherwise && m.IntN(3) == 0 {
		m.vary(body)
	}
	if m.framework && m.IntN(4) > 0 {
		body = m.deep(body)
	}
	if app, _, _ := strings.Cut(of.label, " "); m.helper && h.Sum32()%3 == 0 {
		front = append(front, app+".Background.run(Background.java:21)")
	}
	if m.hooked && m.IntN(2) == 0 {
		front[0] = strings.Replace(front[0], "(Native Method)", "(~Xposed>)", 1)
		if m.IntN(2) == 0 {
			front = slices.Insert(front, 1, "de.robv.android.xposed.XposedBridge.handleHookedMethod(XposedBridge.java:334)", "de.robv.android.xposed.XposedBridge.invokeOriginalMethodNative(Native Method)")
		}
	}
	out := append(front, body...)
	if m.otherwise && m.IntN(8) == 0 {
		out = out[:min(len(out), max(len(front)+1, 24))] // a tool that keeps so many frames
	}
	if m.lines {
		build := m.IntN(4)
		for i, frame := range out {
			out[i] = renumbered(frame, build)
		}
	}
	return out
}

// vary has another method call the outermost one of the app, as a second button does: never the one
// that schedules.
func (m maker) vary(body []string) {
	outermost := 0
	for i, frame := range body {
		if !isPlatform(frame) {
			outermost = i
		}
	}
	if outermost > 0 {
		name, rest, _ := strings.Cut(body[outermost], "(")
		body[outermost] = fmt.Sprintf("%s%d(%s", name, m.IntN(3), rest)
	}
}

// deep changes, adds and leaves out one to four of the platform's lines, as another version of
// Android or another way through it does.
func (m maker) deep(body []string) []string {
	for range 1 + m.IntN(4) {
		var at []int
		for i, frame := range body {
			if i > 0 && isPlatform(frame) {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			return body
		}
		i, other := at[m.IntN(len(at))], m.platform[m.IntN(len(m.platform))]
		switch m.IntN(3) {
		case 0:
			body[i] = other
		case 1:
			body = slices.Insert(body, i, other)
		default:
			body = slices.Delete(body, i, i+1)
		}
	}
	return body
}

// renumbered returns a frame with the line of another build of Android or the app.
func renumbered(frame string, build int) string {
	name, line, ok := strings.Cut(frame, ":")
	if !ok {
		return frame
	}
	return fmt.Sprintf("%s:%d%s", name, 10+build*7+len(name)%50, strings.TrimLeft(line, "0123456789"))
}

// labelledSet returns so many contexts of the five apps, with the label of each and how many
// different contexts there are.
func labelledSet(t testing.TB, n noise, size int) (all [][]string, labels []string) {
	t.Helper()
	m := maker{Rand: rand.New(rand.NewPCG(24, uint64(size))), noise: n}
	var tasks []labelledContext
	for _, app := range labelledApps {
		for _, stack := range stacksOf(t, app) {
			for _, frame := range stack {
				if isPlatform(frame) {
					m.platform = append(m.platform, frame)
				}
			}
		}
		tasks = append(tasks, labelledTasks(t, app)...)
	}
	known := map[string]bool{}
	for range 20 * size {
		one := tasks[m.IntN(len(tasks))]
		context := m.context(one)
		key := strings.Join(context, "\n")
		if len(all) == size {
			break
		}
		if !known[key] {
			known[key] = true
			all, labels = append(all, context), append(labels, one.label)
		}
	}
	return all, labels
}

// clustered returns the cluster of each context within its app, and how many there are. In plain
// clusters each line counts one, and the limit is a number of lines.
func clustered(all [][]string, labels []string, limit float64, plain bool) (of []int, n int) {
	sets := map[string]*contexts{}
	stacks := make([]int32, len(all))
	for i, context := range all {
		app, _, _ := strings.Cut(labels[i], " ")
		if sets[app] == nil {
			sets[app] = newContexts(app)
		}
		stacks[i] = sets[app].number("", context)
	}
	parts := map[string][]int32{}
	for app, set := range sets {
		for i := range set.stacks {
			if s := &set.stacks[i]; plain {
				s.weights, s.total = slices.Repeat([]float64{1}, len(s.symbols)), 1
			}
		}
		parts[app] = clusters(set.stacks, limit)
	}
	var at numbered[string]
	for i := range all {
		app, _, _ := strings.Cut(labels[i], " ")
		of = append(of, int(at.of(fmt.Sprint(app, parts[app][stacks[i]]))))
	}
	return of, len(at.all)
}

// adjustedRand is the adjusted Rand index of two partitions (Hubert and Arabie, 1985): 1 where they
// are the same, about 0 where they are by chance.
func adjustedRand(a []int, b []string) float64 {
	pairs := func(n int) float64 { return float64(n) * float64(n-1) / 2 }
	type cell struct {
		a int
		b string
	}
	both, ofA, ofB := map[cell]int{}, map[int]int{}, map[string]int{}
	for i := range a {
		both[cell{a[i], b[i]}]++
		ofA[a[i]]++
		ofB[b[i]]++
	}
	var index, sumA, sumB float64
	for _, n := range both {
		index += pairs(n)
	}
	for _, n := range ofA {
		sumA += pairs(n)
	}
	for _, n := range ofB {
		sumB += pairs(n)
	}
	expected := sumA * sumB / pairs(len(a))
	return (index - expected) / ((sumA+sumB)/2 - expected)
}

// TestContextsOfALabelledSet compares the clusters of a set with docs/evaluation/tasks.md;
// APKGATE_EVALUATION=full includes other thresholds.
func TestContextsOfALabelledSet(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../../docs/evaluation/tasks.md")
	if err != nil {
		t.Fatal(err)
	}
	hold := func(row string) {
		t.Log(row)
		if !strings.Contains(string(document), "\n"+row+"\n") {
			t.Errorf("docs/evaluation/tasks.md has no row\n%s", row)
		}
	}
	for _, n := range noises {
		all, labels := labelledSet(t, n, 1462)
		tasks := len(slices.Compact(slices.Sorted(slices.Values(labels))))
		of, groups := clustered(all, labels, Threshold, false)
		rand := adjustedRand(of, labels)
		hold(fmt.Sprintf("| %s | %d | %d | %d | %.3f |", n.name, len(all), tasks, groups, rand))
		if rand < 0.95 && !n.helper {
			t.Errorf("%s: an adjusted Rand index of %.3f, want 0.95 or more", n.name, rand)
		}
	}
	if os.Getenv("APKGATE_EVALUATION") != "full" {
		return
	}
	all, labels := labelledSet(t, allNoise, 1462)
	for _, limit := range []float64{0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6} {
		of, groups := clustered(all, labels, limit, false)
		hold(fmt.Sprintf("| %.2f | %d | %.3f |", limit, groups, adjustedRand(of, labels)))
	}
	for lines := range 10 {
		of, groups := clustered(all, labels, float64(lines+1), true)
		hold(fmt.Sprintf("| %d | %d | %.3f |", lines+1, groups, adjustedRand(of, labels)))
	}
}

// Figure 10 of the paper: three contexts of one task, which differ in line numbers, in an Xposed-like
// line, and in a line of the framework below the ninth.
func TestFigure10(t *testing.T) {
	t.Parallel()
	front := []string{"android.os.AsyncTask.executeOnExecutor(Native Method)", "android.os.AsyncTask.execute(AsyncTask.java:534)", "de.jdsoft.law.LawListFragment.onCreate(LawListFragment.java:91)"}
	middle := strings.Fields("android.support.v4.app.Fragment.performCreate(Fragment.java:1477) android.support.v4.app.FragmentManagerImpl.moveToState(FragmentManager.java:893) " +
		"android.support.v4.app.FragmentManagerImpl.moveToState(FragmentManager.java:1104) android.support.v4.app.FragmentManagerImpl.addFragment(FragmentManager.java:1206)")
	one := append(slices.Concat(front, middle), "android.support.v4.app.FragmentActivity.onCreateView(FragmentActivity.java:285)")
	two := append(slices.Concat(front, middle), "android.view.LayoutInflater.createViewFromTag(LayoutInflater.java:676)")
	three := append(slices.Concat(front, middle), "android.view.LayoutInflater.createViewFromTag(LayoutInflater.java:727)")
	three[0], three[1] = "android.os.AsyncTask.executeOnExecutor(~Xposed>)", "android.os.AsyncTask.execute(AsyncTask.java:539)"
	other := slices.Concat(front[:2], []string{"de.jdsoft.law.LawTextFragment.onCreate(LawTextFragment.java:91)"}, middle)

	c := NewCollector("de.jdsoft.law", Late)
	list := listOf()
	for i, context := range [][]string{one, two, three, other} {
		list.Tasks = append(list.Tasks, named("", context, at(10*i, 10*i, 10*i+1)))
	}
	c.Add(Repetition{Number: 1, List: list})
	got := c.Tasks().Groups
	if len(got) != 2 || got[0].Scheduled != 3 || got[0].Name != "de.jdsoft.law.LawListFragment.onCreate" || !slices.Equal(got[0].Context, two) || !slices.Equal(got[1].Context, other) {
		t.Errorf("groups %+v", got)
	}
}
