package hotspots

import (
	"regexp"
	"strings"
)

// identity is what makes two frames of different builds the same method: its name without
// compilers' numbers, and, for native code, its library. Java code is in one file before it is
// compiled and in another after, so that its file is ignored.
type identity struct{ name, file string }

func identify(name, file, kind string) identity {
	id := identity{name: stable(name)}
	switch kind {
	case "aot", "jit", "interpreted", "runtime":
	default:
		id.file = library(file)
	}
	return id
}

// library returns a file without its installation folder: "libfoo.so" for
// "/data/app/~~r4nd0m==/com.example/base.apk!/lib/arm64/libfoo.so".
func library(file string) string {
	return file[strings.LastIndexAny(file, "/!")+1:]
}

// The names that compilers renumber or hash again when code around them changes: D8's synthetic
// lambdas, those of older desugaring, R8's, javac's, Compose's (by their number or a key, which may
// be negative), and anonymous inner classes (of Java and of Kotlin's lambdas).
var renumbered = []struct {
	pattern *regexp.Regexp
	stable  string
}{
	{regexp.MustCompile(`\$\$ExternalSyntheticLambda\d+`), "$$$$ExternalSyntheticLambda*"},
	{regexp.MustCompile(`(-\$\$Lambda\$[^.$]*)\$[A-Za-z0-9_-]+`), "$1$$*"},
	{regexp.MustCompile(`\$r8\$lambda\$[A-Za-z0-9_-]+`), "$$r8$$lambda$$*"},
	{regexp.MustCompile(`(lambda\$[^.$]+)\$\d+`), "$1$$*"},
	{regexp.MustCompile(`([Ll]ambda)(?:-|\$-?|__?)\d+`), "$1*"},
	{regexp.MustCompile(`\$\d+\b`), "$$*"},
}

// stable returns a name without a compiler's numbers.
func stable(name string) string {
	if !strings.Contains(name, "$") {
		return name
	}
	for _, r := range renumbered {
		name = r.pattern.ReplaceAllString(name, r.stable)
	}
	return name
}
