package desktop

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/lease"
	standins "github.com/apkgate/apkgate/simulator/standin/genymotion"
)

// childVariable names the folder of leases of a process that boots a device and then does
// nothing for ever; childExisting the device, where it is one that is there.
const (
	childVariable = "APKGATE_TEST_BOOTS_DESKTOP"
	childExisting = "APKGATE_TEST_BOOTS_EXISTING"
)

func TestMain(m *testing.M) {
	if leases := os.Getenv(childVariable); leases != "" {
		os.Exit(bootForEver(leases))
	}
	os.Exit(m.Run())
}

func bootForEver(leases string) int {
	b := benchOn(nil, leases)
	spec := pixel
	if name := os.Getenv(childExisting); name != "" {
		spec = boot.Spec{Existing: name}
	}
	held, err := lease.Take(leases, Kind, "")
	if err == nil {
		_, err = b.Boot(context.Background(), spec, held, b.tell)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("up")
	select {}
}

// killedAt starts a process that boots a device, and kills it at a point: while a command
// is held, or where that is "" once it is up.
func (b *bench) killedAt(t *testing.T, point, existing string) {
	t.Helper()
	if point != "" {
		b.standin.Breaks(point, 1)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(b.standin.Environment(), childVariable+"="+b.leases, childExisting+"="+existing)
	said, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if point != "" {
		b.awaitHeld(t)
	} else if line, err := bufio.NewReader(said).ReadString('\n'); line != "up\n" {
		t.Errorf("it says %q, %v", line, err)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
}

// awaitHeld waits until a command is held.
func (b *bench) awaitHeld(t *testing.T) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		if _, err := os.Stat(b.standin.Path(standins.HoldsAt)); err == nil {
			return
		}
		if time.Now().After(until) {
			t.Error("a minute later no command is held")
			return
		}
	}
}

// clean does with the leases that are left what apkgate devices clean does.
func (b *bench) clean(t *testing.T, left ...string) {
	t.Helper()
	leases, err := lease.List(b.leases)
	if err != nil || len(leases) != 1 {
		t.Fatalf("leases %+v, %v; want that of the killed process", leases, err)
	}
	held, err := reclaim(b.leases, leases[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	b.release(t, held.Lease(), left...)
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	if left := b.standin.Instances(); len(left) > 0 {
		t.Errorf("phones still run: %+v", left)
	}
}

// Killed between any two steps of a boot, apkgate leaves a lease by which everything is
// found that was created or started, and nothing else is touched.
func TestNothingIsLeftOfAKilledBoot(t *testing.T) {
	t.Parallel()
	points := []string{"", standins.Held("halfway", "admin start")}
	for _, command := range []string{"admin hwprofiles", "admin osimages", "admin create", "admin start", "admin list"} {
		points = append(points, standins.Held("before", command))
	}
	for _, command := range []string{"admin create", "admin start"} {
		points = append(points, standins.Held("after", command))
	}
	created, runs := 0, 0
	for _, point := range points {
		b := newBench(t)
		b.add(t, "Mine")
		b.killedAt(t, point, "")
		created += len(b.there(t)) - 1
		runs += len(b.standin.Instances())
		b.clean(t, "Mine")
	}
	if created < 6 || runs < 4 {
		t.Errorf("of the killed processes %d had created a device and %d started it: the test tests little", created, runs)
	}
}

// Of a device that was there, only what was started is stopped.
func TestADeviceThatIsThereStaysAfterAKill(t *testing.T) {
	t.Parallel()
	runs := 0
	for _, point := range []string{"", standins.Held("before", "admin list"), standins.Held("before", "admin start"), standins.Held("halfway", "admin start"), standins.Held("after", "admin start")} {
		b := newBench(t)
		b.add(t, "Mine")
		b.killedAt(t, point, "Mine")
		runs += len(b.standin.Instances())
		b.clean(t, "Mine")
	}
	if runs < 3 {
		t.Errorf("only %d of the killed processes had started the device", runs)
	}
}

// A device that ran before goes on after a kill.
func TestADeviceThatRanGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "Mine")
	if _, err := b.Boot(t.Context(), boot.Spec{Existing: "Mine"}, b.take(t), b.tell); err != nil {
		t.Fatal(err)
	}
	other := &bench{Lab: b.Lab, standin: b.standin, leases: t.TempDir()}
	other.killedAt(t, "", "Mine")
	leases, err := lease.List(other.leases)
	if err != nil || len(leases) != 1 {
		t.Fatal(leases, err)
	}
	if err := b.Stop(t.Context(), leases[0], b.tell); err != nil || !b.there(t)["Mine"] {
		t.Errorf("it is stopped: %v, %v", b.there(t), err)
	}
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
