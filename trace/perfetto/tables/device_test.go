package tables_test

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestStepsOfSuspensionAreSlices has a suspension that the kernel aborts, without reporting its
// end.
func TestStepsOfSuspensionAreSlices(t *testing.T) {
	t.Parallel()
	step := func(ns int64, action string, value, begins int64) message {
		return event(ns, 1, 113, message(nil).text(1, action).num(2, value).num(3, begins))
	}
	check(t, file(bundle(0,
		step(10, "suspend_enter", 3, 1), step(12, "freeze_processes", 0, 1), step(13, "thaw_processes", 0, 1),
		step(15, "thaw_processes", 0, 0), step(16, "freeze_processes", 0, 0),
		step(20, "timekeeping_freeze", 5, 1), step(30, "timekeeping_freeze", 7, 0), // another CPU wakes up
		event(40, 1, 481, message(nil).num(1, 1)), event(45, 1, 481, message(nil)),
	)), "slices",
		"0|10|5|suspend_enter(3)||0||0|suspend_resume|Suspend/Resume Latency||",
		"1|12|4|freeze_processes(0)||0||1|suspend_resume|Suspend/Resume Latency||",
		"2|13|2|thaw_processes(0)||0||2|suspend_resume|Suspend/Resume Latency||",
		"3|20|10|timekeeping_freeze(0)||0||0|suspend_resume|Suspend/Resume Latency||",
		"4|40|5|Suspended||0||3|suspend_resume_minimal|Suspend/Resume Minimal||")
}

// TestJobsOfTheGPUAreSlices has jobs of kernels before Linux 6.17 and since.
func TestJobsOfTheGPUAreSlices(t *testing.T) {
	t.Parallel()
	queued := func(ns, tid, id int64) message {
		return event(ns, tid, 411, message(nil).num(4, id).text(6, "gfx"))
	}
	runs := func(ns, id, fence int64) message {
		return event(ns, 9, 412, message(nil).num(2, fence).num(4, id).text(6, "gfx"))
	}
	done := func(ns, fence int64) message { return event(ns, 9, 413, message(nil).num(1, fence)) }
	trace := file(bundle(0,
		queued(10, 5, 1), queued(11, 5, 2), runs(12, 1, 0xa0), runs(13, 2, 0xb0), done(20, 0xa0), done(30, 0xb0), done(31, 0xb0),
		event(40, 5, 593, message(nil).text(1, "comp").num(5, 7).num(6, 1)), event(41, 9, 594, message(nil).text(1, "comp").num(5, 7).num(6, 1)),
		event(50, 9, 592, message(nil).num(1, 7).num(2, 1)), event(60, 9, 409, message(nil).num(1, 2)), event(61, 9, 410, message(nil).num(1, 2)),
	))
	check(t, trace, "slices",
		"0|10|0|drm_sched_job_queue||0||0|thread_execution||5|", "1|11|0|drm_sched_job_queue||0||0|thread_execution||5|",
		"2|12|8|job||0||1|drm_sched_ring|sched-gfx||", "3|20|10|job||0||1|drm_sched_ring|sched-gfx||",
		"4|40|0|drm_sched_job_queue||0||0|thread_execution||5|", "5|41|9|job||0||2|drm_sched_ring|sched-comp||",
		"6|60|0|signal||0||3|drm_vblank|vblank-2||", "7|61|0|deliver||0||3|drm_vblank|vblank-2||")
	check(t, trace, "flows", "0|2", "1|3", "4|5")
}

func TestPhasesOfABufferAreSlices(t *testing.T) {
	t.Parallel()
	happens := func(ns, kind, frame int64) message {
		return message(nil).num(8, ns).in(57, message(nil).in(1, message(nil).num(1, frame).num(2, kind).text(3, "Main").num(5, 4)))
	}
	const dequeued, queued, acquired, latched, shown = 1, 2, 4, 5, 8
	of := func(track string) string { return "|graphics_frame_event|" + track + "||" }
	trace := file(
		happens(10, dequeued, 0), happens(20, queued, 7), happens(25, acquired, 7), happens(30, latched, 7), happens(40, shown, 7), happens(56, shown, 8),
	)
	check(t, trace, "slices",
		"0|10|0|Dequeue||0||0"+of("Buffer: 4 Main"), "1|10|10|7||0||1"+of("APP_4 Main"),
		"2|20|0|Queue||0||0"+of("Buffer: 4 Main"), "3|20|5|7||0||2"+of("GPU_4 Main"),
		"4|25|0|AcquireFenceSignaled||0||0"+of("Buffer: 4 Main"),
		"5|30|0|Latch||0||0"+of("Buffer: 4 Main"), "6|30|10|7||0||3"+of("SF_4 Main"),
		"7|40|0|PresentFenceSignaled||0||0"+of("Buffer: 4 Main"), "8|40|16|7||0||4"+of("Display_Main"),
		"9|56|0|PresentFenceSignaled||0||0"+of("Buffer: 4 Main"), "10|56|-1|8||0||4"+of("Display_Main"))
	// The frame has no number when its buffer is dequeued, and gets one when it is queued.
	var args []string
	for id, number := range []int{7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 8} {
		args = append(args, fmt.Sprintf("%d|frame_number|frame_number|%d|||int", id, number), fmt.Sprintf("%d|layer_name|layer_name||Main||string", id))
	}
	check(t, trace, "args", args...)
}

// TestPropertiesAreCountersBeforeTheyChange has counters whose initial values are reported once.
func TestPropertiesAreCountersBeforeTheyChange(t *testing.T) {
	t.Parallel()
	property := func(name, value string) message {
		return message(nil).in(1, message(nil).text(1, "debug.tracing."+name).text(2, value))
	}
	values := append(property("battery_stats.wifi", "1"), append(property("screen_state", "2"), append(property("plug_type", "3"),
		append(property("mcc", "262"), append(property("device_state", "0:CLOSED"), property("other", "9")...)...)...)...)...)
	trace := file(message(nil).num(8, 10).in(86, values), message(nil).num(8, 12).in(70, message(nil).num(1, 1)))
	check(t, trace, "counters",
		"10|1|0|battery_stats.wifi|battery_stats||||", "10|2|1|ScreenState|screen_state||||", "10|3|2|PlugType|sysprop_counter||||",
		"10|262|3|mcc|sysprop_counter||||", "12|1|1|ScreenState|screen_state||||")
	check(t, trace, "slices", "0|10|0|0:CLOSED||0||0|android_device_state|DeviceStateChanged||")
}

func TestCountersOfPower(t *testing.T) {
	t.Parallel()
	battery := func(ns int64, of message) message { return message(nil).num(8, ns).in(38, of) }
	rails := message(nil).in(1, message(nil).num(1, 4).text(2, "L2S")).in(2, message(nil).num(1, 4).num(2, 1).num(3, 500)).
		in(2, message(nil).num(1, 4).num(3, 510)).in(2, message(nil).num(1, 9).num(3, 1))
	consumers := message(nil).in(1, message(nil).in(1, message(nil).num(1, 3).text(4, "GPU")))
	states := message(nil).in(1, message(nil).num(1, 1).num(2, 2).text(3, "Modem").text(4, "DOWN"))
	check(t, file(
		battery(10, message(nil).num(1, 3000).num(3, -250_000).num(7, 4_000_000)),
		battery(20, message(nil).text(5, "BAT1").num(6, 8).num(7, 4_000_000)),
		battery(30, message(nil).num(6, 8).num(7, 0)), // no charge is derived from that
		message(nil).num(8, 2_000_000).in(40, rails),
		message(nil).in(77, consumers), message(nil).num(8, 3_000_000).in(77, message(nil).num(2, 3).num(3, 77).in(4, message(nil).num(1, 10001).num(2, 7))),
		message(nil).num(8, 4_000_000).in(91, append(states, message(nil).in(2, message(nil).num(1, 1).num(2, 2).num(3, 900))...)),
	), "counters",
		"10|3000|0|batt.charge_uah|battery_counter||||", "10|-250000|1|batt.current_ua|battery_counter||||",
		"10|4e+06|2|batt.voltage_uv|battery_counter||||", "10|1000|3|batt.power_mw|battery_counter||||",
		"20|2|4|batt.BAT1.charge_uah|battery_counter||||", "20|4e+06|5|batt.BAT1.voltage_uv|battery_counter||||", "30|0|2|batt.voltage_uv|battery_counter||||",
		"1000000|500|6|power.L2S_uws|power_rails||||", "2000000|510|6|power.L2S_uws|power_rails||||",
		"3000000|77|7|GPU|android_energy_estimation_breakdown||||", "3000000|7|8|GPU|android_energy_estimation_breakdown_per_uid||||",
		"4000000|900|9|Entity residency: Modem is DOWN|entity_state||||")
}

// list adds a packed list of numbers.
func (m message) list(field protowire.Number, values ...uint64) message {
	var packed message
	for _, v := range values {
		packed = protowire.AppendVarint(packed, v)
	}
	return m.in(field, packed)
}

// TestTimesOfWakelocksAreAddedUp has differences; of equal values only the first and the last are
// kept.
func TestTimesOfWakelocksAreAddedUp(t *testing.T) {
	t.Parallel()
	held := func(ns int64, first bool, of message) message {
		p := message(nil).num(8, ns).num(10, 1).num(13, 2)
		if first {
			p = message(nil).num(8, ns).num(10, 1).num(13, 1)
			of = of.in(1, message(nil).num(1, 7).text(2, "wifi").num(3, 1))
		}
		return p.in(115, of)
	}
	check(t, file(
		held(10, true, message(nil).list(2, 7).list(3, 100)), held(20, false, message(nil)), held(30, false, message(nil)),
		held(40, false, message(nil).list(2, 7).list(3, 5)), held(50, false, message(nil).list(2, 8).list(3, 5)), // never named
	), "counters",
		"10|1e+08|0|wifi|android_kernel_wakelock|ms|||", "30|1e+08|0|wifi|android_kernel_wakelock|ms|||", "40|1.05e+08|0|wifi|android_kernel_wakelock|ms|||")
}

// TestTimesOfUIDs has a UID of the system and one of an isolated process, on two clusters.
func TestTimesOfUIDs(t *testing.T) {
	t.Parallel()
	times := func(ns int64, state int64, uids, ms []uint64) message {
		of := message(nil).list(2, uids...).list(3, ms...)
		if state == 1 {
			of = of.num(1, 2)
		}
		return message(nil).num(8, ns).num(10, 1).num(13, state).in(119, of)
	}
	check(t, file(
		times(10, 1, []uint64{1000, 90_007}, []uint64{100, 200, 10, 20}),
		times(20, 2, []uint64{1000, 90_007}, []uint64{3, 0, 0, 4}),
	), "counters",
		"10|0|0|CPU for Apps CL0|android_cpu_per_uid_totals|ms|||", "10|0|1|CPU for Apps CL1|android_cpu_per_uid_totals|ms|||",
		"10|0|2|CPU for System CL0|android_cpu_per_uid_totals|ms|||", "10|0|3|CPU for System CL1|android_cpu_per_uid_totals|ms|||",
		"10|100|4|CPU for UID 1000 CL0|android_cpu_per_uid|ms|||", "10|200|5|CPU for UID 1000 CL1|android_cpu_per_uid|ms|||",
		"10|0|6|CPU for UID 90000 CL0|android_cpu_per_uid|ms|||", "10|0|7|CPU for UID 90000 CL1|android_cpu_per_uid|ms|||",
		"20|4|1|CPU for Apps CL1|android_cpu_per_uid_totals|ms|||", "20|3|2|CPU for System CL0|android_cpu_per_uid_totals|ms|||",
		"20|103|4|CPU for UID 1000 CL0|android_cpu_per_uid|ms|||", "20|4|7|CPU for UID 90000 CL1|android_cpu_per_uid|ms|||")
}

func TestCountersOfMemoryAndOfTheSystem(t *testing.T) {
	t.Parallel()
	stats := message(nil).in(1, message(nil).num(1, 2).num(2, 4)).in(10, message(nil).text(1, "gpu").num(2, 300)).num(11, 1_800_000).
		in(3, message(nil).num(1, 5).num(2, 70).num(5, 30))
	check(t, file(tree(),
		message(nil).num(8, 10).in(7, stats),
		message(nil).num(8, 20).in(71, message(nil).num(3, 999)),
		bundle(0, event(30, 0, 340, message(nil).num(2, 100).num(3, 50)), event(31, 0, 340, message(nil).num(2, 555).num(3, 50))),
	), "counters",
		"10|4096|0|MemFree|meminfo|bytes|||", "10|300|1|gpu Frequency|clock_frequency||||", "10|1.8e+06|2|cpufreq|cpu_frequency||||0",
		"10|70|3|cpu.times.user_ns|cpustat||||5", "10|0|4|cpu.times.user_nice_ns|cpustat||||5", "10|0|5|cpu.times.system_mode_ns|cpustat||||5",
		"10|30|6|cpu.times.idle_ns|cpustat||||5", "10|0|7|cpu.times.io_wait_ns|cpustat||||5", "10|0|8|cpu.times.irq_ns|cpustat||||5",
		"10|0|9|cpu.times.softirq_ns|cpustat||||5", "10|0|10|cpu.times.steal_ns|cpustat||||5",
		"20|999|11|GPU Memory|gpu_memory|bytes|||", "30|50|12|GPU Memory|process_gpu_memory|bytes|100||") // 555 is no process that is there
}

// TestStagesOfTheGPUAreSlices has two overlapping stages of one queue, and one of another that
// waits for the first; the last queue and its stage have no names.
func TestStagesOfTheGPUAreSlices(t *testing.T) {
	t.Parallel()
	names := message(nil).in(24, message(nil).num(1, 1).text(2, "vertex")).in(24, message(nil).num(1, 2).text(2, "binning")).
		in(24, message(nil).num(1, 3).text(2, "fragment"))
	stage := func(ns int64, of message) message {
		return message(nil).num(8, ns).num(10, 1).num(13, 2).in(53, of)
	}
	trace := file(message(nil).num(10, 1).num(13, 1).in(12, names),
		stage(10, message(nil).num(1, 1).num(2, 10).num(13, 1).num(14, 2)),
		stage(15, message(nil).num(1, 2).num(2, 10).num(13, 1).num(14, 2)),
		stage(30, message(nil).num(1, 3).num(2, 5).num(13, 3).text(17, "pass").num(18, 1)),
		stage(40, message(nil).num(1, 4).num(2, 5).num(3, 7).num(4, 6)),
		message(nil).num(8, 50).in(65, message(nil).in(2, message(nil).num(1, 3).num(2, 100))))
	check(t, trace, "slices",
		"0|10|10|binning||0||0|gpu_render_stage|vertex||", "1|15|10|binning||0||1|gpu_render_stage|vertex||",
		"2|30|5|pass||0||2|gpu_render_stage|fragment||", "3|40|5|render stage(6)||0||3|gpu_render_stage|Unknown GPU Queue 7||",
		"4|50|3|vkQueueSubmit||0||4|vulkan_events|Vulkan Events||")
	check(t, trace, "flows", "0|2")
}

// TestCountersOfTheGPU has one counter whose values are of the time before each, as usual, and one
// whose values are of the time after.
func TestCountersOfTheGPU(t *testing.T) {
	t.Parallel()
	spec := func(id int64, name string, direction int64) message {
		return message(nil).num(1, id).text(2, name).num(7, 26).num(8, 22).num(11, direction)
	}
	sample := func(ns int64, values ...message) message {
		var of message
		for i, v := range values {
			of = of.in(2, append(message(nil).num(1, int64(i+1)), v...))
		}
		return message(nil).num(8, ns).in(52, of)
	}
	whole := func(v int64) message { return message(nil).num(2, v) }
	check(t, file(
		message(nil).in(52, message(nil).in(1, message(nil).in(1, spec(1, "Fragments", 0)).in(1, spec(2, "Busy", 2)))),
		sample(10, whole(5), whole(1)), sample(20, whole(7), message(nil).double(3, 0.5)), sample(30, whole(9), whole(0), whole(3)), // 3 is no counter's
	), "counters",
		"10|7|0|Fragments|gpu_counter|Pixel/s|||", "10|1|1|Busy|gpu_counter|Pixel/s|||",
		"20|9|0|Fragments|gpu_counter|Pixel/s|||", "20|0.5|1|Busy|gpu_counter|Pixel/s|||",
		"30|0|0|Fragments|gpu_counter|Pixel/s|||", "30|0|1|Busy|gpu_counter|Pixel/s|||")
}

// TestCommandsToAVirtualGPU has two that overlap, of which one has a fence: its answer does not
// show how long the queue takes.
func TestCommandsToAVirtualGPU(t *testing.T) {
	t.Parallel()
	command := func(ns, kind, number, free, fence int64) message {
		return event(ns, 1, 468, message(nil).num(3, fence).text(5, "control").num(6, free).num(7, number).num(8, kind))
	}
	answer := func(ns, number, free int64) message {
		return event(ns, 1, 469, message(nil).text(5, "control").num(6, free).num(7, number))
	}
	trace := file(bundle(0, command(10, 0x0207, 1, 60, 0), command(15, 0x0104, 2, 59, 8), answer(30, 1, 60), answer(50, 2, 61)))
	check(t, trace, "slices",
		"0|10|20|SUBMIT_3D||0||0|virtgpu_queue_event|Virtgpu Control Queue||", "1|15|35|RESOURCE_FLUSH||0||1|virtgpu_queue_event|Virtgpu Control Queue||")
	check(t, trace, "counters",
		"10|60|0|Virtgpu Control Free|virtgpu_num_free||||", "15|59|0|Virtgpu Control Free|virtgpu_num_free||||",
		"30|60|0|Virtgpu Control Free|virtgpu_num_free||||", "30|20|1|Virtgpu Control Latency|virtgpu_latency||||",
		"50|61|0|Virtgpu Control Free|virtgpu_num_free||||")
}
