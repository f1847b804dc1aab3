package phone

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/simapp"
)

func TestCommandsRunInTheBackground(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", "")
	before := p.Clock().Now()
	pid := strings.TrimSpace(output(t, p, "{ sleep 5; echo late; } > /data/local/tmp/out & echo $!"))
	if took := p.Clock().Now() - before; took > 100*time.Millisecond {
		t.Errorf("the shell waited %v for what runs in the background", took)
	}
	output(t, p, "kill -0 "+pid)
	pass(t, p, 6*time.Second)
	if out := output(t, p, "cat /data/local/tmp/out"); out != "late\n" {
		t.Errorf("it wrote %q", out)
	}
	if _, errs, code := run(t, p, "kill -0 "+pid); code != 1 || !strings.Contains(errs, "No such process") {
		t.Errorf("kill -0 of what has ended: exit code %d, %q", code, errs)
	}
}

func TestAndListsInTheBackground(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", "")
	out := output(t, p, "false && echo never & true || echo neither; echo here")
	if out != "here\n" {
		t.Errorf("the shell prints %q", out)
	}
	s := start(p, "sleep 2 & sleep 3 & wait; echo all")
	pass(t, p, 2500*time.Millisecond)
	if s.out.Len() > 0 {
		t.Error("wait did not wait for the second")
	}
	if finish(t, p, s); s.out.String() != "all\n" {
		t.Errorf("after wait: %q", s.out.String())
	}
}

func TestSignalsReachTheirProcess(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", still)
	output(t, p, "sleep 60 & sleep 60 &")
	if err := p.Clock().Sleep(context.Background(), time.Second); err != nil {
		t.Fatal(err)
	}
	if _, _, code := run(t, p, "pkill -l SIGINT nothing"); code != 1 {
		t.Errorf("pkill of nothing: exit code %d", code)
	}
	output(t, p, "am start -W com.example.still/.MainActivity")
	output(t, p, "pkill -9 -f com.example.still")
	if _, _, code := run(t, p, "pidof com.example.still"); code != 1 {
		t.Error("the app outlives a signal")
	}
	output(t, p, "pkill sh")
	if _, _, code := run(t, p, "pidof sh"); code != 1 {
		t.Error("what runs in the background outlives a signal")
	}
}

func TestHangUpEndsAttachedJobs(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", "")
	ctx, cancel := context.WithCancel(context.Background())
	wait := p.Start(ctx, "sleep 60 & nohup sleep 60 & setsid sleep 60 & sleep 60", strings.NewReader(""), new(strings.Builder), new(strings.Builder))
	pass(t, p, time.Second)
	if n := len(strings.Fields(output(t, p, "pidof sh"))); n != 3 {
		t.Fatalf("%d command lines run in the background, want 3", n)
	}
	cancel()
	wait()
	if n := len(strings.Fields(output(t, p, "pidof sh"))); n != 2 {
		t.Errorf("%d command lines outlive their connection, want 2", n)
	}
}

func TestRestartEndsRecorders(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", hungry)
	record(t, p)
	output(t, p, "am start -W com.example.still/.MainActivity")
	output(t, p, "nohup simpleperf record --app com.example.still -e task-clock -o "+perfFile+" --duration 30 >/dev/null 2>&1 &")
	pass(t, p, time.Second)
	output(t, p, "pidof perfetto && pidof simpleperf")
	p.Break(simapp.Fault{Kind: simapp.Reboot})
	pass(t, p, time.Minute)
	if out, _, code := run(t, p, "pidof perfetto || pidof simpleperf"); code == 0 {
		t.Errorf("recorders outlive a restart: %s", out)
	}
	if out := output(t, p, "cat "+traceFile+"; ls /data/local/tmp"); strings.Contains(out, "a.data") || len(out) > 100 {
		t.Errorf("what was not written before the restart is there after it: %.200q", out)
	}
}

// The client of a command that ends while another command runs is notified before that one
// answers: so measurements do not depend on scheduling.
func TestEndIsDeliveredBeforeLaterAnswers(t *testing.T) {
	p := newPhone(t, "c1-go-android-11", still)
	s := start(p, instrument)
	pass(t, p, 6*time.Second)
	for p.state.running["com.example.still"] != nil {
		output(t, p, "dumpsys gfxinfo com.example.still")
	}
	p.mu.Lock()
	untold := len(p.host.TakeFinished())
	p.mu.Unlock()
	if untold > 0 {
		t.Errorf("%d command lines ended, and nobody was told", untold)
	}
	if code := finish(t, p, s); code != 0 {
		t.Errorf("the instrumentation ends with %d", code)
	}
}
