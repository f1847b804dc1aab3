package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
)

func TestPictureOfWaits(t *testing.T) {
	p := PictureOfWaits("Chain", run.ANR{Process: "mail", Cycle: true, Threads: []run.ANRThread{
		{Name: "main", State: "Blocked", WaitsFor: "lock", Stack: []string{"java.lang.Object.wait(Native method)", "- waiting to lock <0x1>", "a.List.show(List.java:8)", "a.Main.run(Main.java:1)"}},
		{Name: "sync", WaitsFor: "binder", Critical: true, Tells: 2, Stack: []string{"#00 pc 4b2c8 /libc.so (syscall+32)", "android.os.Binder.transact(Binder.java:1)"}},
		{Name: "Binder:2_1", Process: "provider", WaitsFor: "lock", Next: 2, Critical: true, Stack: []string{"- locked <0x1>", "native: pc 000000000003d324  /apex/com.android.art/lib64/libart.so (art::Monitor::Wait(long)+12) (BuildId: 12ab)"}},
	}})
	want := &Waits{Threads: []Waiting{
		{Name: "main", Process: "mail", State: "Blocked", WaitsFor: "lock", At: "a.List.show(List.java:8)", Next: 1},
		{Name: "sync", Process: "mail", WaitsFor: "binder", At: "android.os.Binder.transact(Binder.java:1)", Next: 2, Critical: true},
		{Name: "Binder:2_1", Process: "provider", WaitsFor: "lock", At: "native: art::Monitor::Wait(long) (libart.so)", Next: 1, Critical: true},
	}}
	if diff := cmp.Diff(want, p.Waits); p.Kind != WaitsPicture || diff != "" {
		t.Errorf("a picture of kind %s:\n%s", p.Kind, diff)
	}
}

// A native frame is shown by its function, or its library where that is unknown.
func TestWithoutAddress(t *testing.T) {
	for frame, want := range map[string]string{
		"native: pc 0000000000000b39  [vdso] (__kernel_vsyscall+9)":                             "native: __kernel_vsyscall ([vdso])",
		"native: pc 00000000000e8aac  /data/app/a b/lib/arm64/libx.so (BuildId: 12ab)":          "native: libx.so",
		"native: pc 00000000000e8aac  /system/lib64/libc++.so (operator new(unsigned long)+24)": "native: operator new(unsigned long) (libc++.so)",
		"native: pc 00000000000e8aac  /system/lib64/libutils.so (android::operator+(a, b))":     "native: android::operator+(a, b) (libutils.so)",
		"kernel: io_schedule":         "kernel: io_schedule",
		"com.example.B.c(B.java:1)":   "com.example.B.c(B.java:1)",
		"native: pc 00000000000e8aac": "native: pc 00000000000e8aac",
	} {
		if got := WithoutAddress(frame); got != want {
			t.Errorf("%q is told as %q, want %q", frame, got, want)
		}
	}
}

// Where a record has no indexes, a thread waits for the next one, the last one of a cycle for the
// first, and one that waits for nothing for none.
func TestPictureOfWaitsWithoutIndexes(t *testing.T) {
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
