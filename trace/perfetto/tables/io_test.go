package tables_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestBlockIOTable has two concurrent requests of one device, of which the second ends first; one
// that a device does in two parts; one that fails; and one that does not end.
func TestBlockIOTable(t *testing.T) {
	t.Parallel()
	issue := func(ns, sector, sectors int64, kind string) message {
		return event(ns, 101, 45, message(nil).num(1, 45824).num(2, sector).num(3, sectors).text(5, kind).text(6, "RenderThread"))
	}
	done := func(ns, sector, sectors, err int64) message {
		return event(ns, 0, 125, message(nil).num(1, 45824).num(2, sector).num(3, sectors).text(5, "R").num(7, err))
	}
	trace := file(tree(), bundle(0,
		issue(10, 1000, 8, "RA"), issue(20, 2000, 16, "W"), done(30, 2000, 16, 0), done(50, 1000, 8, 0),
		issue(60, 3000, 8, "R"), done(65, 3000, 3, 0), done(70, 3003, 5, 0),
		issue(80, 4000, 8, "R"), done(85, 4000, 8, -5), issue(90, 5000, 8, "R"),
		event(100, 101, 546, message(nil).num(1, 45824).num(2, 44920176).num(3, 56).num(4, 28672).text(6, "RA").text(7, "app")),
		event(240, 0, 547, message(nil).num(1, 45824).num(2, 44920176).text(6, "RA").text(7, "kworker")),
		event(300, 101, 119, message(nil).num(1, 45824).num(2, 7).num(3, 2).text(4, "R").text(5, "app")),
		event(310, 0, 117, message(nil).num(1, 45824).num(2, 7).num(3, 2).num(4, 0).text(5, "R")),
		done(400, 9999, 8, 0), // of one that began before the trace
	))
	check(t, trace, "block-io",
		"10|40|block_rq_issue|45824|1000|8|4096|RA|RenderThread|0|101|100|3", "20|10|block_rq_issue|45824|2000|16|8192|W|RenderThread|0|101|100|3",
		"60|10|block_rq_issue|45824|3000|8|4096|R|RenderThread|0|101|100|3", "80|5|block_rq_issue|45824|4000|8|4096|R|RenderThread|-5|101|100|3",
		"90|-1|block_rq_issue|45824|5000|8|4096|R|RenderThread|0|101|100|3",
		"100|140|block_io_start|45824|44920176|56|28672|RA|app|0|101|100|3", "300|10|block_bio_queue|45824|7|2|1024|R|app|0|101|100|3")
	check(t, trace, "slices", "0|100|140|block_io||0||0|block_io|||")
}

// TestLogTable has entries on the wall clock, which is 1,000 ahead of the trace's own, the later
// one first.
func TestLogTable(t *testing.T) {
	t.Parallel()
	entry := func(ns, prio int64, tag string, more message) message {
		return append(message(nil).num(1, 2).num(2, 100).num(3, 101).num(4, 10001).num(5, ns).text(6, tag).num(7, prio), more...)
	}
	clocks := message(nil).in(6, message(nil).in(1, message(nil).num(1, 6).num(2, 500)).in(1, message(nil).num(1, 1).num(2, 1500)))
	structured := message(nil).in(9, message(nil).text(1, "user").num(2, 10)).in(9, message(nil).text(1, "name").text(4, "x y"))
	trace := file(clocks, tree(), message(nil).num(8, 600).in(39, message(nil).
		in(1, entry(1620, 6, "Choreographer", message(nil).text(8, "Skipped 30 frames!"))).
		in(1, entry(1610, 0, "am_anr", structured)).
		in(1, entry(1630, 3, "both", append(message(nil).text(8, "see"), structured...))).
		in(2, message(nil).num(1, 9).num(2, 2).num(3, 3))))
	read := check(t, trace, "logs",
		`610|4|am_anr|user=10 name="x y"|101|100|3`, "620|6|Choreographer|Skipped 30 frames!|101|100|3", `630|3|both|see user=10 name="x y"|101|100|3`)
	if said := fmt.Sprint(read.Warnings); !strings.Contains(said, "5 entries of the log are not in the trace") {
		t.Error(said)
	}
	lost := check(t, file(message(nil).num(8, 600).in(39, message(nil).in(1, entry(1620, 4, "a", nil)))), "logs")
	if said := fmt.Sprint(lost.Warnings); !strings.Contains(said, "1 time is on a clock from which nothing leads") {
		t.Error(said)
	}
}
