//go:build unix

package gitbranch_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/gitbranch"
	"github.com/apkgate/apkgate/runstore/storetest"
)

func init() {
	if len(os.Args) > 1 && os.Args[1] == writerArg {
		writeUntilKilled()
		os.Exit(0)
	}
}

// writerArg makes the test's program a writer.
const writerArg = "write-until-killed"

// writeUntilKilled adds runs to a history one by one and prints the id of each that is
// acknowledged. Its arguments are the remote, the folder of the copy and the prefix of its runs'
// ids.
func writeUntilKilled() {
	ctx := context.Background()
	remote, dir, prefix := os.Args[2], os.Args[3], os.Args[4]
	s, err := gitbranch.Open(ctx, gitbranch.Address{Remote: remote, Branch: "history"}, gitbranch.Options{Dir: dir})
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

// TestKilledWriterLosesNothing kills a writer and its git, many times, each time at another
// instant. The next one continues with its copy.
func TestKilledWriterLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	attempts := 6
	if os.Getenv("APKGATE_FULL") != "" {
		attempts = 15
	}
	remote, dir := newRemote(t), t.TempDir()
	random := rand.New(rand.NewPCG(3, 4))
	acknowledged := map[string]bool{}
	for attempt := range attempts {
		cmd := exec.Command(os.Args[0], writerArg, remote, dir, fmt.Sprint("w", attempt))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Every other time the git dies too. On a remote that is a folder, that includes the git of
		// the other side, unlike on a server.
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
	if len(acknowledged) < attempts {
		t.Errorf("only %d runs were acknowledged", len(acknowledged))
	}
	wantWhole(t, s)
	wantWhole(t, openIn(t, dir, remote))
}

// TestOrphanedGitIsAwaited kills only a writer while its git works on in the private repository.
// The next writer waits for it.
func TestOrphanedGitIsAwaited(t *testing.T) {
	remote, dir, bin := newRemote(t), t.TempDir(), t.TempDir()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	began, ended := filepath.Join(bin, "began"), filepath.Join(bin, "ended")
	// At its first push, this git holds a lock and writes on and on.
	script := fmt.Sprintf(`#!/bin/sh
if [ "$1" = push ] && mkdir %[1]q 2>/dev/null; then
	: > "$GIT_DIR/orphan.lock"
	for i in $(seq 300); do
		mkdir -p "$GIT_DIR/objects/zz" && : > "$GIT_DIR/objects/zz/$i"
	done
	: > %[2]q
	exit 1
fi
exec %[3]q "$@"
`, began, ended, real)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], writerArg, remote, dir, "w")
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(began); err == nil {
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	s := openIn(t, dir, remote)
	if _, err := os.Stat(ended); err != nil {
		t.Error("the copy was opened while a git was still at work in it")
	}
	if _, err := s.Add(t.Context(), newRun("after", 1)); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, s)
}

// A git that does not end is reported, and does not block others forever.
func TestOrphanedGitHangs(t *testing.T) {
	remote, dir := newRemote(t), t.TempDir()
	openIn(t, dir, remote).Close()
	locks, err := filepath.Glob(filepath.Join(dir, "*", "repo.lock"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("%q, %v, want one lock", locks, err)
	}
	held, err := os.Open(locks[0])
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	_, err = gitbranch.Open(t.Context(), gitbranch.Address{Remote: remote, Branch: "history"}, gitbranch.Options{Dir: dir, Wait: 50 * time.Millisecond})
	if !errors.Is(err, runstore.ErrBusy) || !strings.Contains(err.Error(), "git") {
		t.Errorf("%v, want an error that names a git at work", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = gitbranch.Open(ctx, gitbranch.Address{Remote: remote, Branch: "history"}, gitbranch.Options{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
}

// See storetest.Writers. Every other time the git of the killed writer dies too, but not that of
// the other side, which on a server would go on: a server's git is not connected to a pipe that
// breaks with the writer's, which now and then would end it between creating and registering a
// lock.
func TestKilledWritersWithOtherClocks(t *testing.T) {
	remote := newRemote(t)
	server := filepath.Join(t.TempDir(), "server")
	const lasting = `#!/bin/sh
exec setsid sh -c 'git-receive-pack "$1" 2>/dev/null | { trap "" PIPE; cat; cat >/dev/null; } 2>/dev/null' server "$@"
`
	if err := os.WriteFile(server, []byte(lasting), 0o755); err != nil {
		t.Fatal(err)
	}
	w := storetest.Writers{
		Address: remote,
		Open:    func(t *testing.T) runstore.Store { return open(t, remote) },
		Start: func(cmd *exec.Cmd) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			// TestMain has set the first one.
			cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_1=remote.history.receivepack", "GIT_CONFIG_VALUE_1="+server)
		},
		Kill: func(cmd *exec.Cmd, random *rand.Rand) {
			whom := cmd.Process.Pid
			if random.IntN(2) == 0 {
				whom = -whom
			}
			syscall.Kill(whom, syscall.SIGKILL)
		},
	}
	w.Processes, w.Runs, w.Batch = storetest.Sizes(5)
	w.Run(t)
}
