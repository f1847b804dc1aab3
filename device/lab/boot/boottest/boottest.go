// Package boottest is what the tests of labs have in common: what a lab tells, the leases
// under which it boots, and a boot that is killed with its process.
//
// What a lab boots, and how a stand-in of it is made, is the affair of each.
package boottest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/lab/lease"
)

// Bench is a folder of leases for a lab of the kind, and what the lab tells.
type Bench struct {
	Kind   string
	Leases string

	mu   sync.Mutex
	told []string
}

// Tell is told of progress.
func (b *Bench) Tell(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, line)
}

// Told are the lines so far.
func (b *Bench) Told() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.told)
}

// Heard reports whether a line so far has the part.
func (b *Bench) Heard(part string) bool {
	return slices.ContainsFunc(b.Told(), func(line string) bool { return strings.Contains(line, part) })
}

// Take takes a lease that is given back after the test.
func (b *Bench) Take(t *testing.T) *lease.Held {
	t.Helper()
	held, err := lease.Take(b.Leases, b.Kind, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(held.Leave)
	return held
}

// Clean does with the leases that are left what apkgate devices clean does: stop must stop
// what each names. It returns how many there were.
func (b *Bench) Clean(t *testing.T, stop func(lease.Lease)) int {
	t.Helper()
	leases, err := lease.List(b.Leases)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leases {
		held, err := reclaim(b.Leases, l.ID)
		if err != nil {
			t.Fatal(err)
		}
		stop(held.Lease())
		if err := held.Release(); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := lease.List(b.Leases); err != nil || len(left) > 0 {
		t.Errorf("leases are left: %+v, %v", left, err)
	}
	return len(leases)
}

// reclaim holds the lease of a process that was killed: a program that it was just starting
// may have the lock for a moment more.
func reclaim(leases, id string) (held *lease.Held, err error) {
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		if held, err = lease.Reclaim(leases, id); !errors.Is(err, lease.ErrInUse) {
			break
		}
	}
	return held, err
}

// leasesVariable names to a child its folder of leases.
const leasesVariable = "APKGATE_TEST_BOOTS_IN"

// Child makes of a process that Kill has started one that boots and then does nothing for
// ever; of others nothing. TestMain calls it.
func Child(kind string, boots func(b *Bench, held *lease.Held) error) {
	b := &Bench{Kind: kind, Leases: os.Getenv(leasesVariable)}
	if b.Leases == "" {
		return
	}
	held, err := lease.Take(b.Leases, kind, "")
	if err == nil {
		err = boots(b, held)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("up")
	select {}
}

// Kill starts a process that boots under a lease of the bench, in that environment, and kills
// it once await returns, where that is nil once it is up.
func (b *Bench) Kill(t *testing.T, environment []string, await func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(slices.Clone(environment), leasesVariable+"="+b.Leases)
	said, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if await != nil {
		await()
	} else if line, err := bufio.NewReader(said).ReadString('\n'); line != "up\n" {
		t.Errorf("it says %q, %v", line, err)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
}

// AwaitFile waits until a file is there, as one that a stand-in makes where it is held.
func AwaitFile(t *testing.T, path string) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(until) {
			t.Errorf("a minute later there is no %s", path)
			return
		}
	}
}
