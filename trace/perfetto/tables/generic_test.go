package tables_test

import (
	"fmt"
	"strings"
	"testing"
)

// task is a state change of a task on a kernel other than Linux.
func task(ns, cpu, tid, state int64, name string) message {
	return message(nil).num(8, ns).in(117, message(nil).num(1, cpu).text(2, name).num(3, tid).num(4, state).num(5, 100))
}

func TestTasksOfOtherKernels(t *testing.T) {
	t.Parallel()
	const wide = 1 << 40
	tree := message(nil).
		in(1, message(nil).num(1, 10).num(2, 1).text(3, "shell --fast")).
		in(2, message(nil).num(1, 101).num(2, 10).text(3, "main").num(4, 1))
	trace := file(
		message(nil).num(8, 1).in(122, tree),
		task(10, 0, 101, 3, "main"), task(30, 0, wide, 3, "wide"), task(30, 0, 101, 4, "main"), // the state comes after the switch
		task(40, 0, wide, 8, "wide"), task(50, 1, 7, 1, "new"), task(55, 1, 7, 7, "new"), task(60, 1, 7, 2, "new"), // after death only the end counts
		message(nil).num(8, 70).in(120, message(nil).num(1, 101).text(2, "later")),
	)
	check(t, trace, "sched", "10|20|0|101|S|100|1", "30|10|0|1099511627776|X|100|2")
	read := check(t, trace, "thread-states",
		"10|20|101|Running|0|||||1", "30|-1|101|S||||||1", "30|10|1099511627776|Running|0|||||2",
		"40|-1|1099511627776|X||||||2", "50|5|7|Created||||||3", "55|-1|7|Z||||||3")
	if said := fmt.Sprint(read.Warnings); !strings.Contains(said, "1 state of a task can't follow") {
		t.Error(said)
	}
	check(t, trace, "threads", "0|0|swapper|0|0|1||", "1|101|main|2|10|1||", "2|1099511627776|wide|||||40", "3|7|new||||50|")
	check(t, trace, "processes", "0|0||||||", "1|1||||||", "2|10|shell||||1|shell --fast")
}

func TestFrequenciesOfOtherKernels(t *testing.T) {
	t.Parallel()
	check(t, file(
		message(nil).num(8, 10).in(118, message(nil).num(1, 3).num(2, 1_500_000_000)),
		message(nil).num(8, 20).in(129, message(nil).num(1, 0).num(2, 700)),
	), "counters", "10|1.5e+06|0|cpufreq|cpu_frequency||||3", "20|700|1|gpufreq|gpu_frequency|kHz|||")
}

func TestLoadAndLimitsOfCPUs(t *testing.T) {
	t.Parallel()
	check(t, file(bundle(0,
		event(10, 1, 12, message(nil).num(1, 500).num(2, 900).num(3, 4)),
		event(20, 1, 421, message(nil).num(2, 1004).num(4, 6).num(6, 17).num(11, 2)),
	)), "counters",
		"10|900|0|Cpu 4 Max Freq Limit|cpu_max_frequency_limit||||4", "10|500|1|Cpu 4 Min Freq Limit|cpu_min_frequency_limit||||4",
		"20|17|2|Cpu 6 Util|cpu_utilization||||6", "20|1004|3|Cpu 6 Cap|cpu_capacity||||6", "20|2|4|Cpu 6 Nr Running|cpu_nr_running||||6")
}
