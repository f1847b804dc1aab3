package symbolize

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/apkgate/apkgate/trace/simpleperf"
)

// maxMangled is the longest symbol that is demangled, in bytes. Names with back references grow
// when they are demangled.
const maxMangled = 4096

// hashes begin the suffixes by which clang makes local functions unique in a program: they differ
// from build to build.
var hashes = []string{".__uniq.", ".llvm."}

// linker is the prefix of the dynamic linker's own symbols.
const linker = "__dl_"

// native returns a symbol of machine code in readable form.
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

// shorter replaces libc++'s names of its own types by those in sources. The inner namespace is the
// library's version: of the platform, or of the NDK.
var shorter = strings.NewReplacer(
	"std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> >", "std::string",
	"std::__ndk1::basic_string<char, std::__ndk1::char_traits<char>, std::__ndk1::allocator<char> >", "std::string",
	"std::__1::", "std::", "std::__ndk1::", "std::")

// shortFile returns a path without what differs between installations:
//
//	/data/app/~~d9GU==/com.example-dJv3==/base.apk → com.example/base.apk
//	/apex/com.android.art@331013030/lib64/libart.so → /apex/com.android.art/lib64/libart.so
//	./TemporaryFile-O0Coew, of JIT-compiled code → [JIT cache]
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

// installed shortens a path below /data/app: first a folder with a random name, since Android 11,
// then the package's with a random suffix, or a number before Android 8.
func installed(path string) string {
	if strings.HasPrefix(path, "~~") {
		_, path, _ = strings.Cut(path, "/")
	}
	folder, file, _ := strings.Cut(path, "/")
	folder, _, _ = strings.Cut(folder, "-")
	return strings.TrimSuffix(folder+"/"+file, "/")
}
