package faulttest_test

import (
	"bufio"
	"strings"
	"syscall"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// A build server that ends a job sends SIGTERM: the run ends in order, reports it, and stored runs
// are kept.
func TestTerminatedRunEndsInOrder(t *testing.T) {
	t.Parallel()
	l := clitest.NewLab(t, "demo-good", "")
	l.Edit("repetitions: 2", "repetitions: 1000") // it continues for long after the first warning
	l.Edit("simulated: "+clitest.FaultyPhone, "simulated: nexus-4-android-4.3")
	before := l.Export()
	cmd, said := clitest.Start(t, "run", "--config", l.Path("apkgate.yml"), "--store", l.Path("history.db"))
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
	if status := cmd.ProcessState.ExitCode(); status != exit.StatusInfrastructure {
		t.Errorf("exit status %d, want %d\n%s", status, exit.StatusInfrastructure, text)
	}
	if !strings.Contains(text, "interrupted") || strings.Contains(text, "context canceled") {
		t.Errorf("want the interrupt in plain words:\n%s", text)
	}
	for context, status := range l.Kept(before) {
		if status == "complete" {
			t.Errorf("the run of %s counts as whole", context)
		}
	}
}
