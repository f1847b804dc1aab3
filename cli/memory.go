package cli

import (
	"io/fs"
	"math"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// limitMemory sets the garbage collector's limit to the available memory, so that it collects
// sooner rather than be killed by the system. GOMEMLIMIT takes precedence. It does nothing if the
// memory is unknown (not on Linux).
func limitMemory(getenv func(string) string, root fs.FS) {
	if getenv("GOMEMLIMIT") != "" {
		return
	}
	if n := memoryOf(root); n < math.MaxInt64 {
		debug.SetMemoryLimit(n / 10 * 9)
	}
}

// memoryOf returns the least of the machine's memory and of the limits of the control groups that
// this process is in, in bytes (proc(5), cgroups(7)); MaxInt64 if unknown.
func memoryOf(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	for _, line := range linesOf(root, "proc/meminfo") {
		if kilobytes, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			least = lesser(least, strings.TrimSuffix(kilobytes, "kB"), 1<<10)
		}
	}
	for _, line := range linesOf(root, "proc/self/cgroup") {
		parts := strings.SplitN(line, ":", 3) // number, controllers, path
		if len(parts) != 3 {
			continue
		}
		top, file := "", ""
		switch {
		case parts[0] == "0" && parts[1] == "": // version 2
			top, file = "sys/fs/cgroup", "memory.max"
		case strings.Contains(","+parts[1]+",", ",memory,"):
			top, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// A container may see its own group at the top.
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			for _, limit := range linesOf(root, path.Join(top, group, file)) {
				least = lesser(least, limit, 1)
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

// lesser returns the lesser of n and a number of units as text, if it is one: "max" is none.
func lesser(n int64, text string, unit int64) int64 {
	m, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || m <= 0 || m > math.MaxInt64/unit {
		return n
	}
	return min(n, m*unit)
}

func linesOf(root fs.FS, name string) []string {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}
