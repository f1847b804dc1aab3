package cli

import (
	"bufio"
	"strings"
	"syscall"
	"testing"
)

// A build server that ends a job sends SIGTERM: the run ends in order, says so,
// and what was kept stays.
func TestATerminatedRunEndsInOrder(t *testing.T) {
	t.Parallel()
	l := newFaultLab(t, "demo-good", "")
	l.edit("repetitions: 2", "repetitions: 1000") // it is at it for long after the first warning
	l.edit("simulated: "+faultyPhone, "simulated: nexus-4-android-4.3")
	before := l.export()
	cmd, said := startApkgate(t, "run", "--config", l.path("apkgate.yml"), "--store", l.path("history.db"))
	var lines []string
	for in := bufio.NewScanner(said); in.Scan(); {
		if lines = append(lines, in.Text()); len(lines) == 1 {
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	text := strings.Join(lines, "\n")
	if status := cmd.ProcessState.ExitCode(); status != exitInfrastructure {
		t.Errorf("exit status %d, want %d\n%s", status, exitInfrastructure, text)
	}
	if !strings.Contains(text, "interrupted") || strings.Contains(text, "context canceled") {
		t.Errorf("want the interrupt in plain words:\n%s", text)
	}
	for context, status := range l.kept(before) {
		if status == "complete" {
			t.Errorf("the run of %s counts as whole", context)
		}
	}
}
