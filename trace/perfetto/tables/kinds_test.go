package tables_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everyKind is a trace with every kind of input of the tables.
func everyKind() []byte {
	state := message(nil).num(8, 5).num(10, 1).num(13, 1).in(12, message(nil).in(2, message(nil).num(1, 7).text(2, "dispatch")).
		in(3, message(nil).num(1, 5).text(2, "queue"))).in(59, message(nil).in(11, message(nil).num(11, 1).num(31, 10)))
	deep := message(nil).text(10, "parts").in(11, message(nil).text(10, "a").num(4, 1)).in(8, message(nil).text(2, "on").in(3, message(nil).num(7, 1)))
	out := append(described(), file(counting()...)...)
	return append(out, file(state,
		trackEvent(10, 1, message(nil).num(10, 7).num(12, 5).in(4, deep).in(4, message(nil).num(1, 5).in(12, message(nil).num(4, 3)))),
		trackEvent(20, 2, message(nil).num(12, 5)), trackEvent(25, 4, message(nil).num(11, 12).double(44, 2)),
		twoProcesses(), bundle(0,
			sends(30, 101, 1, 300, 0, 0x10), takes(31, 301, 1), sends(32, 301, 2, 100, 1, 0), takes(33, 101, 2),
			commands(34, 101, 0x40406300), sends(35, 101, 3, 300, 0, 0), returns(36, 101, 0x7205),
			event(40, 101, 45, message(nil).num(1, 1).num(2, 8).num(3, 8)), event(41, 0, 125, message(nil).num(1, 1).num(2, 8).num(3, 8)),
			event(42, 1, 113, message(nil).text(1, "suspend_enter").num(2, 3).num(3, 1)),
			event(43, 5, 411, message(nil).num(4, 1).text(6, "gfx")), event(44, 9, 412, message(nil).num(2, 9).num(4, 1).text(6, "gfx")),
			event(45, 9, 413, message(nil).num(1, 9)), event(46, 1, 421, message(nil).num(2, 1004).num(4, 6).num(6, 17))),
		task(50, 0, 101, 3, "main"), task(60, 0, 1<<40, 3, "wide"), message(nil).num(8, 70).in(120, message(nil).num(1, 101).text(2, "later")),
		message(nil).num(8, 80).in(57, message(nil).in(1, message(nil).num(1, 7).num(2, 2).text(3, "Main").num(5, 4))),
		message(nil).num(8, 85).num(10, 1).in(53, message(nil).num(1, 1).num(2, 10).num(3, 2).num(4, 1).num(18, 4).in(7, message(nil).in(2, message(nil).text(1, "queue")))),
		message(nil).num(8, 86).num(10, 1).in(44, message(nil).num(1, 100).num(2, 101).num(6, 1)),
		message(nil).num(10, 1).num(13, 2).in(11, message(nil).num(1, 5).text(23, "older").in(6, message(nil).num(2, 'b').num(10, 9).num(8, 3).num(13, 2))),
		message(nil).num(10, 1).num(13, 2).in(11, message(nil).num(16, 50).in(6, message(nil).num(2, 'X').num(3, 9))),
		message(nil).num(8, 90).in(38, message(nil).num(3, -5).num(7, 5)),
		message(nil).num(8, 91).in(40, message(nil).in(1, message(nil).num(1, 4).text(2, "L2S")).in(2, message(nil).num(1, 4).num(2, 1).num(3, 500))),
		message(nil).num(8, 92).num(10, 1).in(115, message(nil).in(1, message(nil).num(1, 7).text(2, "wifi")).list(2, 7).list(3, 100)),
		message(nil).num(8, 93).num(10, 1).in(119, message(nil).num(1, 2).list(2, 1000).list(3, 100, 200)),
		message(nil).num(8, 94).in(7, message(nil).in(1, message(nil).num(1, 2).num(2, 4)).num(11, 3)),
		message(nil).in(6, message(nil).in(1, message(nil).num(1, 6).num(2, 500)).in(1, message(nil).num(1, 1).num(2, 1500))),
		message(nil).num(8, 95).in(39, message(nil).in(1, message(nil).num(2, 100).num(3, 101).num(5, 1600).text(6, "tag").text(8, "said"))),
	)...)
}

// TestTableCountsUncoveredContent has values of /proc/vmstat and a heap profile.
func TestTableCountsUncoveredContent(t *testing.T) {
	t.Parallel()
	vmstat := message(nil).num(1, 3).num(2, 7)
	read := check(t, file(
		message(nil).num(8, 10).in(7, message(nil).in(1, message(nil).num(1, 2).num(2, 4)).in(2, vmstat).in(2, vmstat).in(14, message(nil).num(1, 1))),
		message(nil).num(8, 11).in(37, message(nil)),
	), "counters", "10|4096|0|MemFree|meminfo|bytes|||")
	var got []string
	for _, w := range read.Warnings {
		got = append(got, w.Text)
	}
	want := []string{"values of the system that are not read: 2 of /proc/vmstat, 1 of /proc/pressure", "no table covers these packets: 1 of profile_packet"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
