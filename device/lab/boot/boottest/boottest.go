// Package boottest provides what the tests of labs have in common: the reported progress, the
// leases under which a lab boots, and a boot that is killed with its process.
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

// Bench is a folder of leases for a lab of a kind, and the lab's progress messages.
type Bench struct {
	Kind   string
	Leases string

	mu   sync.Mutex
	told []string
}

// Tell receives progress messages.
func (b *Bench) Tell(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, line)
}

// Told returns the progress messages so far.
func (b *Bench) Told() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.told)
}

// Heard reports whether a progress message so far contains the part.
func (b *Bench) Heard(part string) bool {
	return slices.ContainsFunc(b.Told(), func(line string) bool { return strings.Contains(line, part) })
}

// Take takes a lease that is released after the test.
func (b *Bench) Take(t *testing.T) *lease.Held {
	t.Helper()
	held, err := lease.Take(b.Leases, b.Kind, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(held.Leave)
	return held
}

// Clean cleans up the remaining leases like apkgate devices clean: stop must stop what each
// names. It returns their number.
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

// reclaim takes over the lease of a killed process: a program that it was just starting may
// hold the lock for another moment.
func reclaim(leases, id string) (held *lease.Held, err error) {
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		if held, err = lease.Reclaim(leases, id); !errors.Is(err, lease.ErrInUse) {
			break
		}
	}
	return held, err
}

// leasesVariable is the variable with a child's folder of leases.
const leasesVariable = "APKGATE_TEST_BOOTS_IN"

// Child makes a process that Kill has started boot and then block for ever; it does nothing in
// other processes. TestMain calls it.
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

// Kill starts a process that boots under a lease of the bench, with the environment, and kills
// it once await returns, or once the device is up if await is nil.
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

// AwaitFile waits until a file exists, such as the one that a blocked stand-in creates.
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
