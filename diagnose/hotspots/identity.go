package hotspots

import (
	"strings"

	"github.com/apkgate/apkgate/diagnose"
)

// identity is what makes two frames of different builds the same method: its name without
// compilers' numbers, and, for native code, its library. Java code is in one file before it is
// compiled and in another after, so that its file is ignored.
type identity struct{ name, file string }

func identify(name, file, kind string) identity {
	id := identity{name: diagnose.Stable(name)}
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
