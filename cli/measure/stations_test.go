package measure_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/exit"
)

// onPixels are the runs of three networks on so many identical simulated phones, as a command line
// with these faults measures them.
func onPixels(t *testing.T, device, faults string, status int) (runs []run.Run, got clitest.Result) {
	t.Helper()
	l := clitest.NewLab(t, "demo-good", "")
	l.ConfigurePhones("demo-good", clitest.Text(device), "wifi", "3g", "lte")
	got = clitest.WithFaults(t, faults, "collect", "--config", l.Path("apkgate.yml"))
	if got.Status != status {
		t.Fatalf("exit status %d, want %d\n%s", got.Status, status, got.Stderr)
	}
	for line := range strings.Lines(got.Stdout) {
		r, err := run.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	return runs, got
}

const threePixels = "  - {simulated: pixel-7-android-14, name: pixel, count: 3}\n"

// Identical phones share the work: the runs are those that one phone would have made, in the same
// order.
func TestIdenticalPhonesShareTheWork(t *testing.T) {
	t.Parallel()
	alone, _ := onPixels(t, "  - {simulated: pixel-7-android-14, name: pixel}\n", "", exit.StatusPass)
	shared, _ := onPixels(t, threePixels, "", exit.StatusPass)
	if len(alone) != 3 {
		t.Fatalf("%d runs, want 3", len(alone))
	}
	if diff := cmp.Diff(alone, shared, cmpopts.IgnoreFields(run.Run{}, "ID", "Started")); diff != "" {
		t.Errorf("the runs of three phones are others (-one +three):\n%s", diff)
	}
}

// A phone that dies is named, and another completes its run.
func TestRunOfADeadPhoneMoves(t *testing.T) {
	t.Parallel()
	undisturbed, _ := onPixels(t, threePixels, "", exit.StatusPass)
	runs, got := onPixels(t, threePixels, "pixel #2: die at 2s", exit.StatusPass)
	if len(runs) != 3 || !strings.Contains(got.Stderr, "warning: pixel #2: the run of read-mail is started again: ") {
		t.Fatalf("%d runs, want 3 and the lost phone named:\n%s", len(runs), got.Stderr)
	}
	if strings.Contains(got.Stderr, "devices restore") {
		t.Errorf("something is to be put back on a phone that is no more:\n%s", got.Stderr)
	}
	moved := 0
	for i, r := range runs {
		if r.Status != run.Complete {
			t.Errorf("%s is %s", r.Context["network"], r.Status)
		}
		if slices.ContainsFunc(r.Warnings, func(w run.Warning) bool {
			return strings.HasPrefix(w.Text, "started again, and earlier measurements are not counted: pixel #2: ")
		}) {
			moved++
		}
		if diff := cmp.Diff(undisturbed[i].Iterations, r.Iterations); diff != "" {
			t.Errorf("what was measured over %s is not what an undisturbed lab measures (-undisturbed +got):\n%s", r.Context["network"], diff)
		}
	}
	if moved == 0 {
		t.Error("no run says that it was begun anew")
	}
}

// If no phone of a profile is left, each missing run is named with what happened to each of them,
// and the other profiles' runs are there.
func TestRunsWithoutAPhone(t *testing.T) {
	t.Parallel()
	runs, got := onPixels(t, "  - {simulated: pixel-7-android-14, name: pixel, count: 2}\n  - {simulated: nexus-5x-android-6.0.0}\n",
		"pixel #1: die; pixel #2: offline", exit.StatusInfrastructure)
	if len(runs) != 3 {
		t.Errorf("%d runs, want those of the other phone", len(runs))
	}
	message, _ := clitest.Complaint(t, got)
	for _, want := range []string{"pixel, scenario read-mail: no device is left to make it: ", "pixel #1: ", "pixel #2: "} {
		if !strings.Contains(message, want) {
			t.Errorf("%q says nothing of %q", message, want)
		}
	}
	if n := strings.Count(got.Stderr, " is failed: no device is left to make it: "); n != 3 {
		t.Errorf("%d missing runs are told, want 3:\n%s", n, got.Stderr)
	}
}
