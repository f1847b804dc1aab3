package saas

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/boot/boottest"
	"github.com/apkgate/apkgate/device/lab/lease"

	standins "github.com/apkgate/apkgate/simulator/standin/genymotion"
)

func TestMain(m *testing.M) {
	boottest.Child(Kind, func(its *boottest.Bench, held *lease.Held) error {
		_, err := benchOn(map[string]string{}, nil, its.Leases).Boot(context.Background(), pixel, held, its.Tell)
		return err
	})
	os.Exit(m.Run())
}

// killedAt starts a process that boots an instance, and kills it at a point: while a command
// is blocked, or once the instance is up for "".
func (b *bench) killedAt(t *testing.T, point string) {
	t.Helper()
	if point == "" {
		b.Kill(t, b.standin.Environment(), nil)
		return
	}
	b.standin.Breaks(point, 1)
	b.Kill(t, b.standin.Environment(), func() { boottest.AwaitFile(t, b.standin.Path(standins.HoldsAt)) })
}

// clean stops what the leases name that are left.
func (b *bench) clean(t *testing.T) {
	t.Helper()
	b.Clean(t, func(l lease.Lease) { b.release(t, l) })
	if left := b.cloud(t); len(left) > 0 {
		t.Errorf("the platform still lists %+v", left)
	}
}

// Killed between any two steps of a boot, apkgate leaves a lease by which everything that was
// started is found.
func TestNothingIsLeftOfAKilledBoot(t *testing.T) {
	t.Parallel()
	points := []string{""}
	for _, command := range []string{"instances list", "recipes list", "instances start", "instances adbconnect"} {
		points = append(points, standins.Held("before", command))
	}
	points = append(points, standins.Held("halfway", "instances start"), standins.Held("after", "instances start"), standins.Held("after", "instances adbconnect"))
	started := 0
	for _, point := range points {
		b := newBench(t)
		b.killedAt(t, point)
		started += len(b.cloud(t))
		b.clean(t)
	}
	if started < 5 { // up, halfway, after start, before and after adbconnect
		t.Errorf("only %d of the killed processes had started an instance: the test tests nothing", started)
	}
}

// If the system does not end gmsaas together with apkgate, the cleanup does.
func TestStopEndsAnOrphan(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	held := b.Take(t)
	if err := held.Note(noteAsked, boot.Now()); err != nil {
		t.Fatal(err)
	}
	b.standin.Breaks(standins.Held("before", "instances start"), 1)
	orphan := b.gmsaas(held.ID())
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	boottest.AwaitFile(t, b.standin.Path(standins.HoldsAt))
	ended := make(chan struct{})
	go func() { _ = orphan.Wait(); close(ended) }()
	b.release(t, held.Lease())
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the orphan is still running")
	}
}

// gmsaas starts an instance with the name.
func (b *bench) gmsaas(name string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(b.standin.Bin, "gmsaas"), "--format", "compactjson", "instances", "start", standins.CloudRecipes[0].UUID, name)
	cmd.Env = b.standin.Environment()
	return cmd
}

// An instance that the platform lists only some time after the request is waited for.
func TestStopWaitsForALateInstance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.mayAppear = 2 * time.Hour
	held := b.Take(t)
	if err := held.Note(noteAsked, boot.Now()); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- b.Stop(t.Context(), held.Lease(), b.Tell) }()
	for b.calls("instances list") < 2 {
		time.Sleep(time.Millisecond)
	}
	if out, err := b.gmsaas(held.ID()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for len(b.cloud(t)) > 0 {
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-stopped:
		t.Errorf("it is not waited for what may still come: %v", err)
	default:
	}
	b.standin.Breaks(standins.SaaSLoggedOut, 1) // ends the wait
	if err := <-stopped; err == nil || !strings.Contains(err.Error(), "no authentication set") {
		t.Error(err)
	}
	if err := held.Note(noteAsked, time.Now().Add(-3*time.Hour).UTC().Format(time.RFC3339)); err != nil {
		t.Fatal(err)
	}
	b.release(t, held.Lease())
}

// No lease contains the account's token.
func TestTokenIsInNoLease(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.killedAt(t, "")
	files, err := filepath.Glob(filepath.Join(b.Leases, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), token) {
			t.Errorf("%s: %v\n%s", file, err, text)
		}
	}
	b.clean(t)
}
