package signature

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
)

// Kinds of functions on a stack, the prefixes of normalized frames.
const (
	javaFunction   = "java "
	nativeLibrary  = "native "
	kernelFunction = "kernel "
)

var (
	// "#00 pc 000000000004df5c  /apex/…/libc.so (syscall+28) (BuildId: 0133…)"
	// (art/runtime/native_stack_dump.cc, libbacktrace and libunwindstack's FormatFrame).
	nativeFrame = regexp.MustCompile(`^(?:#\d+ +)?pc +(?:0x)?[0-9a-f]+ +(.*)$`)
	// "(syscall+28)", where the name may contain brackets.
	nativeName = regexp.MustCompile(` \((.*?)(?:\+\d+)?\)$`)
	inFile     = regexp.MustCompile(` \(offset (?:0x)?[0-9a-f]+\)`) // the library's offset in an APK
	buildID    = regexp.MustCompile(` \(BuildId: [^)]*\)$`)
	// "futex_wait_queue_me+0xcc/0x158" (/proc/PID/stack).
	kernelOffset = regexp.MustCompile(`\+0x[0-9a-f]+/0x[0-9a-f]+.*$`)
)

// platform begins the methods of Android and of the languages' libraries.
var platform = []string{
	"java android.", "java androidx.", "java com.android.", "java com.google.android.", "java dalvik.", "java libcore.", "java java.", "java javax.", "java jdk.",
	"java sun.", "java kotlin.", "java kotlinx.", "java org.json.", "java org.xmlpull.",
}

// Own reports whether a frame, as in a dump, is neither Android's nor of a language's library: a
// method, or a function of a library bundled with the app.
func Own(text string) bool { return own(normal(text)) }

func own(function string) bool {
	if library, ok := strings.CutPrefix(function, nativeLibrary); ok {
		return strings.Contains(library, " ") // with its function
	}
	return strings.HasPrefix(function, javaFunction) && !slices.ContainsFunc(platform, func(p string) bool { return strings.HasPrefix(function, p) })
}

// faultFrames returns the frames of a thread that identify its fault. In a running thread the innermost
// library function is chance: the frames from the innermost method outside the platform on remain.
func faultFrames(t run.ANRThread) []string {
	if t.Kind == run.WaitRunning {
		if i := slices.IndexFunc(t.Stack, Own); i >= 0 {
			return t.Stack[i:]
		}
	}
	return t.Stack
}

// normal returns a frame of a dump without what varies between occurrences: "" for one that is
// uninformative, or for text that is no frame.
func normal(text string) string {
	text = strings.TrimSpace(text)
	if function, ok := cutKernel(text); ok {
		return normalKernel(function)
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "native: "), "at ")
	switch {
	case nativeFrame.MatchString(text):
		return normalNative(nativeFrame.FindStringSubmatch(text)[1])
	case strings.HasPrefix(text, "- "): // of a lock
		return ""
	}
	return normalJava(text)
}

func cutKernel(text string) (function string, ok bool) {
	for _, mark := range []string{"kernel: ", "(kernel) "} {
		if function, ok = strings.CutPrefix(text, mark); ok {
			return function, true
		}
	}
	return "", false
}

// normalJava returns the class and method of "com.example.Store.read(Store.java:41)".
func normalJava(text string) string {
	name, _, _ := strings.Cut(text, "(")
	name = javaRules.apply(strings.TrimSpace(name))
	if name == "" || !strings.Contains(name, ".") || strings.ContainsAny(name, " \t<>") && !strings.Contains(name, ".<") {
		return ""
	}
	return javaFunction + name
}

// normalNative returns the library of "/apex/…/libc.so (syscall+28) (BuildId: 0133…)". For a
// library bundled with the app it adds the function, as for the app's methods; function names in
// the system's libraries change between Android versions.
func normalNative(text string) string {
	text = inFile.ReplaceAllString(buildID.ReplaceAllString(text, ""), "")
	function := ""
	if m := nativeName.FindStringSubmatchIndex(text); m != nil {
		function, text = text[m[2]:m[3]], text[:m[0]]
	}
	library := libraryRules.apply(text)
	if library == "" {
		return ""
	}
	if bundled(text) && function != "" {
		library += " " + functionRules.apply(function)
	}
	return nativeLibrary + library
}

// bundled reports whether a library came with an app.
func bundled(file string) bool {
	return strings.HasPrefix(file, "/data/") && !strings.Contains(path.Base(file), "@") && !strings.HasSuffix(file, ".oat") && !strings.HasSuffix(file, ".odex")
}

// normalKernel returns the function of "futex_wait_queue_me+0xcc/0x158".
func normalKernel(text string) string {
	if strings.HasPrefix(text, "(") { // "(couldn't read /proc/self/task/1045/stack)"
		return ""
	}
	name := kernelRules.apply(kernelOffset.ReplaceAllString(text, ""))
	if name == "" {
		return ""
	}
	return kernelFunction + name
}
