package tables_test

import "testing"

// TestStepsOfSuspensionAreSlices has one that the kernel gives up, without saying that it
// left it.
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
	check(t, file(
		happens(10, dequeued, 0), happens(20, queued, 7), happens(25, acquired, 7), happens(30, latched, 7), happens(40, shown, 7), happens(56, shown, 8),
	), "slices",
		"0|10|0|Dequeue||0||0"+of("Buffer: 4 Main"), "1|10|10|7||0||1"+of("APP_4 Main"),
		"2|20|0|Queue||0||0"+of("Buffer: 4 Main"), "3|20|5|7||0||2"+of("GPU_4 Main"),
		"4|25|0|AcquireFenceSignaled||0||0"+of("Buffer: 4 Main"),
		"5|30|0|Latch||0||0"+of("Buffer: 4 Main"), "6|30|10|7||0||3"+of("SF_4 Main"),
		"7|40|0|PresentFenceSignaled||0||0"+of("Buffer: 4 Main"), "8|40|16|7||0||4"+of("Display_Main"),
		"9|56|0|PresentFenceSignaled||0||0"+of("Buffer: 4 Main"), "10|56|-1|8||0||4"+of("Display_Main"))
}

// TestPropertiesAreCountersBeforeTheyChange has counters that the trace tells of once, as
// they were when it began.
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
