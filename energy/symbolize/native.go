package symbolize

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/apkgate/apkgate/trace/simpleperf"
)

// maxMangled is how long a symbol may be to be demangled, in bytes. Names that
// refer to themselves grow when they are demangled.
const maxMangled = 4096

// hashes begin what clang puts behind the name of a local function, so that it is
// unique in a program: it differs from build to build.
var hashes = []string{".__uniq.", ".llvm."}

// linker is what the dynamic linker's own symbols begin with.
const linker = "__dl_"

// native is a symbol of machine code as people read it.
func native(symbol string) string {
	if own, ok := strings.CutPrefix(symbol, linker); ok {
		// simpleperf's Dso::Demangle
		return "[linker]" + demangled(own)
	}
	return demangled(symbol)
}

func demangled(symbol string) string {
	if len(symbol) > maxMangled {
		return symbol
	}
	for _, hash := range hashes {
		symbol, _, _ = strings.Cut(symbol, hash)
	}
	name := demangle.Filter(symbol, demangle.NoParams, demangle.NoEnclosingParams, demangle.NoClones, demangle.MaxLength(10))
	return shorter.Replace(name)
}

// shorter writes what libc++ calls its own types as sources do. The inner
// namespace is the library's version: of the platform, or of the NDK.
var shorter = strings.NewReplacer(
	"std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> >", "std::string",
	"std::__ndk1::basic_string<char, std::__ndk1::char_traits<char>, std::__ndk1::allocator<char> >", "std::string",
	"std::__1::", "std::", "std::__ndk1::", "std::")

// shortFile is a path without what differs from one installation to the next:
//
//	/data/app/~~d9GU==/com.example-dJv3==/base.apk → com.example/base.apk
//	/apex/com.android.art@331013030/lib64/libart.so → /apex/com.android.art/lib64/libart.so
//	./TemporaryFile-O0Coew, of code compiled while it ran → [JIT cache]
func shortFile(f simpleperf.Frame) string {
	if f.Kind == simpleperf.JIT && strings.Contains(f.File, "TemporaryFile-") {
		// simpleperf's JITFrameConverter
		return "[JIT cache]"
	}
	if rest, ok := strings.CutPrefix(f.File, "/data/app/"); ok {
		return installed(rest)
	}
	if rest, ok := strings.CutPrefix(f.File, "/apex/"); ok {
		module, file, _ := strings.Cut(rest, "/")
		module, _, _ = strings.Cut(module, "@")
		return "/apex/" + module + "/" + file
	}
	return f.File
}

// installed is a path below /data/app: first a folder of a random name, since
// Android 11, then the package's with a random end, or a number before Android 8.
func installed(path string) string {
	if strings.HasPrefix(path, "~~") {
		_, path, _ = strings.Cut(path, "/")
	}
	folder, file, _ := strings.Cut(path, "/")
	folder, _, _ = strings.Cut(folder, "-")
	return strings.TrimSuffix(folder+"/"+file, "/")
}
