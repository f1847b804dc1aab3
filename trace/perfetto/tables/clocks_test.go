package tables_test

import "testing"

// TestKernelClockOfEachBundle has bundles of a kernel that records on a clock of its own
// ("global"), each with the value of CLOCK_BOOTTIME when it was read: an event uses the last pair
// that is not later than itself, or the first one, whatever follows.
func TestKernelClockOfEachBundle(t *testing.T) {
	t.Parallel()
	const global = 2
	read := func(ftrace, boot int64, events ...message) message {
		of := message(nil).num(1, 0).num(5, global).num(6, ftrace).num(7, boot)
		for _, e := range events {
			of = of.in(2, e)
		}
		return message(nil).num(10, 3).in(1, of)
	}
	frequency := func(ns, khz int64) message { return event(ns, 1, 11, message(nil).num(1, khz).num(2, 0)) }
	clock := func(id int64) message { return message(nil).num(1, id).num(2, 5_000) }
	check(t, file(
		message(nil).in(6, message(nil).in(1, clock(6)).in(1, clock(3))),
		read(1_000, 5_000, frequency(900, 1)),
		read(2_000, 5_900, frequency(1_001, 2), frequency(1_990, 3)), // the clocks have drifted by 100 ns
		read(2_000, 5_900, frequency(2_000, 4)),                      // repeated, counts once
		read(3_000, 7_400, frequency(2_999, 5)),                      // and by 500 in the other direction
		read(4_000, 8_400, frequency(3_500, 6)),
	), "counters",
		"4900|1|0|cpufreq|cpu_frequency||||0", "5001|2|0|cpufreq|cpu_frequency||||0", "5900|4|0|cpufreq|cpu_frequency||||0",
		"5990|3|0|cpufreq|cpu_frequency||||0", "6899|5|0|cpufreq|cpu_frequency||||0", "7900|6|0|cpufreq|cpu_frequency||||0")
}
