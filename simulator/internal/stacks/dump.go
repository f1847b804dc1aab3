package stacks

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
)

// thread is a thread in a dump.
type thread struct {
	name         string
	daemon       bool
	group        string
	vm           int // its number in the virtual machine
	tid          int32
	nice         int
	status       string // ART's name
	state        byte   // the kernel's
	core         int
	ran, delayed time.Duration
	turns        int
	frames       []string // see frames.go
}

// hash returns a hash of a text, for addresses.
func hash(text string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return h.Sum32()
}

// dump formats a process like its runtime (ThreadList::DumpForSigQuit and Thread::DumpState of
// ART, dvmDumpAllThreads of Dalvik).
func (p *Process) dump(pid int, name string, threads []thread) string {
	var b strings.Builder
	now, api := clock.Wall(p.Clock.Now()), p.Profile.API
	stamp := "2006-01-02 15:04:05"
	if api >= 29 {
		stamp = "2006-01-02 15:04:05.000000000-0700"
	}
	fmt.Fprintf(&b, "----- pid %d at %s -----\nCmd line: %s\n", pid, now.Format(stamp), name)
	if api < renderThreadSince {
		b.WriteString("\nJNI: CheckJNI is off; workarounds are off; pins=0; globals=203\n\nDALVIK THREADS:\n(mutexes: tll=0 tsl=0 tscl=0 ghl=0)\n\n")
		for _, t := range threads {
			b.WriteString(t.dalvik(threads))
		}
		fmt.Fprintf(&b, "----- end %d -----\n", pid)
		return b.String()
	}
	if api >= 22 {
		fmt.Fprintf(&b, "Build fingerprint: '%s'\n", p.Fingerprint)
	}
	fmt.Fprintf(&b, "ABI: '%s'\nBuild type: optimized\n", machine(p.Profile.ABI))
	p.writeRuntime(&b, name)
	fmt.Fprintf(&b, "\nDALVIK THREADS (%d):\n", len(threads))
	for _, t := range threads {
		b.WriteString(t.art(api))
	}
	fmt.Fprintf(&b, "\n----- end %d -----\n", pid)
	return b.String()
}

// channelsSince is the API level from which on a dump for the system contains the kernel
// function in which each thread waits.
const channelsSince = 33

// channels formats that list (dumpWaitingChannels of debuggerd's client).
func (p *Process) channels(pid int, name string, threads []thread) string {
	if p.Profile.API < channelsSince {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n----- Waiting Channels: pid %d at %s -----\nCmd line: %s\n\n", pid, clock.Wall(p.Clock.Now()).Format("2006-01-02 15:04:05.000000000-0700"), name)
	for _, t := range threads {
		fmt.Fprintf(&b, "sysTid=%-10d%s\n", t.tid, t.channel(p.Profile.API))
	}
	fmt.Fprintf(&b, "\n----- end %d -----\n", pid)
	return b.String()
}

// channel returns the kernel function in which a thread waits, "0" for a running one.
func (t thread) channel(api int) string {
	first := strings.Join(t.frames[:min(len(t.frames), 2)], " ")
	switch {
	case t.state == 'R':
		return "0"
	case strings.Contains(first, "(fsync+"):
		return "f2fs_issue_flush"
	case t.state == 'D':
		return "folio_wait_bit_common"
	case strings.Contains(first, "epoll_pwait"):
		return "do_epoll_wait"
	case strings.Contains(first, "ioctl"):
		return "binder_wait_for_work"
	case api < 34:
		return "futex_wait_queue_me"
	}
	return "futex_wait"
}

// Backtrace returns debuggerd's dump of the process: its threads' native frames
// (dump_backtrace of libdebuggerd), or with java the runtime's dump.
func (p *Process) Backtrace(java bool) string {
	if java {
		return p.Dump()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n\n----- pid %d at %s -----\nCmd line: %s\nABI: '%s'\n\n", p.PID, clock.Wall(p.Clock.Now()).Format("2006-01-02 15:04:05.000000000-0700"), p.App.Package, machine(p.Profile.ABI))
	for _, t := range p.threads() {
		fmt.Fprintf(&b, "\"%s\" sysTid=%d\n", t.name, t.tid)
		for _, frame := range t.frames {
			if native, ok := strings.CutPrefix(frame, "native: "); ok {
				fmt.Fprintf(&b, "    %s\n", native)
			}
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "----- end %d -----\n", p.PID)
	return b.String()
}

// machine returns ART's name of an ABI (GetInstructionSetString).
func machine(abi string) string {
	switch abi {
	case "arm64-v8a":
		return "arm64"
	case "armeabi-v7a":
		return "arm"
	}
	return abi
}

// writeRuntime writes a part of ART's dump of itself (Runtime::DumpForSigQuit).
func (p *Process) writeRuntime(b *strings.Builder, name string) {
	if p.Profile.API >= 23 {
		fmt.Fprintf(b, "Zygote loaded classes=%d post zygote classes=%d\n", 400*p.Profile.API, 800+hash(name)%2000)
	} else {
		fmt.Fprintf(b, "Loaded classes: %d allocated classes\n", 3400+hash(name)%1000)
	}
	fmt.Fprintf(b, "Intern table: %d strong; %d weak\nJNI: CheckJNI is off; globals=%d\nHeap: 42%% free, 8MB/14MB; %d objects\nTotal number of allocations %d\nTotal GC count: 6\nTotal GC time: 182.100ms\n",
		30000+hash(name)%9000, 400+hash(name)%900, 200+hash(name)%300, 90000+hash(name)%40000, 400000+hash(name)%200000)
}

// art formats a thread like ART.
func (t thread) art(api int) string {
	daemon, counts, size, mutexes := "", "dsCount=0", "8MB", ""
	if t.daemon {
		daemon = "daemon "
	}
	suspended := 1
	if t.status == "Runnable" {
		suspended, mutexes = 0, ` "mutator lock"(shared held)`
	}
	switch {
	case api >= 31:
		counts = fmt.Sprintf("ucsCount=0 flags=%d", suspended)
	case api >= 26:
		counts = fmt.Sprintf("dsCount=0 flags=%d", suspended)
	}
	if t.name != "main" {
		size = "1039KB"
	} else if api >= 29 {
		size = "8188KB"
	}
	self := 0x7400000000 + int64(t.tid)*0x1000
	ticks := int64(t.ran / jiffy)
	user := ticks * 4 / 5
	return fmt.Sprintf("\"%s\" %sprio=5 tid=%d %s\n  | group=\"%s\" sCount=%d %s obj=0x%08x self=0x%010x\n"+
		"  | sysTid=%d nice=%d cgrp=top-app sched=0/0 handle=0x%010x\n"+
		"  | state=%c schedstat=( %d %d %d ) utm=%d stm=%d core=%d HZ=100\n  | stack=0x%010x-0x%010x stackSize=%s\n  | held mutexes=%s\n%s\n",
		t.name, daemon, t.vm, t.status, t.group, suspended, counts, 0x72000000+t.tid*120, self,
		t.tid, t.nice, self+0x100000000,
		t.state, t.ran.Nanoseconds(), t.delayed.Nanoseconds(), t.turns, user, ticks-user, t.core, self+0x100100000, self+0x100102000, size, mutexes, text(t.frames))
}

// text formats a stack like ART.
func text(frames []string) string {
	var b strings.Builder
	managed := false
	for _, frame := range frames {
		managed = managed || isManaged(frame)
		b.WriteString("  " + frame + "\n")
	}
	if !managed {
		b.WriteString("  (no managed stack frames)\n")
	}
	return b.String()
}

func isManaged(frame string) bool { return strings.HasPrefix(frame, "at ") }

// dalvikStatus are Dalvik's names of statuses (dvmGetThreadStatusStr).
var dalvikStatus = map[string]string{
	"Runnable": "RUNNABLE", "Native": "NATIVE", "Blocked": "MONITOR", "Waiting": "WAIT", "TimedWaiting": "TIMED_WAIT", "WaitingForTaskProcessor": "VMWAIT",
}

// heldBy matches the end of ART's line for a monitor that another thread holds.
var heldBy = regexp.MustCompile(`held by thread (\d+)$`)

// dalvik formats a thread like Dalvik, which reports monitors only for waiting threads.
func (t thread) dalvik(all []thread) string {
	daemon := ""
	if t.daemon {
		daemon = " daemon"
	}
	suspended := 1
	if t.status == "Runnable" {
		suspended = 0
	}
	ticks := int64(t.ran / jiffy)
	user := ticks * 4 / 5
	var b strings.Builder
	fmt.Fprintf(&b, "\"%s\"%s prio=5 tid=%d %s\n  | group=\"%s\" sCount=%d dsCount=0 obj=0x%08x self=0x%08x\n  | sysTid=%d nice=%d sched=0/0 cgrp=apps handle=%d\n"+
		"  | state=%c schedstat=( %d %d %d ) utm=%d stm=%d core=%d\n",
		t.name, daemon, t.vm, dalvikStatus[t.status], t.group, suspended, 0x41000000+t.tid*120, 0x50000000+t.tid*0x1000, t.tid, t.nice, 1_070_000_000+int64(t.tid)*64,
		t.state, t.ran.Nanoseconds(), t.delayed.Nanoseconds(), t.turns, user, ticks-user, t.core)
	frames := t.frames
	if len(frames) == 0 || t.name == "GC" || strings.HasPrefix(frames[len(frames)-1], "native: ") {
		frames = append(slices.DeleteFunc(slices.Clone(frames), isManaged), "at dalvik.system.NativeStart.run(Native method)")
	}
	for _, frame := range frames {
		switch native, isNative := strings.CutPrefix(frame, "native: "); {
		case isNative:
			fmt.Fprintf(&b, "  %s\n", strings.Replace(native, " pc", "  pc", 1))
		case strings.HasPrefix(frame, "- locked"):
		default:
			frame = heldBy.ReplaceAllStringFunc(frame, func(held string) string {
				for _, other := range all {
					if held == fmt.Sprintf("held by thread %d", other.vm) {
						return fmt.Sprintf("held by tid=%d (%s)", other.vm, other.name)
					}
				}
				return held
			})
			fmt.Fprintf(&b, "  %s\n", strings.Replace(frame, "(Native method)", "(Native Method)", 1))
		}
	}
	return b.String() + "\n"
}
