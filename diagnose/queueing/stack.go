package queueing

import (
	"slices"
	"strings"
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

// byOrganization are domains under which many organizations publish.
var byOrganization = []string{"com.google", "com.android", "com.github", "io.github", "org.apache", "co.uk"}

// ownPrefix returns the prefix of an app's own classes by its package: its organization's domain.
func ownPrefix(app string) string {
	parts := strings.Split(app, ".")
	n := min(2, len(parts))
	if len(parts) > 2 && slices.Contains(byOrganization, strings.Join(parts[:2], ".")) {
		n = 3
	}
	return strings.Join(parts[:n], ".") + "."
}

func hasPrefix(frame string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(frame, p) })
}

// ownLine returns the app's innermost frame of a stack, "" where there is none.
func ownLine(stack []string, app string) string {
	own := ownPrefix(app)
	if i := slices.IndexFunc(stack, func(f string) bool { return strings.HasPrefix(f, own) }); i >= 0 {
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
// app itself scheduled it, and where the stack has no frame of the app.
func library(stack []string, app string) string {
	own := ownPrefix(app)
	called := ""
	for _, frame := range stack {
		switch {
		case strings.HasPrefix(frame, own):
			return called
		case !hasPrefix(frame, platform) && !minified(frame):
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
