package experiments

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// For an app that is neither a debug build nor profileable, a phone as sold traces none of its own
// sections: the kind of cause of its late frames is found nevertheless, on the phones with the
// least data. It makes a table of docs/evaluation/causes.md with
//
//	APKGATE_EVALUATION=full go test ./research/experiments -run TestCausesOfAppsAsTheyAreSold -v -timeout 60m
//
// and otherwise tries some of its cases.
func TestCausesOfAppsAsTheyAreSold(t *testing.T) {
	full := os.Getenv("APKGATE_EVALUATION") == "full"
	o := trial{repetitions: 3, bases: 3, sessions: 6}
	if !full {
		o.sessions = 1
	}
	var cases []slowCase
	for i, c := range slowCases() {
		if c.phone != "c1-go-android-11" || c.event != "scroll" || c.also != "" || !full && (c.buffered || i%26 != 1) {
			continue
		}
		for _, app := range []*string{&c.app, &c.before} {
			*app = strings.Replace(*app, "cost ", "unprofileable\ncost ", 1)
		}
		cases = append(cases, c)
	}
	o.all(t, cases)
	o.hold(t, 0.9)
	right, wrong, nothing, like, quiet := 0, 0, 0, 0, 0
	for key, all := range o.table.by {
		if key[0] == "" {
			like, quiet = all.cases, all.right
			continue
		}
		right, nothing = right+all.right, nothing+all.named[""]
		for kind, n := range all.named {
			if kind != "" {
				wrong += n
			}
		}
	}
	line := fmt.Sprintf("| the same, of an app whose own sections are in no trace | %d of %d | %d | %d | %d of %d |", right, right+wrong+nothing, wrong, nothing, quiet, like)
	t.Log(line)
	if full {
		documented(t, line, 2)
	}
}
