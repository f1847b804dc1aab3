//go:build unix

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// waitingForSignals is the variable by which a test starts its own binary as a process that only
// waits for signals as apkgate does.
const waitingForSignals = "APKGATE_TEST_WAITING"

func init() {
	if os.Getenv(waitingForSignals) == "" {
		return
	}
	ctx, _ := interruptible()
	fmt.Println("waiting")
	<-ctx.Done()
	fmt.Println("interrupted")
	_, _ = io.Copy(os.Stdout, os.Stdin) // signals that it is ready
	select {}                           // busy with devices that don't answer
}

// A second signal of the same kind ends the process at once, as the system does by default. The
// SIGTERM of a runner, after its SIGINT, leaves the process the time until SIGKILL.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, between, last syscall.Signal }{
		"Ctrl-C twice":              {syscall.SIGINT, 0, syscall.SIGINT},
		"SIGTERM twice":             {syscall.SIGTERM, 0, syscall.SIGTERM},
		"a runner, and then Ctrl-C": {syscall.SIGINT, syscall.SIGTERM, syscall.SIGINT},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), waitingForSignals+"=1")
			in, errIn := cmd.StdinPipe()
			out, errOut := cmd.StdoutPipe()
			if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
				t.Fatal(err)
			}
			said := bufio.NewReader(out)
			hear := func(want string) {
				t.Helper()
				if line, err := said.ReadString('\n'); line != want+"\n" {
					t.Fatalf("it says %q, %v, want %q", line, err, want)
				}
			}
			hear("waiting")
			_ = cmd.Process.Signal(c.first)
			hear("interrupted")
			if c.between != 0 {
				_ = cmd.Process.Signal(c.between)
				fmt.Fprintln(in, "there?")
				hear("there?")
			}
			_ = cmd.Process.Signal(c.last)
			_ = cmd.Wait()
			if status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != c.last {
				t.Errorf("it ended with %v, want by %v", cmd.ProcessState, c.last)
			}
		})
	}
}
