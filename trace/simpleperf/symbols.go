package simpleperf

import (
	"bytes"
	"cmp"
	"math"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// kernelName is the kernel itself among the mapped files.
const kernelName = "[kernel.kallsyms]"

// fileType is simpleperf's DsoType (dso.h).
type fileType uint32

const (
	kernelFile fileType = iota
	kernelModule
	elfFile
	dexFile
	symbolMap // symbols are addresses of the process
	otherFile
)

// symbol is a function in a file.
type symbol struct {
	start, length uint64
	name          string
}

// file is a mapped file with its symbols in the recording.
type file struct {
	path    string
	kind    fileType
	symbols []symbol // by start, once sorted
	// first is the virtual address of the first executable segment, firstAt its offset in the file
	// (in memory, for a kernel module).
	first, firstAt uint64
	known          bool // firstAt is known
}

// files are all files that mappings and features name.
type files struct {
	kernel  *file
	user    map[string]*file
	modules map[string]*file
}

func newFiles() files {
	return files{
		kernel: &file{path: kernelName, kind: kernelFile},
		user:   map[string]*file{}, modules: map[string]*file{},
	}
}

// mapped returns the file of a mapping, and adds it if it is new.
func (f *files) mapped(name string, inKernel bool) *file {
	if inKernel && (strings.HasPrefix(name, kernelName) || strings.HasPrefix(name, "[bpf]")) {
		return f.kernel
	}
	set, kind := f.user, elfFile
	if inKernel {
		set, kind = f.modules, kernelModule
	}
	known, ok := set[name]
	if !ok {
		known = &file{path: name, kind: kind}
		set[name] = known
	}
	return known
}

// describe applies a file feature to its file.
func (f *files) describe(described file) {
	described.known = described.known && described.firstAt != math.MaxUint64
	slices.SortStableFunc(described.symbols, func(a, b symbol) int { return cmp.Compare(a.start, b.start) })
	switch described.kind {
	case kernelFile:
		described.path = kernelName
		*f.kernel = described
	case kernelModule:
		f.modules[described.path] = &described
	default:
		f.user[described.path] = &described
	}
}

// kallsyms parses the kernel's own list of symbols, lines of "address type name [module]"
// (proc(5)), unless a file feature has the kernel's symbols: at most `most`. It returns how many it
// parsed.
func (f *files) kallsyms(text []byte, most int) int {
	if len(f.kernel.symbols) > 0 {
		return 0
	}
	var out []symbol
	for line := range bytes.Lines(text) {
		if len(out) >= most {
			break
		}
		parts := strings.Fields(plain(line))
		if len(parts) < 3 || len(parts[1]) != 1 || !strings.Contains("TtWw", parts[1]) {
			continue
		}
		start, err := strconv.ParseUint(parts[0], 16, 64)
		if err != nil || start == 0 {
			continue // hidden from unprivileged users
		}
		out = append(out, symbol{start: start, name: strings.Join(parts[2:], " ")})
	}
	slices.SortStableFunc(out, func(a, b symbol) int { return cmp.Compare(a.start, b.start) })
	for i := range out {
		out[i].length = math.MaxUint64 - out[i].start
		if i+1 < len(out) {
			out[i].length = out[i+1].start - out[i].start
		}
	}
	f.kernel.symbols = out
	return len(out)
}

// address converts an address of the process to a virtual address in the file (Dso::IpToVaddrInFile
// in simpleperf/dso.cpp).
func (f *file) address(at uint64, m *mapping) uint64 {
	switch {
	case m.jit || f.kind == kernelFile || f.kind == symbolMap || f.kind == otherFile:
		return at
	case f.kind == kernelModule:
		return at - m.start - f.firstAt + f.first
	case f.kind == dexFile:
		return at - m.start + m.offset
	case f.known:
		return at - m.start + m.offset - f.firstAt + f.first
	}
	return at - m.start + f.first
}

// name returns the symbol at a virtual address in the file, "" if there is none.
func (f *file) name(address uint64) string {
	i := sort.Search(len(f.symbols), func(i int) bool { return f.symbols[i].start > address })
	if i == 0 {
		return ""
	}
	s := f.symbols[i-1]
	if address-s.start >= s.length {
		return ""
	}
	return s.name
}

// jitFile reports whether a file contains code that ART compiled at run time; old versions of
// simpleperf name it TemporaryFile-XXXXXX.
func jitFile(name string) bool {
	return strings.Contains(name, "_jit_app_cache:") || strings.Contains(name, "_jit_zygote_cache:") ||
		strings.HasPrefix(path.Base(name), "TemporaryFile")
}

// codeKind returns how the code of a file runs.
func (f *file) codeKind() Kind {
	switch {
	case f.kind == kernelFile || f.kind == kernelModule:
		return Kernel
	case f.kind == dexFile:
		return Interpreted
	case jitFile(f.path):
		return JIT
	case compiled(f.path):
		return AOT
	}
	return Native
}

// compiled reports whether a file contains Java code compiled ahead of time.
func compiled(name string) bool {
	switch path.Ext(name) {
	case ".odex", ".oat":
		return true
	}
	return false
}

// moduleFile reports whether a file is a module of the kernel.
func moduleFile(name string) bool { return path.Ext(name) == ".ko" }

// reportPath returns the file's name for people: memory with JIT-compiled code has no file on the
// device.
func (f *file) reportPath() string {
	switch {
	case strings.Contains(f.path, "_jit_app_cache:"):
		return "[JIT app cache]"
	case strings.Contains(f.path, "_jit_zygote_cache:"):
		return "[JIT zygote cache]"
	}
	return f.path
}
