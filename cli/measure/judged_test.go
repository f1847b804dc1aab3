package measure_test

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/usecase/exit"
)

// What the gate called a regression becomes a reference by no bulk command, by name only with a
// reason, and as a new level. The next build is judged as before.
func TestRegressionIsNotAcceptedInBulk(t *testing.T) {
	t.Parallel()
	p := openPullRequests(t, quiet)
	r, got := p.open("worse", 31, p.base()...)
	if r.Verdict != gate.Regression {
		t.Fatalf("a tenth worse is %s: %s\n%s", r.Verdict, r.Reason, got.Stderr)
	}
	baseline := func(args ...string) clitest.Result {
		return clitest.Run(t, nil, append(append([]string{"baseline"}, args...), "--config", p.path("apkgate.yml"))...)
	}
	for _, which := range [][]string{{"--all"}, {"--all", "--note", "all is well"}, {"--session", "s31"}, {"--commit", "c31"}} {
		got := baseline(append([]string{"accept"}, which...)...)
		if got.Status != exit.StatusPass || !strings.HasPrefix(got.Stdout, "accepted: 0 runs") || !strings.Contains(got.Stdout, "1 is not accepted: the gate refused it as a regression, ") {
			t.Errorf("accept %v: %+v", which, got)
		}
	}
	clitest.Fails(t, baseline("accept", r.ID), exit.StatusUsage, "can't be accepted without a reason: the gate's verdict: regression", "--note")
	if listed := baseline("list", "--by", "run", "--state", "rejected"); !strings.Contains(listed.Stdout, r.ID) || !strings.Contains(listed.Stdout, "regression") {
		t.Errorf("the list: %+v", listed)
	}
	if again, _ := p.open("worse", 32, p.base()...); again.Verdict != gate.Regression {
		t.Errorf("the same build again is %s: %s", again.Verdict, again.Reason)
	}
	if got := baseline("accept", r.ID, "--note", "the new list is worth it"); got.Status != exit.StatusPass || !strings.HasPrefix(got.Stdout, "accepted: 1 run ") {
		t.Errorf("accepted with a note: %+v", got)
	}
	if got := baseline("accept", "--session", "s32", "--note", "so is this one"); !strings.HasPrefix(got.Stdout, "accepted: 1 run ") {
		t.Errorf("a session accepted with a note: %+v", got)
	}
	if got := baseline("rebaseline", "--session", "s32"); got.Status != exit.StatusPass || !strings.HasPrefix(got.Stdout, "rebaselined: 1 run ") {
		t.Errorf("as a new level: %+v", got)
	}
	if r, _ := p.open("worse", 33); r.Verdict == gate.Regression {
		t.Errorf("once it is the level, it is a regression: %s", r.Reason)
	}
}
