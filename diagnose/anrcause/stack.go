package anrcause

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/trace/anr/signature"
)

// kind is a kind of frame.
type kind int

const (
	java kind = iota
	native
	kernel
	none // no frame: a lock, or a dump's remark on a stack
)

// kindOf returns the kind of a frame in a dump (package signature).
func kindOf(frame string) kind {
	switch {
	case strings.HasPrefix(frame, "kernel: "), strings.HasPrefix(frame, "(kernel) "):
		return kernel
	case strings.HasPrefix(frame, "native: "), strings.HasPrefix(frame, "#"):
		return native
	case strings.HasPrefix(frame, "- "), !strings.Contains(frame, "("), strings.HasPrefix(frame, "("):
		return none
	}
	return java
}

// method returns a frame without its source: "com.example.Store.read"; for native code its function
// and library, without the address, which differs in each build.
func method(frame string) string {
	if kindOf(frame) == native {
		return strings.TrimPrefix(diagnose.WithoutAddress(frame), "native: ")
	}
	name, _, _ := strings.Cut(frame, "(")
	return strings.TrimSpace(strings.TrimPrefix(name, "at "))
}

// near is how many frames of a kind, from the innermost, show what a thread does.
const near = 12

// match returns the innermost frame of that kind that shows what the critical thread does and
// matches the pattern, without its source; "" for none.
func (f found) match(of kind, pattern *regexp.Regexp) string {
	n := 0
	for _, frame := range f.last.Stack {
		if kindOf(frame) != of || n == near {
			continue
		}
		if n++; pattern.MatchString(cutSource(of, frame)) {
			return cutSource(of, frame)
		}
	}
	return ""
}

// cutSource returns a method without its source; other frames are unchanged.
func cutSource(of kind, frame string) string {
	if of != java {
		return frame
	}
	return method(frame)
}

// innermost returns the innermost method of that kind, "" for none.
func (f found) innermost(of kind) string {
	i := slices.IndexFunc(f.last.Stack, func(frame string) bool { return kindOf(frame) == of })
	if i < 0 {
		return ""
	}
	return method(f.last.Stack[i])
}

// plumbing are the prefixes of methods through which a thread gets to its work, and waits.
var plumbing = []string{"android.os.", "dalvik.", "java.", "jdk.", "libcore.", "sun.", "kotlin.", "kotlinx.", harmony}

// harmony is the prefix of Android's own Java before Android 7.
const harmony = "org.apache.harmony."

// telling returns the most informative frame: the innermost method that is not the platform's, else
// the innermost that is no plumbing, else the innermost method, else the innermost frame. Native
// code called back by the message loop is more informative than the loop.
func telling(stack []string) string {
	var best [3]string
	for _, frame := range stack {
		of := kindOf(frame)
		switch {
		case of == none:
			continue
		case of != java:
			best[2] = cmp.Or(best[2], frame)
			continue
		case signature.Own(frame) && !strings.HasPrefix(method(frame), harmony):
			return frame
		case best == [3]string{2: best[2]} && method(frame) == "android.os.MessageQueue.nativePollOnce":
			if i := slices.IndexFunc(stack, signature.Own); i >= 0 && kindOf(stack[i]) == native {
				return stack[i]
			}
		}
		if !slices.ContainsFunc(plumbing, func(p string) bool { return strings.HasPrefix(method(frame), p) }) {
			best[0] = cmp.Or(best[0], frame)
		}
		best[1] = cmp.Or(best[1], frame)
	}
	return cmp.Or(best[0], best[1], best[2])
}
