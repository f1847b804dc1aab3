package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/run"
)

// Waits is who waited for whom when something did not respond: first the thread that did not
// respond, last one that blocked the others.
type Waits struct {
	Threads []Waiting `json:"threads"`
}

// Waiting is one thread of Waits.
type Waiting struct {
	Name     string `json:"name"`
	Process  string `json:"process,omitempty"`
	State    string `json:"state,omitempty"`
	WaitsFor string `json:"waits_for,omitempty"` // in words
	At       string `json:"at,omitempty"`        // the most informative frame of its stack
	// Next is the index of the thread that it waits for; -1 for none.
	Next int `json:"next"`
	// Critical is set where it blocks the others.
	Critical bool `json:"critical,omitempty"`
}

func (w Waits) cut() Waits {
	w.Threads = each(w.Threads, run.MaxANRThreads, func(t Waiting) Waiting {
		for _, text := range []*string{&t.Name, &t.Process, &t.State, &t.WaitsFor, &t.At} {
			*text = cutText(*text)
		}
		if t.Next >= run.MaxANRThreads {
			t.Next = -1
		}
		return t
	})
	return w
}

func (w Waits) validate() error {
	if len(w.Threads) > run.MaxANRThreads {
		return fmt.Errorf("threads has %d entries, at most %d are allowed", len(w.Threads), run.MaxANRThreads)
	}
	for i, t := range w.Threads {
		if t.Next < -1 || t.Next >= len(w.Threads) {
			return fmt.Errorf("threads[%d].next is %d, want -1 or the place of one of %d threads", i, t.Next, len(w.Threads))
		}
		if err := errors.Join(texts("name", t.Name, "process", t.Process, "state", t.State), texts("waits_for", t.WaitsFor, "at", t.At)); err != nil {
			return fmt.Errorf("threads[%d]: %w", i, err)
		}
	}
	return nil
}

// PictureOfWaits returns who waited for whom when something did not respond; nil where no threads
// were read.
func PictureOfWaits(title string, a run.ANR) *Picture {
	if len(a.Threads) == 0 {
		return nil
	}
	var w Waits
	for i, t := range a.Threads {
		w.Threads = append(w.Threads, Waiting{
			Name: t.Name, Process: cmp.Or(t.Process, a.Process), State: t.State, WaitsFor: t.WaitsFor, At: telling(t), Critical: t.Critical,
			Next: next(a, i),
		})
	}
	return &Picture{Kind: WaitsPicture, Title: title, Label: title, Waits: &w}
}

// IsMain reports whether a thread is its process's main thread, by its name: native dumps use the
// kernel's name, the last or first 15 bytes of the process's.
func IsMain(thread, process string) bool {
	const kernels = 15
	return thread == "main" || process != "" && (thread == process || len(thread) == kernels && (strings.HasSuffix(process, thread) || strings.HasPrefix(process, thread)))
}

// next returns the index of the thread that a thread of an ANR waits for, -1 for none.
func next(a run.ANR, of int) int {
	switch told := a.Threads[of].Next; {
	case a.Threads[of].WaitsFor == "":
		return -1
	case told > 0 && told <= len(a.Threads):
		return told - 1
	case of+1 < len(a.Threads):
		return of + 1
	case a.Cycle: // an old record without indexes: it leads back into the chain
		return 0
	}
	return -1
}

// telling returns the most informative frame of a thread's stack: the innermost Java frame that is
// not the platform's, or else the one that shows what it waits for, or else the innermost.
func telling(t run.ANRThread) string {
	innermost := ""
	if t.Tells > 0 && t.Tells <= len(t.Stack) {
		innermost = t.Stack[t.Tells-1]
	}
	for _, frame := range t.Stack {
		if strings.HasPrefix(frame, "- ") { // a lock, not a frame
			continue
		}
		innermost = cmp.Or(innermost, frame)
		if !Platform(frame) && javaFrame(frame) {
			return frame
		}
	}
	return WithoutAddress(innermost)
}

// WithoutAddress returns a frame for people: for "native: pc 000000000003d324 /apex/…/libjdwp.so
// (debugMonitorWait+56) (BuildId: 323c…)", "native: debugMonitorWait (libjdwp.so)".
func WithoutAddress(frame string) string {
	text, _, _ := strings.Cut(frame, " (BuildId: ")
	m := nativeFrame.FindStringSubmatch(text)
	switch {
	case m == nil:
		return frame
	case m[2] == "":
		return "native: " + path.Base(m[1])
	}
	return "native: " + m[2] + " (" + path.Base(m[1]) + ")"
}

// nativeFrame has the library and the function of a native frame (trace/anr, Frame.String).
var nativeFrame = regexp.MustCompile(`^native: pc [0-9a-f]+  (.*?)(?: \((.*?)(?:\+\d+)?\))?$`)

// javaFrame reports whether a frame is a method with its source: "a.B.c(B.java:1)".
func javaFrame(frame string) bool {
	name, _, ok := strings.Cut(frame, "(")
	return ok && strings.HasSuffix(frame, ")") && !strings.ContainsAny(name, " /#") && strings.Contains(name, ".")
}
