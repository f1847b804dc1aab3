package cli

import (
	"math"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

func TestMemoryOf(t *testing.T) {
	const meminfo = "MemTotal:       16384 kB\nMemFree:         1000 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no Linux":                      {nil, math.MaxInt64},
		"a machine":                     {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/user.slice\n", "sys/fs/cgroup/user.slice/memory.max": "max\n"}, 16 << 20},
		"a service":                     {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "4194304\n"}, 4 << 20},
		"a limit further up":            {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "2097152\n", "sys/fs/cgroup/a/b/memory.max": "4194304\n"}, 2 << 20},
		"a container":                   {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1048576\n"}, 1 << 20},
		"control groups of the old way": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu:/x\n4:memory:/docker/1\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "3145728\n"}, 3 << 20},
		"no limit in the old way":       {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 16 << 20},
		"nonsense":                      {map[string]string{"proc/meminfo": "MemTotal: -1 kB\nMemTotal:\n", "proc/self/cgroup": "0::/../../..\nx\n:::\n", "sys/fs/cgroup/memory.max": "much"}, math.MaxInt64},
	} {
		root := fstest.MapFS{}
		for path, text := range c.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := memoryOf(root); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}

func TestLimitMemoryKeepsGOMEMLIMIT(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	root := fstest.MapFS{"proc/meminfo": {Data: []byte("MemTotal: 1000000 kB\n")}}
	limitMemory(func(string) string { return "2GiB" }, root)
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("limit %d, want %d as before", got, before)
	}
	limitMemory(func(string) string { return "" }, root)
	if got, want := debug.SetMemoryLimit(-1), int64(921_600_000); got != want {
		t.Errorf("limit %d, want nine tenths of the memory: %d", got, want)
	}
}
