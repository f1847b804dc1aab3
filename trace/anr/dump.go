// Package anr reads the dumps of threads that Android writes when something does
// not respond: /data/anr of every version since 4.1, what the drop box keeps of
// it, the trace of an ApplicationExitInfo, what debuggerd prints of a process, what
// Google Play and Firebase export, and the listings of binder transactions that say
// which thread waits for which.
//
// It owns the text and what it states: processes, their threads, each thread's
// frames, the locks that it holds and wants, and the state of the phone around
// them. It does not know who waits for whom (package waits does), and gives no
// reason for anything.
//
// It takes a stand: nothing is guessed. What the text does not say stays empty, a
// line that can't be understood is a warning with its number, and what stood
// before and behind it is kept.
//
// Sources: art/runtime/thread.cc, thread_list.cc, signal_catcher.cc, monitor.cc and
// dalvik/vm/Thread.cpp (threads), frameworks/base/services/core/java/com/android/
// server/am/ProcessErrorStateRecord.java, ActivityManagerService.java and
// ProcessCpuTracker.java (what stands around them), system/core/debuggerd (native
// threads), drivers/android/binder.c (transactions).
package anr

import "github.com/apkgate/apkgate/run"

// Dump is one file: what was written at one time that something did not respond.
type Dump struct {
	// Subject is Android's own reason, such as "Input dispatching timed out (…)"; ""
	// where the file has none.
	Subject string
	// Process and PID are those that the head of the file says did not respond; "" and
	// 0 where it has no head. Package is the drop box's, without its version.
	Process, Package string
	PID              int
	// Build is the first fingerprint that the file states.
	Build     string
	Processes []Process // in the order of the file
	Binder    []Transaction
	CPU       []CPU     // the times over which Android measured, in the order of the file
	Load      []float64 // the averages of 1, 5 and 15 minutes
	Memory    Memory
	Pressure  []Pressure
	Warnings  []run.Warning
	// Form is what wrote the file.
	Form Form
	// Parts are the names of what the file was put together from, each written at a time of
	// its own: of a bug report "VM TRACES AT LAST ANR", "" where it has no name.
	Parts []string
	// Crash is the crash that the file is of, nil for none.
	Crash *Crash
	// Cut says that the text ends before the end of a process, or begins behind the
	// beginning of one.
	Cut bool
	// Recognized says that a part of such a dump was found.
	Recognized bool
}

// Form is what wrote a file.
type Form string

// The forms that are told apart.
const (
	Android     Form = "android"     // ART or Dalvik, by itself or for Android's services
	BugReport   Form = "bugreport"   // adb bugreport, and others that join what they collect
	Debuggerd   Form = "debuggerd"   // debuggerd -b: native stacks
	Tombstone   Form = "tombstone"   // debuggerd: one process with registers and memory
	XCrash      Form = "xcrash"      // the library xCrash, inside an app
	Play        Form = "play"        // Google Play's export
	Crashlytics Form = "crashlytics" // Firebase's export
)

// Crash is how a process ended by itself.
type Crash struct {
	Process, Thread string
	PID             int
	// Signal is the one that ended it, "11 (SIGSEGV)"; "" of an exception of Java.
	Signal string
	// Message is what the process said as it ended itself, "" where it said nothing.
	Message string
}

// Process is one process as it stood.
type Process struct {
	PID int
	// Part is the index in Dump.Parts.
	Part    int
	Name    string // its command line
	Time    string // as the dump has it, "2019-04-11 14:10:57"
	Line    int
	Heap    *Heap // nil where not stated
	Threads []Thread
	// Stated is how many threads the dump says that there are, 0 where it doesn't.
	Stated int
}

// Heap is the state of the Java heap, in bytes.
type Heap struct {
	FreePercent int
	Used, Size  int64
	Objects     int64
}

// Thread is one thread as it stood.
type Thread struct {
	Name string
	Line int
	// VMTID is the runtime's own number of a thread of Java, 0 for one that is none;
	// TID is the kernel's, 0 where not stated.
	VMTID, TID int
	Daemon     bool
	// Object is the address of its java.lang.Thread, 0 where not stated.
	Object         uint64
	Priority, Nice int
	// State is the runtime's word, such as "Blocked", "Native", "MONITOR" (Android 4);
	// "" for a native thread. Kernel is the kernel's letter: R, S, D, T, Z or X.
	State, Kernel string
	// Channel is the kernel's function in which the thread waits (/proc/…/wchan).
	Channel string
	// User and System are the ticks of its CPU time, Ran and Queued the nanoseconds of
	// schedstat, Core the CPU on which it ran last, -1 where not stated.
	User, System int64
	Ran, Queued  int64
	Core         int
	// Group is the cgroup of its scheduling: "top-app", "bg_non_interactive".
	Group  string
	Frames []Frame // the innermost first
	Locks  []Lock
	// Mutexes are the runtime's own that it holds, such as "mutator lock"(shared held).
	Mutexes string
	// Unread says that the runtime could not walk the stack.
	Unread bool
	// Debugged says that a debugger has suspended it.
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
	// Name is the class and method ("android.os.Looper.loop"), or the native or kernel
	// function without its offset; "" where the dump has an address alone.
	Name string
	// File and Line are the source of a Java method; Line is 0 where not stated, -2
	// for a native one.
	File string
	Line int
	// Library is the file of a native function; PC is relative to it, Offset to the
	// beginning of the function.
	Library, BuildID string
	PC, Offset       uint64
}

// Kinds of what a thread has to do with a lock.
const (
	Held     = "held"     // it is the owner
	Wanted   = "wanted"   // it waits to become that
	WaitedOn = "waited"   // it is in Object.wait, or LockSupport.park of Android 4
	SleptOn  = "sleeping" // it is in Thread.sleep
)

// Lock is one monitor that a thread has to do with.
type Lock struct {
	// Frame is the index of the frame at which it stands.
	Frame int
	Kind  string
	ID    string // "0x0d66cb12"; "" where the object's state was not known
	Class string
	// Owner is the VMTID of the thread that holds it, 0 where not told.
	Owner int
}

// Where a call through binder is listed (Transaction.Place): with the thread that
// called, with the one that does the work, or with a process none of whose threads has
// taken it yet.
const (
	Outgoing = "outgoing"
	Incoming = "incoming"
	Pending  = "pending"
)

// Transaction is a call through binder as the kernel lists it.
type Transaction struct {
	Place string
	ID    int64
	// FromPID and FromTID are who called and waits for the answer, ToPID and ToTID who
	// does the work; 0 where the kernel names none.
	FromPID, FromTID, ToPID, ToTID int
	Code                           uint64 // the number of the method in its interface
	// OneWay says that nobody waits for an answer.
	OneWay    bool
	ElapsedMS int64 // -1 where not stated
	Line      int
}

// CPU is the use of all CPUs over a time.
type CPU struct {
	FromMS, ToMS int64
	// Later says that the time began when the ANR was noticed, and did not end there.
	Later bool
	Total Usage
	Top   []Usage // of processes, as listed
}

// Usage is a part of the CPUs, in percent: of one CPU for a process, of all of them
// for the total.
type Usage struct {
	PID                      int
	Name                     string
	Percent, User, System    float64
	IOWait, IRQ, SoftIRQ     float64
	MinorFaults, MajorFaults int64
}

// Memory is what the head of a dump says of memory, in KiB; 0 where it doesn't.
type Memory struct {
	RSS, RSSPeak, Swap int64
}

// Pressure is the share of the last 10 s, in percent, in which some or all tasks
// waited for a resource: Of is "memory", "cpu" or "io" (/proc/pressure).
type Pressure struct {
	Of         string
	Some, Full float64
}
