package jankcause

import (
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// blame is whom a part of a critical path belongs to.
type blame struct {
	kind    string // of a cause; "" where nobody is to blame
	subject string
}

// garbage are the slices and threads of ART's collector (art/runtime/gc/heap.cc,
// collector/garbage_collector.cc: "GC: Wait For Completion Alloc", "Background concurrent
// copying GC"; the thread is HeapTaskDaemon).
var garbage = regexp.MustCompile(`(^|[ :])GC($|[ :])|HeapTaskDaemon|concurrent copying|mark compact|mark sweep|CollectorTransition`)

// building are slices in which views are made rather than measured, wherever that
// happens (LayoutInflater.java, RecyclerView's "RV …", Compose's "Recomposer:…",
// "compose:…", "Compose:…").
var building = regexp.MustCompile(`^(inflate|RV |Recomposer:|[Cc]ompose:|AndroidOwner:|LazyLayout|lazy)`)

// blameOf is whom a part of a path belongs to: kind, stage and thread of it tell.
func blameOf(p run.FramePart) blame {
	if garbage.MatchString(p.What) && p.Name != run.WaitBinder && p.Name != run.WaitIO {
		return blame{GCKind, "garbage collection"}
	}
	switch p.Name {
	case run.WaitBinder:
		return blame{BinderKind, p.What}
	case run.WaitIO:
		return blame{IOKind, p.What}
	case run.WaitLock:
		return blame{LockKind, p.What}
	case run.WaitRunnable:
		return blame{CPUKind, p.What}
	case run.WaitSleep:
		return blame{SleepKind, p.What}
	case run.WaitBlocked:
		return blame{BlockedKind, p.What}
	case run.WaitGC:
		return blame{GCKind, "garbage collection"}
	case run.WaitGPU:
		return blame{GPUKind, "GPU"}
	case run.WaitBuffer:
		return blame{bufferKind, displayProcess}
	case run.WaitRunning:
		return ownWork(p)
	}
	return blame{}
}

// bufferKind is no cause: whose fault it is that buffers were not given back is told by
// what else took longer.
const bufferKind = "buffer"

const displayProcess = "surfaceflinger"

// ownWork is whom running belongs to: by stage, and by slice where that tells more.
func ownWork(p run.FramePart) blame {
	switch {
	case building.MatchString(p.What):
		return blame{WorkKind, p.What}
	case strings.HasPrefix(p.What, "dequeueBuffer"): // asking for one again and again is part of waiting
		return blame{bufferKind, displayProcess}
	}
	switch p.Stage {
	case run.StageComposition:
		return blame{CompositionKind, displayProcess}
	case run.StageGPU:
		return blame{GPUKind, "GPU"}
	case run.StageMeasure:
		return blame{MeasureKind, p.What}
	case run.StageLayout:
		return blame{LayoutKind, p.What}
	case run.StageDraw, run.StageSync, run.StageRender:
		return blame{DrawKind, p.What}
	}
	return blame{WorkKind, p.What}
}

// wakers is what tells who woke threads, in the runs that are looked at.
func (t teller) wakers() string {
	if t.head.Frames == nil {
		return ""
	}
	return t.head.Frames.Wakers
}

// surely is how sure a cause can be, by what the record tells of who woke threads: a thread
// that slept, woken by nobody knows whom, may have waited for anything.
func (t teller) surely(sure diagnose.Sure, kind string) diagnose.Sure {
	wakers := t.wakers()
	switch {
	case kind != SleepKind || sure == diagnose.Possible:
	case wakers == run.WakersNone:
		return diagnose.Possible
	case wakers == run.WakersWakeup:
		return diagnose.Likely
	}
	return sure
}

// untold is what to hold against a cause by what the record tells of who woke threads, nil for
// nothing.
func (t teller) untold(kind string) diagnose.Phrase {
	switch wakers := t.wakers(); {
	case kind != SleepKind:
	case wakers == run.WakersNone:
		return say("Who woke threads was not recorded (sched_waking, or sched_wakeup): what was slept for is not known.")
	case wakers == run.WakersWakeup:
		return say("Android 10 and 11 tell of wake-ups by sched_wakeup alone, which does not say who woke a thread from another process or from CPUs that share no cache: what was slept for may be another thing.")
	}
	return nil
}

// isWork reports whether the time is the app's own, running: what a slower core makes
// longer.
func isWork(kind string) bool {
	switch kind {
	case MeasureKind, LayoutKind, DrawKind, WorkKind:
		return true
	}
	return false
}

// drawsMore reports whether a kind takes longer where more is drawn.
func drawsMore(kind string) bool {
	return kind == DrawKind || kind == GPUKind || kind == CompositionKind
}

// method is a method as ART writes it of locks: "void a.B.c(int)(B.java:12)"
// (art/runtime/monitor.cc, "monitor contention with owner"), the number of its line as "#".
var method = regexp.MustCompile(` at \S+ ([\w.$<>]+)\([^()]*\)(\([^()]*\))?$`)

// brief is a subject in words, "" where nothing tells; a method is its name.
func (b blame) brief() string {
	return method.ReplaceAllString(strings.TrimSpace(b.subject), " at $1")
}
