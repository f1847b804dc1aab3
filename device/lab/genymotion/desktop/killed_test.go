package desktop

import (
	"context"
	"os"
	"testing"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/boot/boottest"
	"github.com/apkgate/apkgate/device/lab/lease"
	standins "github.com/apkgate/apkgate/simulator/standin/genymotion"
)

// childExisting is the variable with the existing device that a child boots, if any.
const childExisting = "APKGATE_TEST_BOOTS_EXISTING"

func TestMain(m *testing.M) {
	boottest.Child(Kind, func(its *boottest.Bench, held *lease.Held) error {
		spec := pixel
		if name := os.Getenv(childExisting); name != "" {
			spec = boot.Spec{Existing: name}
		}
		_, err := benchOn(nil, its.Leases).Boot(context.Background(), spec, held, its.Tell)
		return err
	})
	os.Exit(m.Run())
}

// killedAt starts a process that boots a device, and kills it at a point: while a command is
// blocked, or once the device is up for "".
func (b *bench) killedAt(t *testing.T, point, existing string) {
	t.Helper()
	environment := append(b.standin.Environment(), childExisting+"="+existing)
	if point == "" {
		b.Kill(t, environment, nil)
		return
	}
	b.standin.Breaks(point, 1)
	b.Kill(t, environment, func() { boottest.AwaitFile(t, b.standin.Path(standins.HoldsAt)) })
}

// clean stops what the lease names that is left.
func (b *bench) clean(t *testing.T, left ...string) {
	t.Helper()
	if n := b.Clean(t, func(l lease.Lease) { b.release(t, l, left...) }); n != 1 {
		t.Errorf("%d leases, want that of the killed process", n)
	}
	if left := b.standin.Instances(); len(left) > 0 {
		t.Errorf("phones still run: %+v", left)
	}
}

// Killed between any two steps of a boot, apkgate leaves a lease by which everything that was
// created or started is found, and nothing else is affected.
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

// Of an existing device, only what was started is stopped.
func TestExistingDeviceStaysAfterAKill(t *testing.T) {
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

// A device that was already running keeps running after a kill.
func TestRunningDeviceKeepsRunningAfterAKill(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "Mine")
	if _, err := b.Boot(t.Context(), boot.Spec{Existing: "Mine"}, b.Take(t), b.Tell); err != nil {
		t.Fatal(err)
	}
	other := &bench{b.Lab, &boottest.Bench{Kind: Kind, Leases: t.TempDir()}, b.standin}
	other.killedAt(t, "", "Mine")
	leases, err := lease.List(other.Leases)
	if err != nil || len(leases) != 1 {
		t.Fatal(leases, err)
	}
	if err := b.Stop(t.Context(), leases[0], b.Tell); err != nil || !b.there(t)["Mine"] {
		t.Errorf("it is stopped: %v, %v", b.there(t), err)
	}
}
