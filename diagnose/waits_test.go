package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
)

func TestAPictureOfWaits(t *testing.T) {
	p := PictureOfWaits("Chain", run.ANR{Process: "mail", Cycle: true, Threads: []run.ANRThread{
		{Name: "main", State: "Blocked", WaitsFor: "lock", Stack: []string{"java.lang.Object.wait(Native method)", "- waiting to lock <0x1>", "a.List.show(List.java:8)", "a.Main.run(Main.java:1)"}},
		{Name: "sync", WaitsFor: "binder", Critical: true, Tells: 2, Stack: []string{"#00 pc 4b2c8 /libc.so (syscall+32)", "android.os.Binder.transact(Binder.java:1)"}},
		{Name: "Binder:2_1", Process: "provider", WaitsFor: "lock", Next: 2, Critical: true, Stack: []string{"- locked <0x1>", "native: pc 1 (x)"}},
	}})
	want := &Waits{Threads: []Waiting{
		{Name: "main", Process: "mail", State: "Blocked", WaitsFor: "lock", At: "a.List.show(List.java:8)", Next: 1},
		{Name: "sync", Process: "mail", WaitsFor: "binder", At: "android.os.Binder.transact(Binder.java:1)", Next: 2, Critical: true},
		{Name: "Binder:2_1", Process: "provider", WaitsFor: "lock", At: "native: pc 1 (x)", Next: 1, Critical: true},
	}}
	if diff := cmp.Diff(want, p.Waits); p.Kind != WaitsPicture || diff != "" {
		t.Errorf("a picture of kind %s:\n%s", p.Kind, diff)
	}
}

// Where a record tells no place, a thread waits for the one behind it, the last one of
// a circle for the first, and one that waits for nothing for none.
func TestPlacesThatAreNotTold(t *testing.T) {
	of := func(cycle bool, last string) []int {
		var out []int
		for _, w := range PictureOfWaits("", run.ANR{Cycle: cycle, Threads: []run.ANRThread{{WaitsFor: "lock"}, {}, {WaitsFor: last}}}).Waits.Threads {
			out = append(out, w.Next)
		}
		return out
	}
	for _, c := range []struct{ got, want []int }{
		{of(false, "io"), []int{1, -1, -1}},
		{of(true, "lock"), []int{1, -1, 0}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Error(diff)
		}
	}
	if p := PictureOfWaits("", run.ANR{}); p != nil {
		t.Errorf("no threads make the picture %+v", p)
	}
}
