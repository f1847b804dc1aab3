package queueing

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
)

// platform are the prefixes of classes by which tasks are scheduled, or which call the app. Those
// of WebView are none: it is a library that Android contains (case 5 of the paper).
var platform = []string{
	"android.os.", "android.app.", "android.content.", "android.view.", "android.widget.", "android.support.", "com.android.internal.",
	"java.", "javax.", "jdk.", "sun.", "libcore.", "dalvik.", "kotlin.", "kotlinx.coroutines.",
	"androidx.core.", "androidx.arch.", "androidx.lifecycle.", "androidx.fragment.", "androidx.activity.", "androidx.appcompat.",
	"androidx.recyclerview.", "androidx.viewpager", "androidx.compose.", "androidx.loader.",
}

// methodOf returns a frame's class and method: "a.B.c" of "a.B.c(B.java:1)".
func methodOf(frame string) string {
	name, _, _ := strings.Cut(frame, "(")
	return strings.TrimSpace(name)
}

// ownLine returns the app's innermost frame of a stack, "" where there is none.
func ownLine(stack []string, app string) string {
	own := diagnose.OwnNames(app)
	if i := slices.IndexFunc(stack, func(f string) bool { return own != "" && strings.HasPrefix(f, own) }); i >= 0 {
		return stack[i]
	}
	return ""
}

// brief returns a frame without the package of its class: "B.c(B.java:1)".
func brief(frame string) string {
	method := methodOf(frame)
	parts := strings.Split(method, ".")
	return strings.Join(parts[max(0, len(parts)-2):], ".") + strings.TrimSpace(frame[len(method):])
}

// library returns the method of a library that the app called and that scheduled the task: the last
// frame before the app's own, where it is neither the app's nor the platform's. It is "" where the
// app itself scheduled it, and where the stack has no frame of the app. Of a stack of one frame, as
// sections have it, the task's class must be of the library too.
func library(stack []string, class, app string) string {
	own := diagnose.OwnNames(app)
	called := ""
	if len(stack) == 1 {
		if its := diagnose.OwnNames(packageOf(methodOf(stack[0]))); its != "" && strings.HasPrefix(class, its) {
			stack = append(slices.Clone(stack), own)
		}
	}
	for _, frame := range stack {
		switch {
		case strings.HasPrefix(frame, own):
			return called
		case !slices.ContainsFunc(platform, func(p string) bool { return strings.HasPrefix(frame, p) }) && !minified(frame):
			called = methodOf(frame)
		}
	}
	return ""
}

// minified reports whether a frame's names are R8's: whose they are is unknown.
func minified(frame string) bool {
	first, _, _ := strings.Cut(frame, ".")
	return len(first) < 2
}

// packageOf returns the package of a method: "a.b" of "a.b.C.d".
func packageOf(method string) string {
	parts := strings.Split(method, ".")
	for i, p := range parts {
		if p != "" && p[0] >= 'A' && p[0] <= 'Z' {
			return strings.Join(parts[:i], ".")
		}
	}
	return method
}
