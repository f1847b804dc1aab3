package pftrace

import (
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// around is how much longer a section is than the work or the wait in it.
const around = 5 * time.Microsecond

// delays adds the UI thread's sections for the delays of a frame, as far as Android or a
// library has any, each in its category.
func (k *kernel) delays(pid int32, f *timeline.Frame) {
	for _, d := range f.Delays {
		whole := timeline.Interval{From: d.From - 2*around, To: d.To + 2*around}
		part := timeline.Interval{From: d.From - around, To: d.To + around}
		switch d.Cause.Kind {
		case simapp.Lock:
			owner := k.named(pid, d.Cause.Name)
			k.says(pid, "dalvik", k.contention(pid, owner, d.Cause.Name), whole)
			k.says(pid, "dalvik", fmt.Sprintf("Lock contention on a monitor lock (owner tid: %d)", owner), part)
		case simapp.GC: // Heap::WaitForGcToCompleteLocked
			k.says(pid, "dalvik", "GC: Wait For Completion Alloc", part)
		case simapp.Measure, simapp.Layout: // ViewRootImpl.performMeasure and performLayout
			k.says(pid, "view", string(d.Cause.Kind), whole)
			k.says(pid, "", d.Cause.Name, part)
		case simapp.Draw: // within each frame's recording
			k.says(pid, "", d.Cause.Name, part)
		case simapp.Inflate: // LayoutInflater.inflate and createView
			k.says(pid, "view", "inflate", whole)
			k.says(pid, "view", d.Cause.Name, part)
		case simapp.Compose:
			k.recomposes(pid, d.Interval)
		}
	}
}

// recomposes adds Compose's own sections, which count as the app's (Recomposer.kt,
// Composition.kt).
func (k *kernel) recomposes(pid int32, in timeline.Interval) {
	const composing = 0.8
	then := in.From + time.Duration(composing*float64(in.To-in.From))
	k.says(pid, "", "Recomposer:recompose", timeline.Interval{From: in.From - around, To: in.To + around})
	k.says(pid, "", "Compose:recompose", timeline.Interval{From: in.From, To: then})
	k.says(pid, "", "Compose:applyChanges", timeline.Interval{From: then, To: in.To})
}

// says adds a section of the UI thread, in a category of atrace or, without one, of the app
// itself; one without a name is skipped.
func (k *kernel) says(pid int32, category, name string, in timeline.Interval) {
	asked := category == "" && k.asksFor(k.threads[pid].Process) || category != "" && slices.Contains(k.asked.Categories, category)
	if asked && name != "" {
		k.section(pid, pid, name, in)
	}
}

// named returns a process's thread by the kernel's name; 0: none.
func (k *kernel) named(pid int32, name string) (tid int32) {
	for _, one := range k.threads {
		if one.PID == pid && one.TID != pid && timeline.Comm(name) == one.Name && (tid == 0 || one.TID < tid) {
			tid = one.TID
		}
	}
	return tid
}

// contention returns ART's section for a thread that waits for a monitor
// (Monitor::PrettyContentionInfo).
func (k *kernel) contention(pid, owner int32, name string) string {
	store := k.threads[pid].Process + ".data.Store"
	return fmt.Sprintf("monitor contention with owner %s (%d) at void %s.write(java.lang.String)(Store.java:84) waiters=0 blocking from java.lang.String %s.read(java.lang.String)(Store.java:61)",
		name, owner, store, store)
}
