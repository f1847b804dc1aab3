package queueing

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Where repetitions are too few to show how much they vary, each of the head's has to be longer than
// any before. With more, three errors decide, which are at least three twentieths of both means.
func TestChange(t *testing.T) {
	for name, c := range map[string]struct {
		head            []float64
		base            [][]float64
		factor          float64
		stands, settled bool
		was             float64
	}{
		"few, all longer":         {[]float64{12, 10}, [][]float64{{8, 1}, {2}}, 1, true, false, 11.0 / 3},
		"few, one is not":         {[]float64{12, 7}, [][]float64{{8, 1}, {2}}, 1, false, false, 11.0 / 3},
		"few, one of the first":   {[]float64{7, 12}, [][]float64{{2}, {1, 8}}, 1, false, false, 11.0 / 3},
		"few, beside a slow pace": {[]float64{12, 10}, [][]float64{{8, 1}, {2}}, 2, false, false, 11.0 / 3},
		"five and five":           {[]float64{130, 131, 129, 130, 130}, [][]float64{{100, 101, 99, 100, 100}}, 1, true, true, 100},
		"as sessions differ":      {[]float64{120, 121, 119, 120, 120}, [][]float64{{100, 101, 99, 100, 100}}, 1, false, true, 100},
		"they vary too much":      {[]float64{130, 30, 230, 130, 130}, [][]float64{{100, 101, 99, 100, 100}}, 1, false, true, 100},
		"less":                    {[]float64{60, 61, 59, 60, 60}, [][]float64{{100, 101, 99, 100, 100}}, 1, false, true, 100},
		"three and three":         {[]float64{130, 131, 129}, [][]float64{{100, 101, 99}}, 1, true, false, 100},
	} {
		got := change(c.head, c.base, c.factor)
		if got.Stands() != c.stands || got.settled != c.settled || math.Abs(got.was-c.was) > 1e-9 {
			t.Errorf("%s: %+v stands: %v, want %v, settled %v, before %g", name, got, got.Stands(), c.stands, c.settled, c.was)
		}
	}
}

// paced is a run of groups that run so long on average, and at the longest.
func paced(id string, frames float64, times map[string][2]float64, tasks int) run.Run {
	r := recordedRun(id, 100, []run.TaskUnit{wide})
	for name, ms := range times {
		g := of(name, 0, 0, ms[0])
		g.Ran = run.Spread{Count: tasks, MeanMS: ms[0], QuantilesMS: []float64{ms[0] / 2, ms[1]}}
		r.Tasks.Groups = append(r.Tasks.Groups, g)
	}
	if frames > 0 {
		for i := range r.Iterations {
			r.Iterations[i].Metrics = map[string]float64{"frames.duration_ms.p50": frames}
		}
		delete(r.Iterations[1].Metrics, "frames.duration_ms.p50") // one repetition does not tell
	}
	return r
}

// By how much everything takes longer is the lower median of all other kinds of tasks, and frames.
func TestPace(t *testing.T) {
	base := paced("base", 0, map[string][2]float64{"A": {100, 120}, "B": {100, 120}, "C": {100, 120}}, 5)
	for name, c := range map[string]struct {
		head, base run.Run
		want       float64
		known      bool
	}{
		"half of the others":        {paced("head", 0, map[string][2]float64{"A": {900, 900}, "B": {200, 240}, "C": {100, 120}}, 5), base, 1, true},
		"all others":                {paced("head", 0, map[string][2]float64{"A": {100, 120}, "B": {200, 240}, "C": {300, 360}}, 5), base, 2, true},
		"faster":                    {paced("head", 0, map[string][2]float64{"B": {50, 60}, "C": {50, 60}}, 5), base, 1, true},
		"nothing else":              {paced("head", 0, map[string][2]float64{"A": {200, 240}}, 5), base, 1, false},
		"too few tasks":             {paced("head", 0, map[string][2]float64{"B": {200, 240}}, 2), base, 1, false},
		"too few tasks before":      {paced("head", 0, map[string][2]float64{"B": {200, 240}}, 5), paced("base", 0, map[string][2]float64{"B": {100, 120}}, 2), 1, false},
		"too short to tell":         {paced("head", 0, map[string][2]float64{"B": {4, 4}}, 5), paced("base", 0, map[string][2]float64{"B": {1.9, 1.9}}, 5), 1, false},
		"frames":                    {paced("head", 24, map[string][2]float64{}, 5), paced("base", 12, map[string][2]float64{}, 5), 2, true},
		"frames of the head alone":  {paced("head", 24, map[string][2]float64{}, 5), paced("base", 0, map[string][2]float64{}, 5), 1, false},
		"frames of the base alone":  {paced("head", 0, map[string][2]float64{}, 5), paced("base", 24, map[string][2]float64{}, 5), 1, false},
		"frames of few repetitions": {paced("head", 24, map[string][2]float64{}, 5), fewer(paced("base", 12, map[string][2]float64{}, 5), 3), 2, true},
	} {
		got, known := compared(c.head, []run.Run{c.base}).pace("A")
		if math.Abs(got-c.want) > 1e-9 || known != c.known {
			t.Errorf("%s: %g, %v; want %g, %v", name, got, known, c.want, c.known)
		}
	}
	// The longest of several runs before counts, and each of them.
	long := paced("long", 0, map[string][2]float64{"B": {100, 240}}, 5)
	for _, order := range [][]run.Run{{base, long}, {long, base}} {
		if got, _ := compared(paced("head", 0, map[string][2]float64{"B": {200, 240}}, 5), order).pace("A"); got != 1 {
			t.Errorf("beside runs with longest tasks of 120 and 240 ms, 240 ms are a pace of %g, want 1", got)
		}
	}
}

// fewer keeps the first repetitions of a run's metrics.
func fewer(r run.Run, n int) run.Run {
	r.Iterations = r.Iterations[:n]
	return r
}

// A load is common: others take as much longer.
func TestCommon(t *testing.T) {
	for name, c := range map[string]struct {
		others []float64
		want   bool
	}{
		"no others": {nil, false}, "the only other one": {[]float64{2}, true}, "half": {[]float64{2, 1}, true}, "one of three": {[]float64{2, 1, 1}, false},
		"two of six": {[]float64{2, 2, 1, 1, 1, 1}, true}, "none of two": {[]float64{1, 1.2}, false}, "almost as much": {[]float64{1.6}, true},
	} {
		all := comparison{paces: []pace{{"A", 2, true}}}
		for i, factor := range c.others {
			all.paces = append(all.paces, pace{fmt.Sprint(i), factor, false})
		}
		if got := all.common("A", 2); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// picked is a head in which Picture, in the first unit, waits behind the other groups, and a base.
func picked(units []run.TaskUnit, groups ...run.TaskGroup) run.Run {
	r := recordedRun("r", 100, units, append([]run.TaskGroup{of("Picture", 0, 1_000, 100)}, groups...)...)
	g := &r.Tasks.Groups[0]
	g.Late = &run.LateTasks{OverMS: 500, Tasks: 5}
	for i := range groups {
		g.Late.WaitedFor = append(g.Late.WaitedFor, run.TasksAhead{Group: i + 1, Tasks: 5, RanMS: 100})
	}
	return r
}

// counted sets how many tasks each repetition has.
func counted(g run.TaskGroup, repetitions ...int) run.TaskGroup {
	g.Repetitions, g.Scheduled = repetitions, 0
	for _, n := range repetitions {
		g.Scheduled += n
	}
	g.Started, g.Done = g.Scheduled, g.Scheduled
	return g
}

// waiting sets how long the picture waits.
func waiting(r run.Run, waits float64) run.Run {
	r.Tasks.Groups[0].QueuedMaxMS = of("Picture", 0, waits, 100).QueuedMaxMS
	return r
}

// told sets how many of ten tasks were started, cancelled, and ended after their screen had gone.
func told(g run.TaskGroup, started, cancelled, obsolete int) run.TaskGroup {
	g.Scheduled, g.Started, g.Done, g.Cancelled, g.Obsolete = 10, started, started, cancelled, obsolete
	return g
}

// uneven has tasks that run from the shortest to the longest time.
func uneven(g run.TaskGroup, mean, shortest, longest float64) run.TaskGroup {
	g.Ran = run.Spread{Count: 10, MeanMS: mean, QuantilesMS: []float64{shortest, mean, longest}}
	return g
}

// What changed in a queue.
func TestEvidence(t *testing.T) {
	pool := func(n int) []run.TaskUnit {
		return []run.TaskUnit{{Name: "pool", Kind: run.ThreadPool, Capacity: n}, wide}
	}
	sync := of("Sync", 0, 0, 300)
	elsewhere := sync
	elsewhere.Event = "start"
	cases := map[string]struct {
		head run.Run
		base []run.Run
		want evidence
	}{
		"as before but for the order":        {picked(pool(2), sync), []run.Run{picked(pool(2), sync)}, evidence{capacity: 2, capacityBefore: 2, rearranged: true}},
		"fewer workers":                      {picked(pool(2), sync), []run.Run{picked(pool(6), sync)}, evidence{capacity: 2, capacityBefore: 6, fewer: true}},
		"fewer than the fewest":              {picked(pool(2), sync), []run.Run{picked(pool(6), sync), picked(pool(4), sync), picked(pool(5), sync)}, evidence{capacity: 2, capacityBefore: 4, fewer: true}},
		"more workers":                       {picked(pool(6), sync), []run.Run{picked(pool(2), sync)}, evidence{capacity: 6, capacityBefore: 2, rearranged: true}},
		"an unknown number":                  {picked(pool(0), sync), []run.Run{picked(pool(6), sync)}, evidence{capacityBefore: 6, rearranged: true}},
		"an unknown number before":           {picked(pool(6), sync), []run.Run{picked(pool(0), sync)}, evidence{capacity: 6, rearranged: true}},
		"moved to fewer":                     {picked(pool(2), sync), []run.Run{picked([]run.TaskUnit{wide, three}, sync)}, evidence{capacity: 2, capacityBefore: 8, fewer: true, moved: true, from: "wide", newcomers: []int{1}}},
		"there before in one run":            {picked(pool(2), sync), []run.Run{picked([]run.TaskUnit{wide, three}, sync), picked(pool(2), sync)}, evidence{capacity: 2, capacityBefore: 2, from: "wide", rearranged: true}},
		"new ahead":                          {picked(pool(2), sync, of("New", 0, 0, 300)), []run.Run{picked(pool(2), sync)}, evidence{capacity: 2, capacityBefore: 2, newcomers: []int{2}}},
		"new, of a cut list":                 {picked(pool(2), sync, of("New", 0, 0, 300)), []run.Run{leftOut(picked(pool(2), sync))}, evidence{capacity: 2, capacityBefore: 2}},
		"in another event before":            {picked(pool(2), sync), []run.Run{picked(pool(2), elsewhere)}, evidence{capacity: 2, capacityBefore: 2, added: []int{1}}},
		"more of it":                         {picked(pool(2), counted(sync, 4, 4, 5, 4, 4)), []run.Run{picked(pool(2), sync)}, evidence{capacity: 2, capacityBefore: 2, added: []int{1}}},
		"a few more of many":                 {picked(pool(2), counted(sync, 55, 55, 55, 55, 55)), []run.Run{picked(pool(2), counted(sync, 50, 50, 50, 50, 50))}, evidence{capacity: 2, capacityBefore: 2, rearranged: true}},
		"not one more each":                  {picked(pool(2), counted(sync, 1, 1, 1, 1, 1)), []run.Run{picked(pool(2), counted(sync, 0, 1, 0, 1, 0))}, evidence{capacity: 2, capacityBefore: 2, rearranged: true}},
		"more by chance":                     {picked(pool(2), counted(sync, 1, 1, 30, 1, 1)), []run.Run{picked(pool(2), sync)}, evidence{capacity: 2, capacityBefore: 2, rearranged: true}},
		"it takes longer":                    {picked(pool(2), of("Sync", 0, 0, 900), of("Log", 0, 0, 60)), []run.Run{picked(pool(2), sync, of("Log", 0, 0, 60))}, evidence{capacity: 2, capacityBefore: 2, longer: []int{1}}},
		"no longer in pieces":                {picked(pool(2), counted(of("Sync", 0, 0, 900), 2, 2, 2, 2, 2), of("Log", 0, 0, 60)), []run.Run{picked(pool(2), counted(sync, 4, 4, 4, 4, 4), of("Log", 0, 0, 60))}, evidence{capacity: 2, capacityBefore: 2, longer: []int{1}, held: true}},
		"one piece of four less":             {picked(pool(2), counted(of("Sync", 0, 0, 900), 3, 3, 3, 3, 3), of("Log", 0, 0, 60)), []run.Run{picked(pool(2), counted(sync, 4, 4, 4, 4, 4), of("Log", 0, 0, 60))}, evidence{capacity: 2, capacityBefore: 2, longer: []int{1}}},
		"longer than its work is":            {picked(pool(2), of("Sync", 0, 0, 340)), []run.Run{waiting(picked(pool(2), sync), 0)}, evidence{capacity: 2, capacityBefore: 2, rearranged: true}},
		"longer, next to what takes no time": {picked(pool(2), of("Sync", 0, 0, 340), of("Tick", 0, 0, 0)), []run.Run{waiting(picked(pool(2), sync, of("Tick", 0, 0, 0)), 0)}, evidence{capacity: 2, capacityBefore: 2, rearranged: true}},
		"longer by its work":                 {picked(pool(2), counted(of("Sync", 0, 0, 340), 20, 20, 20, 20, 20)), []run.Run{waiting(picked(pool(2), counted(sync, 20, 20, 20, 20, 20)), 0)}, evidence{capacity: 2, capacityBefore: 2}},
		"all of it takes longer":             {picked(pool(2), of("Sync", 0, 0, 900), of("Log", 0, 0, 900)), []run.Run{picked(pool(2), sync, of("Log", 0, 0, 300))}, evidence{capacity: 2, capacityBefore: 2}},
		"never ran before":                   {picked(pool(2), sync), []run.Run{picked(pool(2), of("Sync", 0, 0, 0))}, evidence{capacity: 2, capacityBefore: 2}},
		"no longer cancelled":                {picked(pool(2), told(sync, 10, 0, 0)), []run.Run{picked(pool(2), told(sync, 10, 6, 0))}, evidence{capacity: 2, capacityBefore: 2, uncancelled: true}},
		"a little less cancelled":            {picked(pool(2), told(sync, 10, 5, 0)), []run.Run{picked(pool(2), told(sync, 10, 9, 0))}, evidence{capacity: 2, capacityBefore: 2, rearranged: true}},
		"hardly ever cancelled":              {picked(pool(2), told(sync, 10, 0, 0)), []run.Run{picked(pool(2), told(sync, 10, 1, 0))}, evidence{capacity: 2, capacityBefore: 2, rearranged: true}},
		"cancelled, untold":                  {untelling(picked(pool(2), told(sync, 10, 0, 0))), []run.Run{untelling(picked(pool(2), told(sync, 10, 6, 0)))}, evidence{capacity: 2, capacityBefore: 2, rearranged: true}},
		"never started before":               {picked(pool(2), told(sync, 10, 0, 0)), []run.Run{picked(pool(2), told(sync, 6, 0, 0))}, evidence{capacity: 2, capacityBefore: 2, uncancelled: true, dropped: 0.27}},
		"new, and all started":               {picked(pool(2), told(of("New", 0, 0, 300), 10, 0, 0)), []run.Run{recordedRun("r", 100, pool(2), told(of("Old", 0, 0, 300), 5, 0, 0))}, evidence{capacity: 2, newcomers: []int{1}, uncancelled: true}},
		"never started elsewhere":            {picked(pool(2), told(sync, 10, 0, 0)), []run.Run{picked([]run.TaskUnit{wide, three}, told(sync, 3, 0, 0))}, evidence{capacity: 2, capacityBefore: 8, fewer: true, moved: true, from: "wide", newcomers: []int{1}, uncancelled: true}},
		"cut short before":                   {picked(pool(2), uneven(sync, 550, 500, 600)), []run.Run{picked(pool(2), uneven(sync, 350, 100, 600))}, evidence{capacity: 2, capacityBefore: 2, uncancelled: true}},
		"longer than when cut":               {picked(pool(2), uneven(sync, 400, 100, 600)), []run.Run{picked(pool(2), uneven(sync, 300, 100, 600))}, evidence{capacity: 2, capacityBefore: 2}},
		"as long on average":                 {picked(pool(2), uneven(sync, 350, 330, 400)), []run.Run{picked(pool(2), uneven(sync, 350, 100, 600))}, evidence{capacity: 2, capacityBefore: 2, rearranged: true}},
		"even before":                        {picked(pool(2), uneven(sync, 550, 540, 560)), []run.Run{picked(pool(2), uneven(sync, 400, 330, 600))}, evidence{capacity: 2, capacityBefore: 2}},
		"after its screen":                   {picked(pool(2), told(sync, 10, 0, 5)), []run.Run{picked(pool(2), told(sync, 10, 0, 1))}, evidence{capacity: 2, capacityBefore: 2, gone: true, rearranged: true}},
		"hardly ever after":                  {picked(pool(2), told(sync, 10, 0, 1)), []run.Run{picked(pool(2), told(sync, 10, 0, 0))}, evidence{capacity: 2, capacityBefore: 2, rearranged: true}},
		"after it before too":                {picked(pool(2), told(sync, 10, 0, 5)), []run.Run{picked(pool(2), told(sync, 10, 0, 3))}, evidence{capacity: 2, capacityBefore: 2, rearranged: true}},
		"nothing ahead":                      {picked(pool(2)), []run.Run{picked(pool(2))}, evidence{capacity: 2, capacityBefore: 2}},
	}
	for name, c := range cases {
		c.head.ID, c.head.Session, c.base[0].Session = "head", "rounds", "rounds"
		compared := compared(c.head, c.base)
		got := compared.evidenceOf(0, compared.head.blockers(c.head.Tasks.Groups[0]))
		got.paced, got.dropped = 0, math.Round(100*got.dropped)/100
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(evidence{})); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func leftOut(r run.Run) run.Run {
	r.Tasks.LeftOut = 3
	return r
}

// untelling removes that the source tells cancellation.
func untelling(r run.Run) run.Run {
	r.Tasks.Tells = []string{run.TellsContexts, run.TellsCapacity}
	return r
}

// A group that is ahead by next to nothing is not named.
func TestBlockers(t *testing.T) {
	s := sideOf(recordedRun("r", 1, []run.TaskUnit{serial}))
	got := s.blockers(run.TaskGroup{Late: &run.LateTasks{WaitedFor: []run.TasksAhead{{Group: 3, Tasks: 1, RanMS: 40}, {Group: 1, Tasks: 3, RanMS: 300}, {Group: 2, Tasks: 1, RanMS: 60}}}})
	if diff := cmp.Diff([]blocker{{1, 0.9}, {2, 0.06}}, got, cmp.AllowUnexported(blocker{})); diff != "" {
		t.Error(diff)
	}
	if got := s.blockers(run.TaskGroup{Late: &run.LateTasks{WaitedFor: []run.TasksAhead{{Group: 1}}}}); got != nil {
		t.Errorf("of tasks that have not ended, %v", got)
	}
}

// The kind of a defect, by what changed and what is ahead.
func TestKindOf(t *testing.T) {
	lib := []string{"java.util.concurrent.ThreadPoolExecutor.execute(T.java:1)", "com.loopj.http.C.get(C.java:2)", law + ".A.b(A.java:2)"}
	own := []string{"java.util.concurrent.ThreadPoolExecutor.execute(T.java:1)", law + ".A.b(A.java:2)"}
	r := recordedRun("r", 1, []run.TaskUnit{serial, three, handler, {Name: "main", Kind: run.MainThread}, {Name: "pool", Kind: run.ThreadPool}, {Name: "IntentService[A]", Kind: run.IntentService}},
		from(of("Own", 0, 0, 1), own...), from(of("Lib", 0, 0, 1), lib...), from(gone(of("Gone", 0, 0, 1), 5, 0), own...), from(again(of("Again", 0, 0, 1), 4, 400), own...),
		from(again(of("Burst", 0, 0, 1), 4, 10), own...), of("Pool", 1, 0, 1), again(of("Handler", 2, 0, 1), 4, 400), of("Main", 3, 0, 1), of("Unknown", 4, 0, 1), of("Service", 5, 0, 1), gone(of("Little", 0, 0, 1), 1, 0))
	r.Session = "rounds"
	const ownOne, libOne, goneOne, againOne, burst, pool, handled, mainOne, unknown, service, little = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
	before := evidence{capacity: 1, newcomers: []int{ownOne}}
	with := func(change func(*evidence)) evidence {
		e := evidence{capacity: 1}
		change(&e)
		return e
	}
	for name, c := range map[string]struct {
		alone    bool
		group    int
		evidence evidence
		blockers []blocker
		want     string
	}{
		"a queue of one":               {false, ownOne, before, []blocker{{ownOne, 1}}, SequentialKind},
		"a pool":                       {false, pool, evidence{capacity: 3, fewer: true}, []blocker{{pool, 1}}, PoolKind},
		"a handler":                    {false, handled, before, []blocker{{handled, 1}}, HandlerKind},
		"the main thread":              {false, mainOne, before, []blocker{{mainOne, 1}}, HandlerKind},
		"a service":                    {false, service, before, []blocker{{service, 1}}, HandlerKind},
		"unknown":                      {false, unknown, evidence{newcomers: []int{unknown}}, []blocker{{unknown, 1}}, QueueKind},
		"longer alone":                 {false, ownOne, with(func(e *evidence) { e.longer = []int{ownOne} }), []blocker{{ownOne, 1}}, LongKind},
		"a new library":                {false, ownOne, with(func(e *evidence) { e.newcomers = []int{libOne} }), []blocker{{libOne, 0.6}, {ownOne, 0.4}}, LibraryKind},
		"more of a library":            {false, ownOne, with(func(e *evidence) { e.added = []int{libOne} }), []blocker{{libOne, 0.6}, {ownOne, 0.4}}, LibraryKind},
		"a longer library":             {false, ownOne, with(func(e *evidence) { e.longer = []int{libOne} }), []blocker{{libOne, 0.6}, {ownOne, 0.4}}, LibraryKind},
		"an old library":               {false, ownOne, with(func(e *evidence) { e.newcomers = []int{ownOne} }), []blocker{{libOne, 0.6}, {ownOne, 0.4}}, SequentialKind},
		"a part of it is a library":    {false, ownOne, with(func(e *evidence) { e.newcomers = []int{libOne} }), []blocker{{ownOne, 0.6}, {libOne, 0.4}}, SequentialKind},
		"a library, alone":             {true, ownOne, evidence{capacity: 1}, []blocker{{libOne, 1}}, LibraryKind},
		"gone, no longer cancelled":    {false, ownOne, with(func(e *evidence) { e.uncancelled = true }), []blocker{{goneOne, 1}}, ObsoleteKind},
		"gone, more than before":       {false, ownOne, with(func(e *evidence) { e.gone, e.newcomers = true, []int{goneOne} }), []blocker{{goneOne, 1}}, ObsoleteKind},
		"gone as before":               {false, ownOne, before, []blocker{{goneOne, 1}}, SequentialKind},
		"gone, with fewer workers":     {false, ownOne, with(func(e *evidence) { e.gone, e.fewer = true, true }), []blocker{{goneOne, 1}}, SequentialKind},
		"gone, moved":                  {false, ownOne, with(func(e *evidence) { e.gone, e.moved = true, true }), []blocker{{goneOne, 1}}, SequentialKind},
		"gone, alone":                  {true, ownOne, evidence{capacity: 1}, []blocker{{goneOne, 1}}, ObsoleteKind},
		"gone in a small part":         {true, ownOne, evidence{capacity: 1}, []blocker{{ownOne, 0.8}, {goneOne, 0.2}}, SequentialKind},
		"few of them gone":             {true, ownOne, evidence{capacity: 1}, []blocker{{little, 1}}, SequentialKind},
		"removed before they started":  {false, ownOne, with(func(e *evidence) { e.uncancelled, e.dropped = true, 0.3 }), []blocker{{ownOne, 1}}, ObsoleteKind},
		"some removed before":          {false, ownOne, with(func(e *evidence) { e.uncancelled = true }), []blocker{{ownOne, 1}}, SequentialKind},
		"scheduled again":              {true, againOne, evidence{capacity: 1}, []blocker{{againOne, 1}}, ObsoleteKind},
		"scheduled again, another one": {true, ownOne, evidence{capacity: 1}, []blocker{{againOne, 1}}, SequentialKind},
		"scheduled again at once":      {true, burst, evidence{capacity: 1}, []blocker{{burst, 1}}, SequentialKind},
		"scheduled again, a handler's": {true, handled, evidence{capacity: 1}, []blocker{{handled, 1}}, HandlerKind},
		"nothing is known ahead":       {true, ownOne, evidence{capacity: 1}, nil, SequentialKind},
	} {
		base := []run.Run{r}
		if c.alone {
			base = nil
		}
		got, called := compared(r, base).kindOf(suspect{group: c.group, evidence: c.evidence, blockers: c.blockers})
		if got != c.want || (called == "com.loopj.http.C.get") != (c.want == LibraryKind) {
			t.Errorf("%s: %s by %q, want %s", name, got, called, c.want)
		}
	}
	none := r.Tasks.Groups[goneOne]
	none.Done = 0
	r.Tasks.Groups[goneOne] = none
	if got, _ := compared(r, nil).kindOf(suspect{group: ownOne, blockers: []blocker{{goneOne, 1}}}); got != ObsoleteKind {
		t.Errorf("of tasks that have not ended: %s", got)
	}
}

// Only tasks of one repetition that were scheduled one after the other have a gap.
func TestMedianGap(t *testing.T) {
	at := func(repetition int, ms float64) run.SlowTask { return run.SlowTask{Repetition: repetition, AtMS: ms} }
	for name, c := range map[string]struct {
		tasks []run.SlowTask
		want  float64
	}{
		"none": {nil, 0}, "one": {[]run.SlowTask{at(1, 100)}, 0},
		"out of order":       {[]run.SlowTask{at(2, 900), at(1, 300), at(2, 400), at(1, 100)}, 500},
		"other repetitions":  {[]run.SlowTask{at(1, 100), at(2, 900)}, 0},
		"unknown scheduling": {[]run.SlowTask{at(1, 0), at(1, 900)}, 0},
		"three":              {[]run.SlowTask{at(1, 100), at(1, 110), at(1, 400), at(1, 1_000)}, 290},
	} {
		if got := medianGap(c.tasks); got != c.want {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
	few := again(of("Query", 0, 0, 1), 1, 400)
	five := comparison{head: side{repetitions: 5}}
	if few.Superseded = 2; !five.again(few) {
		t.Error("two of five scheduled again are too few")
	}
	few.Scheduled = 20
	if five.again(few) {
		t.Error("two of twenty in five repetitions are enough")
	}
	if few.Superseded = 3; !five.again(few) {
		t.Error("one in three of five repetitions, of four each, is too few")
	}
	few.Longest = few.Longest[:1]
	if !five.again(few) {
		t.Error("a task that another event schedules again is not obsolete")
	}
	few.Repetitions[2] = 2
	if five.again(few) {
		t.Error("tasks of one event, of which one is known by its time, are known to be no burst")
	}
	few.Scheduled, few.Superseded = 0, 0
	if five.again(few) {
		t.Error("nothing scheduled again is enough")
	}
}

// What takes longer is blamed even if other tasks ahead take more.
func TestSlowed(t *testing.T) {
	ahead := []blocker{{4, 0.6}, {7, 0.4}}
	for name, c := range map[string]struct {
		s    suspect
		want int
	}{
		"longer":         {suspect{kind: LongKind, blockers: ahead, evidence: evidence{longer: []int{7}}}, 7},
		"of another":     {suspect{kind: ObsoleteKind, blockers: ahead, evidence: evidence{longer: []int{7}}}, 4},
		"nothing longer": {suspect{kind: LongKind, blockers: ahead}, 4},
		"nothing ahead":  {suspect{kind: LongKind}, -1},
	} {
		if got := c.s.slowed(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// Of many runs before, those with the head's build of Android come first, then the newest.
func TestAlikeOrder(t *testing.T) {
	head := queue("head")
	head.Context = map[string]string{"model": "One", "sdk": "14"}
	var all []run.Run
	for i := range 6 {
		r := queue(fmt.Sprint(i))
		r.Started = r.Started.AddDate(0, 0, i)
		r.Context = map[string]string{"model": "One", "sdk": []string{"13", "14"}[i%2]}
		all = append(all, r)
	}
	var got []string
	for _, r := range alike(head, all) {
		got = append(got, r.ID)
	}
	if want := []string{"5", "3", "1", "4", "2"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A record of more repetitions than its iterations has them all.
func TestSideOf(t *testing.T) {
	r := recordedRun("r", 1, []run.TaskUnit{serial}, of("A", 0, 1, 1), counted(of("B", 0, 1, 1), 1, 2))
	r.Iterations = r.Iterations[:1]
	s := sideOf(r)
	if s.repetitions != 5 || !slices.Equal(s.count([]int{0, 1}), []float64{2, 3, 1, 1, 1}) {
		t.Errorf("%d repetitions, %v tasks", s.repetitions, s.count([]int{0, 1}))
	}
	r.Iterations = make([]run.Iteration, 40)
	if s := sideOf(r); s.repetitions != run.MaxApart {
		t.Errorf("%d of 40 repetitions are told apart", s.repetitions)
	}
	if got := packageOf("a..B.c"); got != "a." {
		t.Errorf("%q", got)
	}
}

// Tasks that take longer explain the time of their own event, and times that they can explain.
func TestLongerTasks(t *testing.T) {
	head := recordedRun("head", 2_000, []run.TaskUnit{wide, serial}, of("Picture", 0, 0, 1_900), background())
	base := recordedRun("base", 300, []run.TaskUnit{wide, serial}, of("Picture", 0, 0, 200), background())
	for name, c := range map[string]struct {
		event, metric string
		want          int
	}{
		"its time": {"open", "app.shown_ms", 1}, "how long it ran": {"open", "tasks.ran_ms", 1}, "the run": {"", "app.shown_ms", 1},
		"its queue": {"open", "tasks.queued_ms", 0}, "how many waited": {"open", "tasks.waiting", 0}, "another event": {"close", "app.shown_ms", 0}, "frames that did not wait": {"open", "frames.slow", 0},
	} {
		got := Explain(head, []run.Run{base}, []diagnose.Finding{{Event: c.event, Metric: c.metric, Direction: gate.ToRegression}})
		if len(got) != c.want {
			t.Errorf("%s: %d causes, want %d", name, len(got), c.want)
		}
	}
	few := base
	few.Tasks = &run.Tasks{Source: "art", Units: base.Tasks.Units, Groups: []run.TaskGroup{of("Picture", 0, 0, 60), background()}}
	short := head
	short.Tasks = &run.Tasks{Source: "art", Units: base.Tasks.Units, Groups: []run.TaskGroup{of("Picture", 0, 0, 450), background()}}
	if got := Explain(short, []run.Run{few}, shown); len(got) != 0 {
		t.Errorf("a task of 450 ms is named")
	}
}

// A share needs a time that both builds have, and that got longer.
func TestShareOfTheSlowdown(t *testing.T) {
	base := recordedRun("base", 210, []run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 1, 0, 450), of("Log", 1, 0, 450), background())
	with := func(r run.Run, metric string, v float64) run.Run {
		its := slices.Clone(r.Iterations)
		for i := range its {
			its[i].Events = []run.Bucket{{Name: "open", Metrics: map[string]float64{metric: v}}}
			its[i].Metrics = map[string]float64{metric: v}
		}
		r.Iterations = its
		return r
	}
	head := queue("head")
	head.Declared = append(head.Declared, run.Declared{Name: "app.seconds", Unit: "s", Better: "lower"}, run.Declared{Name: "app.items", Unit: "items", Better: "lower"})
	for name, c := range map[string]struct {
		event, metric string
		now, before   float64
		want          float64 // 0 for none
	}{
		"the app's time": {"open", "app.shown_ms", 2_000, 200, 0.51}, "in seconds": {"open", "app.seconds", 2, 0.2, 0.51}, "a built-in time": {"open", "startup.ttid_ms", 2_000, 200, 0.51},
		"of the run": {"", "startup.ttid_ms", 2_000, 200, 0.51}, "it got shorter": {"open", "startup.ttid_ms", 100, 200, 0}, "a number": {"open", "tasks.waiting", 10, 1, 0},
	} {
		got := only(t, Explain(with(head, c.metric, c.now), []run.Run{with(base, c.metric, c.before)}, []diagnose.Finding{{Event: c.event, Metric: c.metric, Direction: gate.ToRegression}}))
		share := 0.0
		if got.Explains.Share != nil {
			share = *got.Explains.Share
		}
		if math.Abs(share-c.want) > 0.005 { // 918 − 2.04 ms of 1,800
			t.Errorf("%s: share %.3f, want %.2f", name, share, c.want)
		}
	}
	unknown := only(t, Explain(with(head, "startup.ttid_ms", 2_000), []run.Run{base}, []diagnose.Finding{{Event: "open", Metric: "startup.ttid_ms", Direction: gate.ToRegression}}))
	if unknown.Explains.Share != nil {
		t.Errorf("without the time before, the share is %g", *unknown.Explains.Share)
	}
	if low := unknown.Explains.Low; low == nil || *low < 0 || *low > 916 || unknown.Explains.Level != 0.95 {
		t.Errorf("the interval begins with %v", low)
	}
}

// Doubts are about what is doubtful, and about nothing else.
func TestDoubtsAboutACause(t *testing.T) {
	base := recordedRun("base", 210, []run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 1, 0, 450), of("Log", 1, 0, 450), background())
	const order = "The recording does not show whether these tasks need their order: if not, give them an executor with more threads, or each its own."
	unnamed := queue("")
	for name, c := range map[string]struct {
		head  run.Run
		base  []run.Run
		found []diagnose.Finding
		want  []string
	}{
		"compared":              {queue("head"), []run.Run{base}, shown, []string{order}},
		"a recording by itself": {unnamed, nil, nil, []string{order}},
		"no run before":         {queue("head"), nil, shown, []string{order, "No earlier run recorded its tasks: the queue may have been as long before."}},
		"no stacks":             {stackless(queue("head")), []run.Run{stackless(base)}, shown, []string{order, "The source has no stacks: where these tasks are scheduled is unknown."}},
	} {
		got := only(t, Explain(c.head, c.base, c.found))
		var doubts []string
		for _, d := range got.Doubts {
			doubts = append(doubts, said(d))
		}
		if diff := cmp.Diff(c.want, doubts); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if alone := c.base == nil; alone != (got.Explains.Low == nil) {
			t.Errorf("%s: an interval from %v", name, got.Explains.Low)
		}
	}
}

func stackless(r run.Run) run.Run {
	tasks := *r.Tasks
	tasks.Tells = []string{run.TellsCapacity, run.TellsCancellation}
	r.Tasks = &tasks
	return r
}

// A queue whose tasks are as many and as long as before is longer for another reason: that is
// believed from the double on.
func TestRearrangedQueue(t *testing.T) {
	at := func(waits float64, id string) run.Run {
		return recordedRun(id, waits+200, []run.TaskUnit{serial, wide}, late(of("Picture", 0, waits, 200), 1, 450, run.TasksAhead{Group: 1, Tasks: 5, RanMS: 450}), of("Sync", 0, 0, 450), background())
	}
	if got := Explain(at(900, "head"), []run.Run{at(600, "base")}, shown); len(got) != 0 {
		t.Errorf("half as long again: %s", got[0].Kind)
	}
	if got := only(t, Explain(at(1_900, "head"), []run.Run{at(600, "base")}, shown)); got.Kind != SequentialKind {
		t.Errorf("three times as long: %s", got.Kind)
	}
}

// Limits on what is explained: twelve events, four causes of each, one of a further number.
func TestLimitsOfExplain(t *testing.T) {
	var units []run.TaskUnit
	var now, before []run.TaskGroup
	var found []diagnose.Finding
	for e := range 14 {
		event := fmt.Sprint("event ", e)
		found = append(found, diagnose.Finding{Event: event, Metric: "app.shown_ms", Direction: gate.ToRegression}, diagnose.Finding{Event: event, Metric: "tasks.queued_ms", Direction: gate.ToRegression})
		for u := range 5 {
			if e == 0 {
				units = append(units, run.TaskUnit{Name: fmt.Sprintf("queue %c", 'a'+u), Kind: run.HandlerThread})
			}
			g := of(fmt.Sprintf("Task %d %c", e, 'a'+u), u, 1_000, 50)
			g.Event = event
			before = append(before, of(g.Name, u, 2, 50))
			before[len(before)-1].Event = event
			blocks := of(fmt.Sprintf("Slow %d %c", e, 'a'+u), u, 0, 950)
			blocks.Event = event
			now = append(now, late(g, 1, 950, run.TasksAhead{Group: len(now) + 1, Tasks: 5, RanMS: 950}), blocks)
		}
	}
	head, base := recordedRun("head", 1, units, now...), recordedRun("base", 1, units, before...)
	events := map[string]int{}
	for _, c := range Explain(head, []run.Run{base}, found) {
		events[c.Event+" "+c.Metric]++
	}
	if len(events) != 24 || events["event 3 app.shown_ms"] != 4 || events["event 3 tasks.queued_ms"] != 1 || events["event 12 app.shown_ms"] != 0 {
		t.Errorf("%v, want four causes and then one of twelve events", events)
	}
	if got := Explain(head, []run.Run{base}, nil); len(got) != 0 {
		t.Errorf("without a finding, %d causes", len(got))
	}
	alone := map[string]int{}
	for _, c := range Explain(head, nil, nil) {
		alone[c.Event]++
	}
	if len(alone) != 12 || alone["event 3"] != 5 {
		t.Errorf("of a recording alone %v", alone)
	}
	quiet := recordedRun("quiet", 1, units[:1], of("A", 0, 0, 50))
	if got := everyEvent(quiet.Tasks); got != nil {
		t.Errorf("without late tasks, %v", got)
	}
	if got := everyEvent(head.Tasks); len(got) != 14 {
		t.Errorf("%d events with late tasks, want 14", len(got))
	}
}
