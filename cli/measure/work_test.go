package measure_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/usecase/exit"
)

// On an emulator with a hosted runner's noise, a build that does a tenth more work, and takes a
// tenth longer for its frames, is not found by its times in thirty rounds; by the layouts that it
// inflates it fails at the first look at which any number can, and an unchanged build passes.
func TestRunGatesByWorkOnANoisyEmulator(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("measures rounds")
	}
	const (
		inflates = "work inflate 500us after open-list,scroll,open-message,scroll-message,back every 8"
		byWork   = "gate: {metrics: [work.inflations, work.transactions]}\n"
		// One open question may fail first at a tenth of 0.9 of 1 %: 11 rounds that all go one way
		// have a chance of 2⁻¹¹ < 0.0009, and a plan has one more, and an even number.
		firstLook = 12
	)
	p := &pullRequests{t: t, dir: clitest.SimulatedBuilds(t, "sdk-gphone64-x86-android-14")}
	text := clitest.ReadFile(t, p.path("demo-good.apk"))
	text = regexp.MustCompile(`(?m)^noise .*`).ReplaceAllString(text, "noise session 10% repetition 15% frame 14% tail 0.4%x3\n"+inflates)
	clitest.WriteFile(t, p.path("base.apk"), text)
	clitest.WriteFile(t, p.path("worse.apk"), strings.NewReplacer("cost 7ms", "cost 7.7ms", "every 8", "every 7").Replace(text))
	config := clitest.ReadFile(t, p.path("apkgate.yml")) + "rounds: {max: 30}\nevidence: {keep: worst}\n"
	clitest.WriteFile(t, p.path("apkgate.yml"), config+byWork)
	p.accept(8)

	r, got := p.open("base", 31, p.base()...)
	if got.Status != exit.StatusPass || r.Verdict != gate.Pass {
		t.Errorf("unchanged: exit status %d, %s: %s", got.Status, r.Verdict, r.Reason)
	}
	r, got = p.open("worse", 32, p.base()...)
	if got.Status != exit.StatusRegression || r.Rounds == nil || r.Rounds.Measured > firstLook || r.Deviations[0].Metric != "work.inflations" {
		t.Errorf("a tenth more work: exit status %d, %s after %+v", got.Status, r.Reason, r.Rounds)
	}
	clitest.WriteFile(t, p.path("apkgate.yml"), config)
	r, got = p.open("worse", 33, p.base()...)
	if got.Status != exit.StatusPass || r.Verdict == gate.Regression {
		t.Errorf("by its times: exit status %d, %s: %s", got.Status, r.Verdict, r.Reason)
	}
}

// For a pull request whose frames take longer, and which inflates more layouts, both are reported;
// more work alone is not reported, and fails nothing.
func TestRunReportsWorkWithLongerFrames(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("measures rounds")
	}
	p := &pullRequests{t: t, dir: clitest.SimulatedBuilds(t, aPhone)}
	text := clitest.ReadFile(t, p.path("demo-good.apk"))
	text = regexp.MustCompile(`(?m)^noise .*`).ReplaceAllString(text, "noise "+quiet+" frame 14% tail 0.4%x3\nwork inflate 100us after open-list,scroll,open-message,scroll-message,back every 8")
	more := strings.Replace(text, "every 8", "every 6", 1)
	clitest.WriteFile(t, p.path("base.apk"), text)
	clitest.WriteFile(t, p.path("more.apk"), more)
	clitest.WriteFile(t, p.path("worse.apk"), strings.Replace(more, "cost 7ms", "cost 8.4ms", 1))
	clitest.WriteFile(t, p.path("apkgate.yml"), clitest.ReadFile(t, p.path("apkgate.yml"))+"evidence: {keep: worst}\n")
	p.accept(9)
	const told = "more layouts inflated ("
	r, got := p.open("worse", 31, append(p.base(), "--verbose")...)
	if got.Status != exit.StatusRegression || !strings.Contains(strings.Join(strings.Fields(got.Stdout), " "), told) {
		t.Errorf("longer frames: exit status %d, %s, more work %+v\n%s", got.Status, r.Reason, r.Work, got.Stdout)
	}
	r, got = p.open("more", 32, p.base()...)
	if got.Status != exit.StatusPass || len(r.Work) == 0 || strings.Contains(got.Stdout, "layouts inflated") {
		t.Errorf("more work alone: exit status %d, %s, more work %+v\n%s", got.Status, r.Reason, r.Work, got.Stdout)
	}
}
