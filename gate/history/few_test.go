package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/run"
)

// Runs of one session are no independent evidence: where several runs are of one session, sessions
// are counted.
func TestFewSessionsOfSeveralRuns(t *testing.T) {
	of := func(n int, session string) []run.Run {
		var out []run.Run
		for i := range n {
			r := gatetest.Timed(fmt.Sprint(session, i), map[string]string{"model": "a"}, 8)
			r.ID, r.Session, r.Started = fmt.Sprint(session, ".", i), session, time.Date(2026, 1, 1, i, 0, 0, 0, time.UTC)
			out = append(out, r)
		}
		return out
	}
	now := gatetest.Timed("new", map[string]string{"model": "a"}, 8)
	for want, accepted := range map[string][]run.Run{
		"the history has 9 accepted runs of 1 session in this context, and 5 sessions are needed to tell a change from noise":  of(9, "one"),
		"the history has 5 accepted runs of 2 sessions in this context, and 5 sessions are needed to tell a change from noise": append(of(3, "one"), of(2, "two")...),
		"the history has 3 accepted runs in this context, and 5 are needed to tell a change from noise":                        append(append(of(1, "one"), of(1, "two")...), of(1, "")...),
		"the history has 1 accepted run in this context, and 5 are needed to tell a change from noise":                         of(1, "one"),
		"the history has 2 accepted runs in this context, and 5 are needed to tell a change from noise":                        of(2, ""),
	} {
		if v := checkOne(gatetest.Policy(t, gate.PresetDefault), now, accepted...); !strings.HasPrefix(v.Reason, want) {
			t.Errorf("%q, want %q", v.Reason, want)
		}
	}
}
