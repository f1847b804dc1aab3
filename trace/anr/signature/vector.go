package signature

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
)

// Vector is the features of one critical thread by which ANRs are compared (paper, section 2.3,
// figure 2).
type Vector struct {
	// Generic is F_p, which equation 1 compares: run.ANR.Features.
	Generic []string
	// Specific is F_c, which equation 2 compares, as a vector of ones: Java functions, native
	// libraries, kernel functions, the names of the processes involved and of the critical thread,
	// sorted, each once. Each begins with its kind.
	Specific []string
	// Own lists those of Specific that are not functions of the platform (see Own), sorted.
	Own []string
	// Locks and Length are two more dimensions of F_c: how many locks the threads of the chain hold
	// and want, and how many threads the chain has.
	Locks, Length int
	// Read is set if the thread has a stack. Without one nothing is known of the fault.
	Read bool
}

// Vectors computes the vectors of ANRs and caches normalized frames: thousands of stacks share the
// same few. Its zero value is ready.
type Vectors struct{ frames map[string]string }

// maxFrames limits the cached frames.
const maxFrames = 1 << 17

// Of returns the vectors of an ANR: one for each critical thread, since an ANR with a cycle may
// resemble others by any of them (the paper's note 1); none if no thread is known.
func (v *Vectors) Of(a run.ANR) []Vector {
	var out []Vector
	shared := []string{}
	locks := 0
	for _, t := range a.Threads {
		shared = append(shared, "process "+processName(t, a))
		locks += locksOf(t)
	}
	for _, t := range critical(a) {
		specific := append([]string{"thread " + threadName(t, a)}, shared...)
		read := false
		var ownFunctions []string
		for _, text := range faultFrames(t) {
			if f := v.normal(text); f != "" {
				specific, read = append(specific, f), true
				if own(f) {
					ownFunctions = append(ownFunctions, f)
				}
			}
		}
		slices.Sort(specific)
		slices.Sort(ownFunctions)
		out = append(out, Vector{Generic: a.Features, Specific: slices.Compact(specific), Own: slices.Compact(ownFunctions), Locks: locks, Length: len(a.Threads), Read: read})
	}
	return out
}

func (v *Vectors) normal(text string) string {
	if f, ok := v.frames[text]; ok {
		return f
	}
	if v.frames == nil || len(v.frames) >= maxFrames {
		v.frames = map[string]string{}
	}
	f := normal(text)
	v.frames[text] = f
	return f
}

// locksOf counts the locks that a thread holds or wants: the lines of its stack about locks
// (art/runtime/monitor.cc, "- locked <0x0d66cb12> (a java.lang.Object)"), or else the one for which
// it waits.
func locksOf(t run.ANRThread) int {
	n := 0
	for _, text := range t.Stack {
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "- locked ") || strings.HasPrefix(text, "- waiting to lock ") {
			n++
		}
	}
	if n == 0 && t.Kind == run.WaitLock {
		n = 1
	}
	return n
}

// Kinds returns the kinds of Specific that a dump may lack for a whole stack: phones differ in
// whether they show native and kernel frames.
func Kinds() []string { return []string{javaFunction, nativeLibrary, kernelFunction} }
