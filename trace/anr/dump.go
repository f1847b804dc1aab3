// Package anr reads the dumps of threads that Android writes when a process does not respond:
// /data/anr of every version since 4.1, the copies that the drop box keeps, the trace of an
// ApplicationExitInfo, debuggerd's output for a process, the exports of Google Play and Firebase,
// and the lists of binder transactions that show which thread waits for which.
//
// It owns the text and what it states: processes, their threads, each thread's frames, the locks
// that it holds and wants, and the state of the phone. It does not derive who waits for whom
// (package waits does), and names no cause.
//
// Nothing is guessed. What the text does not state stays empty; a line that can't be parsed is a
// warning with its number, and the lines around it are kept.
//
// Sources: art/runtime/thread.cc, thread_list.cc, signal_catcher.cc, monitor.cc and
// dalvik/vm/Thread.cpp (threads), frameworks/base/services/core/java/com/android/
// server/am/ProcessErrorStateRecord.java, ActivityManagerService.java and ProcessCpuTracker.java
// (the lines around them), system/core/debuggerd (native threads), drivers/android/binder.c
// (transactions).
package anr

import "github.com/apkgate/apkgate/run"

// Dump is the content of one file, written when a process did not respond.
type Dump struct {
	// Subject is Android's own reason, such as "Input dispatching timed out (…)"; "" if the file
	// has none.
	Subject string
	// Process and PID identify the unresponsive process according to the head of the file; "" and 0
	// if it has no head. Package is the drop box's, without its version.
	Process, Package string
	PID              int
	// Build is the first fingerprint that the file states.
	Build     string
	Processes []Process // in the order of the file
	Binder    []Transaction
	CPU       []CPU     // the periods over which Android measured, in the order of the file
	Load      []float64 // the averages of 1, 5 and 15 minutes
	Memory    Memory
	Pressure  []Pressure
	Warnings  []run.Warning
	// Form is the writer of the file.
	Form Form
	// Parts names the sections that the file was joined from, each written at a different time: in
	// a bug report "VM TRACES AT LAST ANR", "" for one without a name.
	Parts []string
	// Crash is the crash that the file is about, nil if none.
	Crash *Crash
	// Cut is set if the text ends before the end of a process, or begins within one.
	Cut bool
	// Recognized is set if part of such a dump was found.
	Recognized bool
}

// Form is the kind of writer of a file.
type Form string

// The known forms.
const (
	Android     Form = "android"     // ART or Dalvik, by itself or for Android's services
	BugReport   Form = "bugreport"   // adb bugreport, and others that join what they collect
	Debuggerd   Form = "debuggerd"   // adb bugreport, and tools that join what they collect
	Tombstone   Form = "tombstone"   // debuggerd: one process with registers and memory
	XCrash      Form = "xcrash"      // the library xCrash, inside an app
	Play        Form = "play"        // Google Play's export
	Crashlytics Form = "crashlytics" // Firebase's export
)

// Crash is how a process ended itself.
type Crash struct {
	Process, Thread string
	PID             int
	// Signal is the fatal signal, "11 (SIGSEGV)"; "" for a Java exception.
	Signal string
	// Message is the process's abort message, "" if there is none.
	Message string
}

// Process is a snapshot of one process.
type Process struct {
	PID int
	// Part is the index in Dump.Parts.
	Part    int
	Name    string // its command line
	Time    string // as in the dump, "2019-04-11 14:10:57"
	Line    int
	Heap    *Heap // nil if not stated
	Threads []Thread
	// Stated is the number of threads that the dump states, 0 if it states none.
	Stated int
}

// Heap is the state of the Java heap, in bytes.
type Heap struct {
	FreePercent int
	Used, Size  int64
	Objects     int64
}

// Thread is a snapshot of one thread.
type Thread struct {
	Name string
	Line int
	// VMTID is the runtime's own number of a Java thread, 0 for a native one; TID is the kernel's,
	// 0 if not stated.
	VMTID, TID int
	Daemon     bool
	// Object is the address of its java.lang.Thread, 0 if not stated.
	Object         uint64
	Priority, Nice int
	// State is the runtime's name of the state, such as "Blocked", "Native", "MONITOR" (Android 4);
	// "" for a native thread. Kernel is the kernel's letter: R, S, D, T, Z or X.
	State, Kernel string
	// Channel is the kernel function in which the thread waits (/proc/…/wchan).
	Channel string
	// User and System are its CPU time in ticks, Ran and Queued the nanoseconds of schedstat, Core
	// the CPU on which it last ran, -1 if not stated.
	User, System int64
	Ran, Queued  int64
	Core         int
	// Group is the cgroup that it is scheduled in: "top-app", "bg_non_interactive".
	Group  string
	Frames []Frame // the innermost first
	Locks  []Lock
	// Mutexes lists the runtime's mutexes that it holds, such as "mutator lock"(shared held).
	Mutexes string
	// Unread is set if the runtime could not walk the stack.
	Unread bool
	// Debugged is set if a debugger has suspended the thread.
	Debugged bool
}

// Kinds of frames.
const (
	Java   = "java"
	Native = "native"
	Kernel = "kernel"
)

// Frame is one function on a stack.
type Frame struct {
	Kind string
	// Name is the class and method ("android.os.Looper.loop"), or the native or kernel function
	// without its offset; "" if the dump has only an address.
	Name string
	// File and Line are the source of a Java method; Line is 0 if not stated, -2 for a native
	// method.
	File string
	Line int
	// Library is the file of a native function; PC is relative to it, Offset to the beginning of
	// the function.
	Library, BuildID string
	PC, Offset       uint64
}

// Relations between a thread and a lock.
const (
	Held     = "held"     // it is the owner
	Wanted   = "wanted"   // it waits to own the lock
	WaitedOn = "waited"   // it is in Object.wait, or LockSupport.park of Android 4
	SleptOn  = "sleeping" // it is in Thread.sleep
)

// Lock is a monitor that a thread holds or waits for.
type Lock struct {
	// Frame is the index of the frame that acquires it.
	Frame int
	Kind  string
	ID    string // "0x0d66cb12"; "" if the object's state was unknown
	Class string
	// Owner is the VMTID of the lock owner, 0 if not stated.
	Owner int
}

// Where a binder transaction is listed (Transaction.Place): with the calling thread, with the
// thread that serves it, or with a process none of whose threads has taken it yet.
const (
	Outgoing = "outgoing"
	Incoming = "incoming"
	Pending  = "pending"
)

// Transaction is a binder transaction as the kernel lists it.
type Transaction struct {
	Place string
	ID    int64
	// FromPID and FromTID identify the caller that waits for the reply, ToPID and ToTID the thread
	// that serves it; 0 if the kernel names none.
	FromPID, FromTID, ToPID, ToTID int
	Code                           uint64 // the number of the method in its interface
	// OneWay is set if the caller does not wait for a reply.
	OneWay    bool
	ElapsedMS int64 // -1 if not stated
	Line      int
}

// CPU is the use of all CPUs over a period.
type CPU struct {
	FromMS, ToMS int64
	// Later is set if the period began when the ANR was detected, rather than ended there.
	Later bool
	Total Usage
	Top   []Usage // of processes, as listed
}

// Usage is a share of the CPUs in percent: of one CPU for a process, of all of them for the total.
type Usage struct {
	PID                      int
	Name                     string
	Percent, User, System    float64
	IOWait, IRQ, SoftIRQ     float64
	MinorFaults, MajorFaults int64
}

// Memory is the memory state in the head of a dump, in KiB; 0 if not stated.
type Memory struct {
	RSS, RSSPeak, Swap int64
}

// Pressure is the share of the last 10 s, in percent, in which some or all tasks waited for a
// resource: Of is "memory", "cpu" or "io" (/proc/pressure).
type Pressure struct {
	Of         string
	Some, Full float64
}
