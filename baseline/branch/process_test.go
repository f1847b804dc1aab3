//go:build unix

package branch_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/baseline/branch"
)

func init() {
	if len(os.Args) > 1 && os.Args[1] == writerArg {
		writeUntilKilled()
		os.Exit(0)
	}
}

// writerArg makes the test's program a writer.
const writerArg = "write-until-killed"

// writeUntilKilled adds runs to a history one by one and prints the id of each
// that is acknowledged. Its arguments are the remote, the folder of the copy and
// how its runs' ids begin.
func writeUntilKilled() {
	ctx := context.Background()
	remote, dir, prefix := os.Args[2], os.Args[3], os.Args[4]
	s, err := branch.Open(ctx, branch.Address{Remote: remote, Branch: "history"}, branch.Options{Dir: dir})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	for i := 0; ; i++ {
		added, err := s.Add(ctx, newRun(fmt.Sprintf("%s-%04d", prefix, i), float64(i)))
		if err != nil || len(added) != 1 {
			fmt.Println("error", added, err)
			return
		}
		fmt.Println("added", added[0])
	}
}

// TestKilledWriterLosesNothing kills a writer and the git that it runs, many
// times, each time at another instant. The next one goes on with its copy.
func TestKilledWriterLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	remote, dir := newRemote(t), t.TempDir()
	random := rand.New(rand.NewPCG(3, 4))
	acknowledged := map[string]bool{}
	for attempt := range 15 {
		cmd := exec.Command(os.Args[0], writerArg, remote, dir, fmt.Sprint("w", attempt))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Every other time the git dies too. On a remote that is a folder, that
		// includes the git of the other side, as it would not on a server.
		whom := cmd.Process.Pid
		if attempt%2 == 0 {
			whom = -whom
		}
		kill := func() { syscall.Kill(whom, syscall.SIGKILL) }
		lines := bufio.NewScanner(out)
		var timer *time.Timer
		for lines.Scan() {
			verb, rest, _ := strings.Cut(lines.Text(), " ")
			if verb != "added" {
				t.Errorf("attempt %d: %s", attempt, lines.Text())
				break
			}
			acknowledged[rest] = true
			if timer == nil { // within the next two or three pushes
				timer = time.AfterFunc(time.Duration(random.IntN(300))*time.Millisecond, kill)
			}
		}
		kill()
		cmd.Wait()
		if whom < 0 {
			os.Remove(filepath.Join(remote, "refs/heads/history.lock"))
		}
	}
	s := open(t, remote)
	there := map[string]bool{}
	for _, line := range ids(t, s) {
		there[strings.Fields(line)[0]] = true
	}
	for id := range acknowledged {
		if !there[id] {
			t.Errorf("run %s was acknowledged and is not there", id)
		}
	}
	if len(acknowledged) < 15 {
		t.Errorf("only %d runs were acknowledged", len(acknowledged))
	}
	wantWhole(t, s)
	wantWhole(t, openIn(t, dir, remote))
}
