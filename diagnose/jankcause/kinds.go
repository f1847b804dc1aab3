package jankcause

import (
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// The kinds of causes that this package makes.
const (
	GCKind          = "render.gc"          // collecting garbage
	OverdrawKind    = "render.overdraw"    // drawing what is never shown
	BinderKind      = "render.binder"      // waiting for another process
	LockKind        = "render.lock"        // waiting for a lock that another thread held
	MemoryKind      = "render.memory"      // waiting while the kernel frees memory
	IOKind          = "render.io"          // waiting for the storage
	LittleKind      = "render.little"      // running on little cores
	FrequencyKind   = "render.frequency"   // running at a low frequency
	CPUKind         = "render.cpu"         // waiting for a processor
	GPUKind         = "render.gpu"         //
	CompositionKind = "render.composition" // SurfaceFlinger
	MeasureKind     = "render.measure"     // the app's own work, by stage
	LayoutKind      = "render.layout"      //
	DrawKind        = "render.draw"        // on the main and the render thread
	WorkKind        = "render.work"        // in no such stage: inflating, binding, composing
	SleepKind       = "render.sleep"       // waiting for something unknown
	BlockedKind     = "render.blocked"     // blocked in the kernel, not for I/O
	// UnexplainedKind is no cause: it says that none is found, and why.
	UnexplainedKind = "render.unexplained"
)

// bufferKind is no cause: the work that took longer is blamed for buffers that were not returned.
const bufferKind = "buffer"

// blame is what a part of a critical path is blamed on.
type blame struct {
	kind    string // of a cause; "" where nobody is to blame
	subject string
}

// method matches a method as ART writes it for locks: "void a.B.c(int)(B.java:12)"
// (art/runtime/monitor.cc, "monitor contention with owner"), with its line number as "#".
var method = regexp.MustCompile(` at \S+ ([\w.$<>]+)\([^()]*\)(\([^()]*\))?$`)

// brief returns a subject in words, "" where unknown; a method is its name, and a section of each
// frame (DrawFrames 48, which a record has as "DrawFrames #") goes without the frame's number.
func (b blame) brief() string {
	return strings.TrimSuffix(method.ReplaceAllString(strings.TrimSpace(b.subject), " at $1"), " #")
}

// causeKind has everything specific to a kind: what it blames, and its words.
type causeKind struct {
	name string
	// code is set where its subject is code that can be changed.
	code bool
	// blames returns what a part of a critical path of this kind is blamed on, false for others;
	// nil where the kind is not found by paths.
	blames func(p run.FramePart) (subject string, ok bool)
	// work is set for the app's own running work, which a slower core makes longer.
	work bool
	// draws is set where it takes longer if more is drawn.
	draws bool
	// apart is set where each subject with its part of the time is a cause of its own.
	apart bool
	// row is its name in a table, before its subject; "" where the subject is enough.
	row string
	// title names the cause in a few words; nil: its name, and in what.
	title func(subject diagnose.Part) diagnose.Phrase
	// says is its clause; nil: its subject works longer.
	says func(c clause) diagnose.Phrase
}

// kinds are all kinds, in the order that applies where it is unknown which explains more. The first
// kind that blames somebody for a part of a path gets it.
var kinds = []causeKind{
	{
		name: GCKind, title: bySubject, blames: collects,
		says: func(c clause) diagnose.Phrase {
			return say(c.who, " is held up ", c.more, " by garbage collection", c.in)
		},
	},
	{
		name: OverdrawKind, code: true, title: words("drawing what is never shown"), // views.go finds it
		says: func(c clause) diagnose.Phrase { return say(overdrawn(*c.of.views), "; drawing takes ", c.more) },
	},
	{
		name: BinderKind, code: true, apart: true, row: "binder", blames: waits(run.WaitBinder),
		title: func(subject diagnose.Part) diagnose.Phrase { return say("waiting for ", subject) },
		says: func(c clause) diagnose.Phrase {
			return say(c.who, " waits ", c.more, " for ", named(c.subject, "another process"), " (binder)", c.in)
		},
	},
	{
		name: LockKind, code: true, apart: true, row: "lock", blames: waits(run.WaitLock),
		title: func(subject diagnose.Part) diagnose.Phrase { return say("waiting for a lock of ", subject) },
		says: func(c clause) diagnose.Phrase {
			return say(c.who, " waits ", c.more, " for a lock", at(" held by ", c.subject), c.in)
		},
	},
	{
		name: MemoryKind, row: "memory,", blames: lacksMemory, title: words("waiting for memory"),
		says: func(c clause) diagnose.Phrase {
			return say(c.who, " waits ", c.more, " for memory, which is short (", c.subject, ")", c.in)
		},
	},
	{
		name: IOKind, code: true, apart: true, row: "storage", blames: waits(run.WaitIO), title: words("waiting for storage"),
		says: func(c clause) diagnose.Phrase {
			return say(c.who, " waits ", c.more, " for storage", at(" in ", c.subject), c.in)
		},
	},
	{name: LittleKind, title: bySubject, says: slowly}, // cores.go finds these two
	{name: FrequencyKind, title: bySubject, says: slowly},
	{
		name: CPUKind, row: "waiting for a processor next to", blames: waits(run.WaitRunnable), title: words("waiting for a processor"),
		says: func(c clause) diagnose.Phrase {
			return say(c.who, " waits ", c.more, " for a processor", at(", mostly behind ", c.subject), c.in)
		},
	},
	{name: bufferKind, row: "waiting for a buffer of", blames: waitsForBuffers},
	{
		name: GPUKind, draws: true, title: bySubject, blames: drawsOnGPU,
		says: func(c clause) diagnose.Phrase { return say("the GPU takes ", c.more, " to draw") },
	},
	{
		name: CompositionKind, draws: true, title: bySubject, blames: composes,
		says: func(c clause) diagnose.Phrase { return say("SurfaceFlinger takes ", c.more, " to compose") },
	},
	{name: MeasureKind, code: true, work: true, row: "measuring,", blames: inStages(run.StageMeasure)},
	{name: LayoutKind, code: true, work: true, row: "layout,", blames: inStages(run.StageLayout)},
	{name: DrawKind, code: true, work: true, draws: true, row: "drawing,", blames: inStages(run.StageDraw, run.StageSync, run.StageRender)},
	{name: WorkKind, code: true, work: true, row: "work,", blames: waits(run.WaitRunning)}, // whatever else runs
	{name: SleepKind, row: "sleep", blames: waits(run.WaitSleep), says: sleeps},
	{
		name: BlockedKind, row: "blocked in the kernel", blames: waits(run.WaitBlocked),
		says: func(c clause) diagnose.Phrase {
			return say(c.who, " is blocked in the kernel ", c.more, at(" in ", c.subject), c.in)
		},
	},
	{name: UnexplainedKind},
}

// firstRank is the rank of the first kind.
const firstRank = 20

var _ = func() []string {
	var all []diagnose.Kind
	for i, k := range kinds {
		if k.name != bufferKind {
			all = append(all, diagnose.Kind{Family: Family, Name: k.name, Rank: firstRank + i, Alert: k.code})
		}
	}
	return diagnose.Register(all...)
}()

// causeKindOf returns the kind of a name.
func causeKindOf(name string) causeKind {
	if i := slices.IndexFunc(kinds, func(k causeKind) bool { return k.name == name }); i >= 0 {
		return kinds[i]
	}
	return causeKind{name: name}
}

func isWork(name string) bool    { return causeKindOf(name).work }
func drawsMore(name string) bool { return causeKindOf(name).draws }

// blameOf returns what a part of a path is blamed on, by its kind, stage and detail.
func blameOf(p run.FramePart) blame {
	for _, k := range kinds {
		if k.blames == nil {
			continue
		}
		if subject, ok := k.blames(p); ok {
			return blame{k.name, subject}
		}
	}
	return blame{}
}

// waits blames the detail of a part of that kind.
func waits(does string) func(run.FramePart) (string, bool) {
	return func(p run.FramePart) (string, bool) { return p.What, p.Name == does }
}

// inStages blames the slices that run in stages of a frame, except those that make views.
func inStages(stages ...string) func(run.FramePart) (string, bool) {
	return func(p run.FramePart) (string, bool) {
		return p.What, p.Name == run.WaitRunning && slices.Contains(stages, p.Stage) && !building.MatchString(p.What)
	}
}

// drawsOnGPU blames the GPU for its stage, and for waits for it.
func drawsOnGPU(p run.FramePart) (string, bool) {
	_, runs := inStages(run.StageGPU)(p)
	return "GPU", runs || p.Name == run.WaitGPU
}

// composes blames SurfaceFlinger for what runs during composition.
func composes(p run.FramePart) (string, bool) {
	_, runs := inStages(run.StageComposition)(p)
	return displayProcess, runs
}

// garbage are the slices and threads of ART's collector (art/runtime/gc/heap.cc,
// collector/garbage_collector.cc: "GC: Wait For Completion Alloc", "Background concurrent
// copying GC"; the thread is HeapTaskDaemon).
var garbage = regexp.MustCompile(`(^|[ :])GC($|[ :])|HeapTaskDaemon|concurrent copying|mark compact|mark sweep|CollectorTransition`)

// collects blames the collector for its slices and its thread, and for waits for it.
func collects(p run.FramePart) (string, bool) {
	does := garbage.MatchString(p.What) && p.Name != run.WaitBinder && p.Name != run.WaitIO
	return "garbage collection", does || p.Name == run.WaitGC
}

// Memory that is short ("Aging or Glitching?", section 3), in the kernel's words: functions in
// which a thread waits until pages are free or read back (mm/vmscan.c, page_alloc.c,
// compaction.c, memcontrol.c, memory.c and page_io.c), and its threads that free pages and
// put them together.
var (
	reclaiming = regexp.MustCompile(`^(reclaim_throttle|throttle_direct_reclaim|wait_iff_congested|(do_)?try_to_free_(mem_cgroup_)?pages|shrink_(node|lruvec|(in)?active_list|slab)|__alloc_pages_(slowpath|direct_\w+)|compact_zone|(__)?mem_cgroup_handle_over_high|do_swap_page|swap_read(page|_folio))\b`)
	freeing    = regexp.MustCompile(`^k(swap|compact)d[0-9#]+(:|$)`)
)

// lacksMemory blames the kernel's function, or its thread that had the processor or that a
// thread slept for.
func lacksMemory(p run.FramePart) (string, bool) {
	switch p.Name {
	case run.WaitBlocked, run.WaitIO:
		return p.What, reclaiming.MatchString(p.What)
	case run.WaitRunnable, run.WaitSleep:
		return p.What, freeing.MatchString(p.What)
	}
	return "", false
}

// building matches slices in which views are made rather than measured, wherever that happens
// (LayoutInflater.java, RecyclerView's "RV …", Compose's "Recomposer:…", "compose:…", "Compose:…").
var building = regexp.MustCompile(`^(inflate|RV |Recomposer:|[Cc]ompose:|AndroidOwner:|LazyLayout|lazy)`)

const displayProcess = "surfaceflinger"

// waitsForBuffers matches waits for buffers. Requesting one again and again is part of the wait.
func waitsForBuffers(p run.FramePart) (string, bool) {
	return displayProcess, p.Name == run.WaitBuffer || p.Name == run.WaitRunning && strings.HasPrefix(p.What, "dequeueBuffer")
}

// words returns a constant title.
func words(text string) func(diagnose.Part) diagnose.Phrase {
	return func(diagnose.Part) diagnose.Phrase { return say(text) }
}

// bySubject returns its subject as the title.
func bySubject(subject diagnose.Part) diagnose.Phrase { return say(subject) }

// clause has the parts of a clause.
type clause struct {
	of            suspect
	who, more, in diagnose.Phrase // its thread, by how much longer, and when or what is behind it
	subject       diagnose.Part
}

// works returns the clause for longer work.
func (c clause) works() diagnose.Phrase {
	switch {
	case c.subject.Name == "":
		return say(c.who, " works ", c.more, " in no section that the trace names", c.in)
	case c.of.foremost < wholly:
		return say(c.who, " works ", c.more, ", mostly in ", c.subject, c.in)
	}
	return say(c.who, " works ", c.more, " in ", c.subject, c.in)
}

// slowly returns the clause for slower processors.
func slowly(c clause) diagnose.Phrase { return say(slower(c.of), "; work takes ", c.more) }

// sleeps returns the clause for a thread that another one woke, or its own timer.
func sleeps(c clause) diagnose.Phrase {
	if c.of.brief() == c.of.thread {
		return say(c.who, " sleeps ", c.more, c.in)
	}
	return say(c.who, " sleeps ", c.more, at(" waiting for ", c.subject), c.in)
}
