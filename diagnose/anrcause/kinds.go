package anrcause

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr/signature"
)

// The kinds of causes that this package makes.
const (
	DeadlockKind = "anr.deadlock"
	IOKind       = "anr.io"
	MemoryKind   = "anr.memory"
	BinderKind   = "anr.binder"
	LockKind     = "anr.lock"
	CPUKind      = "anr.cpu"
	WorkKind     = "anr.work"
	SleepKind    = "anr.sleep"
	GPUKind      = "anr.gpu"
	StoppedKind  = "anr.stopped"
	IdleKind     = "anr.idle"
	UnknownKind  = "anr.unknown"
)

// causeKind has everything specific to a kind, except the rules that name it.
type causeKind struct {
	name  string
	title string // before its subject
	code  bool   // its subject is code that can be changed
}

// kinds are all kinds, in the order that applies where it is unknown which explains more.
var kinds = []causeKind{
	{name: DeadlockKind, title: "Deadlock of "},
	{name: IOKind, title: "Waiting for "},
	{name: MemoryKind, title: "Too little "},
	{name: BinderKind, title: "No answer from "},
	{name: LockKind, title: "Waiting for "},
	{name: CPUKind, title: "No free "},
	{name: WorkKind, title: "Busy in ", code: true},
	{name: SleepKind, title: "Asleep in ", code: true},
	{name: GPUKind, title: "Waiting for the graphics driver: "},
	{name: StoppedKind, title: "Stopped: "},
	{name: IdleKind, title: "Idle by then: "},
	{name: UnknownKind, title: "Not known: "},
}

// rules find the reason of an ANR without a cycle: the first that applies.
var rules = []func(found) (reason, bool){stopped, memory, trimming, disk, network, starved, otherProcess, idle, driver, held, waiting, working}

// firstRank is the rank of the first kind.
const firstRank = 40

var _ = func() []string {
	var all []diagnose.Kind
	for i, k := range kinds {
		all = append(all, diagnose.Kind{Family: Family, Name: k.name, Rank: firstRank + i, Alert: k.code})
	}
	return diagnose.Register(all...)
}()

// causeKindOf returns the kind of a name.
func causeKindOf(name string) causeKind {
	i := slices.IndexFunc(kinds, func(k causeKind) bool { return k.name == name })
	if i < 0 {
		return causeKind{name: name}
	}
	return kinds[i]
}

var (
	// The collector at work in front of a thread: art/runtime/gc/heap.cc, thread_state.h;
	// and the kernel that looks for memory: mm/vmscan.c, mm/page_alloc.c, mm/memory.c.
	collecting = regexp.MustCompile(`art::gc::|WaitForGcToComplete|dvmCollectGarbage|dvmGcHeap`)
	// What stops a frozen process: kernel/cgroup/freezer.c, kernel/freezer.c.
	freezing   = regexp.MustCompile(`\b(?:do_freezer_trap|__refrigerator)\b`)
	reclaiming = regexp.MustCompile(`try_to_free_pages|shrink_(?:node|slab|inactive|lruvec)|direct_reclaim|do_swap_page|__alloc_pages_(?:slowpath|direct)|zram_|psi_memstall`)
	paging     = regexp.MustCompile(`folio_wait_bit|wait_on_page_bit|lock_page|filemap_fault|swap_readpage|swap_read_folio`)
	// File systems and block devices: fs/, block/, drivers/mmc, drivers/scsi/ufs.
	storing = regexp.MustCompile(`fsync|fdatasync|sync_file|f2fs_|ext4_|jbd2_|erofs_|fuse_|blk_|blkdev_|submit_bio|wait_on_page|io_schedule|mmc_|ufshcd_|vfs_(?:read|write)`)
	// Functions that report free pages to the storage: section 4.2 of the paper.
	discarding = regexp.MustCompile(`discard|fstrim|fitrim|FITRIM|idleMaint|StorageManagerService\.fstrim`)
	// Methods that wait for a file, in the words of Android and of Java.
	files = regexp.MustCompile(`^(?:java\.io\.(?:FileDescriptor\.sync|(?:FileOutputStream|FileInputStream|RandomAccessFile|UnixFileSystem)\.)|sun\.nio\.ch\.FileDispatcherImpl\.|sun\.nio\.fs\.|libcore\.io\.(?:Linux|Posix|BlockGuardOs|ForwardingOs)\.(?:f(?:data)?sync|open|p?read\w*|p?write\w*|f?stat\w*|rename|remove|unlink|mkdir|access|ftruncate|posix_fallocate|sendfile)\b|android\.database\.sqlite\.SQLiteConnection\.native|android\.app\.SharedPreferencesImpl\.(?:awaitLoadedLocked|writeToFile)|android\.app\.QueuedWork\.|android\.os\.FileUtils\.)`)
	// Streams from another process.
	pipes = regexp.MustCompile(`^(?:java\.lang\.(?:ProcessManager|UNIXProcess|ProcessImpl|ProcessBuilder)|android\.os\.ParcelFileDescriptor\$AutoClose)`)
	// Methods that wait for another thread that works on files.
	queued  = regexp.MustCompile(`^android\.app\.(?:SharedPreferencesImpl\.awaitLoadedLocked|QueuedWork\.)`)
	sockets = regexp.MustCompile(`^(?:java\.net\.|sun\.nio\.ch\.(?:Socket|Net)|libcore\.io\.(?:Linux|Posix|BlockGuardOs)\.(?:recv|send|connect|accept|android_getaddrinfo)|com\.android\.org\.conscrypt\.|org\.conscrypt\.|okhttp3\.|com\.android\.okhttp\.)`)
)

// stopped: by a debugger, a signal, Android's freezer, or its own crash. The dump then shows
// nothing else.
func stopped(f found) (reason, bool) {
	r := reason{kind: StoppedKind, subject: "a debugger or a signal", sure: diagnose.Seen, why: diagnose.Say("was stopped by a debugger or a signal")}
	switch {
	case slices.ContainsFunc(f.last.Stack, func(frame string) bool { return method(frame) == "android.os.Debug.waitForDebugger" }):
		r.subject, r.why = "debugger", diagnose.Say("waited for a debugger to attach (", diagnose.Coded("android.os.Debug.waitForDebugger"), ")")
	case strings.HasSuffix(f.last.WaitsFor, " crash"):
		r.subject, r.why = "crash", diagnose.Say("had crashed, and the crash was still being written")
	case freezing.MatchString(f.last.WaitsFor):
		r.subject, r.why = "freezer", diagnose.Say("was frozen, as Android does with apps that are not in use (", diagnose.Coded(freezing.FindString(f.last.WaitsFor)), ")")
	case strings.HasSuffix(f.last.WaitsFor, " debugger"), slices.ContainsFunc(f.last.Stack, func(frame string) bool { return strings.Contains(frame, "/libjdwp.so") }):
		r.subject, r.why = "debugger", diagnose.Say("was stopped by a debugger")
	}
	return r, f.last.Kind == run.WaitStopped
}

// driver: the graphics driver, or the GPU itself.
func driver(f found) (reason, bool) {
	in := strings.TrimSpace(strings.TrimPrefix(f.last.WaitsFor, run.WaitGPU))
	r := reason{kind: GPUKind, subject: cmp.Or(in, "the graphics driver"), sure: diagnose.Seen, why: diagnose.Say("waited for the graphics driver")}
	if in != "" {
		r.why = diagnose.Say("waited for the graphics driver in ", diagnose.Coded(in))
	}
	return r, f.last.Kind == run.WaitGPU
}

// trimming: free pages are reported to the storage, all at once (section 4.2 of the paper). The
// process that does so is recognized by the call to it.
func trimming(f found) (reason, bool) {
	r := reason{kind: IOKind, subject: "discards", sure: diagnose.Seen, why: diagnose.Say("waited while the storage trimmed free pages (write amplification)")}
	return r, f.last.Kind == run.WaitBinder && discarding.MatchString(f.last.WaitsFor)
}

// memory: the collector, or the kernel searching for pages, blocks the thread.
func memory(f found) (reason, bool) {
	low := f.has(signature.MemoryLow) || f.has(signature.HeapFull)
	atIt := f.last.Kind == run.WaitGC || strings.Contains(f.last.State, "Gc") || f.match(native, collecting) != ""
	pages := f.last.Kind == run.WaitMemory || f.match(kernel, reclaiming) != ""
	r := reason{kind: MemoryKind, subject: "memory", sure: diagnose.Likely}
	switch {
	case (atIt || pages) && low:
		r.sure, r.why = diagnose.Seen, diagnose.Say("waited for memory, which was short")
	case atIt:
		r.why = diagnose.Say("waited for the garbage collector")
	case low && f.pages():
		r.why = diagnose.Say("waited for pages of memory that the kernel had reclaimed")
	case low && f.last.Kind == run.WaitBlocked:
		r.why = diagnose.Say("was in the kernel while memory was short")
	case pages:
		r.why = diagnose.Say("waited while the kernel looked for free memory")
	default:
		return r, false
	}
	return r, true
}

// pages reports whether the thread waits for the content of a page of memory, without accessing a
// file: it was there before.
func (f found) pages() bool {
	return (paging.MatchString(f.last.WaitsFor) || f.match(kernel, paging) != "") && f.match(java, files) == ""
}

// disk: a file, a database, and what they wait for in the kernel.
func disk(f found) (reason, bool) {
	method := ""
	if f.mayRead() {
		method = f.match(java, files)
	}
	inKernel := f.match(kernel, storing) != ""
	if f.last.Kind != run.WaitIO && f.last.Kind != run.WaitBlocked && !inKernel && (method == "" || f.busy()) {
		return reason{}, false
	}
	r := reason{kind: IOKind, subject: "disk", sure: diagnose.Likely, why: diagnose.Say("waited for the disk")}
	if f.last.Kind == run.WaitBlocked && !inKernel && method == "" {
		r.sure, r.why = diagnose.Possible, diagnose.Say("was in the kernel in uninterruptible sleep, as when it waits for the disk")
	}
	if method != "" {
		r.subject = method
		r.why = diagnose.Say("waited for the disk in ", diagnose.Coded(method))
	}
	if f.last.Kind == run.WaitIO || inKernel {
		r.sure = diagnose.Seen
	}
	if f.match(kernel, discarding) != "" || f.match(java, discarding) != "" {
		r.why = diagnose.Say(r.why, ", behind discards of deleted pages (write amplification)")
	}
	return r, true
}

// mayRead reports whether a thread may be accessing a file where a method on its stack does: one
// that is known to wait for something else is not. Readers of preferences wait for these.
func (f found) mayRead() bool {
	switch f.last.Kind {
	case run.WaitPoll, run.WaitLock, run.WaitBinder, run.WaitSleep, run.WaitIdle, run.WaitJoin, run.WaitGPU, run.WaitFutex:
		return false
	case run.WaitSignal:
		return f.match(java, queued) != ""
	}
	return f.match(java, pipes) == ""
}

// network: a socket. It is I/O of another kind, and is named as such.
func network(f found) (reason, bool) {
	method := f.match(java, sockets)
	responds := f.last.Kind != run.WaitSignal || strings.HasPrefix(method, "okhttp3.internal.http")
	if method == "" || f.busy() || !responds || slices.Contains([]string{run.WaitLock, run.WaitBinder, run.WaitSleep, run.WaitIdle, run.WaitJoin, run.WaitGPU}, f.last.Kind) {
		return reason{}, false
	}
	return reason{kind: IOKind, subject: "network", sure: diagnose.Likely, why: diagnose.Say("waited for the network in ", diagnose.Coded(method))}, true
}

// starved: the thread was ready to run, and others had the processors.
func starved(f found) (reason, bool) {
	if !f.has(signature.CPUHigh) || f.has(signature.AppCPUHigh) || f.last.Kind != run.WaitRunnable && !f.busy() {
		return reason{}, false
	}
	r := reason{kind: CPUKind, subject: "CPU", sure: diagnose.Likely, why: diagnose.Say("was ready to run while other processes had the CPUs")}
	if f.last.Kind == run.WaitRunnable {
		r.sure = diagnose.Seen
	}
	return r, true
}

// otherProcess: the chain leads into another process, or to one that the dump does not
// show.
func otherProcess(f found) (reason, bool) {
	for i, t := range f.Threads {
		if t.Kind != run.WaitBinder {
			continue
		}
		call, peer := call(t.WaitsFor)
		if peer == "" && i+1 < len(f.Threads) {
			peer = f.Threads[i+1].Process
		}
		r := reason{kind: BinderKind, subject: strings.TrimSpace(byNumber.ReplaceAllString(peer, "") + " " + call), sure: diagnose.Seen, why: diagnose.Say("kept a binder call unanswered")}
		if peer == "" || isLikely(t.WaitsFor) {
			r.sure = diagnose.Likely
		}
		if r.subject == "" {
			r.subject = "binder"
		}
		if i == len(f.Threads)-1 { // nothing is shown behind it
			r.why = diagnose.Say("waited for a binder call that was not answered")
		}
		return r, true
	}
	return reason{}, false
}

// isLikely reports whether the target of a wait is inferred as the only possible one, and not named
// by the dump.
func isLikely(waitsFor string) bool { return strings.Contains(waitsFor, ", likely)") }

// byNumber matches peers that are identified by a number that changes: "thread 77 of
// com.example.feed", "process 55".
var byNumber = regexp.MustCompile(`^thread \d+ of |\bprocess \d+$`)

// call returns the method and the process of "binder IFeed::query (com.example.feed)".
func call(waitsFor string) (method, peer string) {
	_, rest, _ := strings.Cut(waitsFor, " ")
	method, peer, _ = strings.Cut(rest, "(")
	peer, _, _ = strings.Cut(strings.TrimSuffix(peer, ")"), ",")
	return strings.TrimSpace(method), strings.TrimSpace(peer)
}

// idle: the thread that did not respond had nothing to do when it was dumped.
func idle(f found) (reason, bool) {
	if len(f.Threads) > 1 || f.last.Kind != run.WaitIdle && (f.last.Kind != "" || !strings.HasPrefix(f.innermost(java), "android.os.MessageQueue.")) {
		return reason{}, false
	}
	return reason{kind: IdleKind, subject: f.last.Name, sure: diagnose.Seen, why: diagnose.Say("was idle when the stacks were written")}, true
}

// held: a lock, by the critical thread, or by an unknown owner.
func held(f found) (reason, bool) {
	n := len(f.Threads)
	r := reason{kind: LockKind, sure: diagnose.Seen, why: diagnose.Say("held the lock")}
	switch {
	case f.last.Kind == run.WaitLock:
		r.subject, r.sure, r.why = lockOf(f.last), diagnose.Likely, diagnose.Say("waited for a lock, and the dump does not show which thread held it")
	case n > 1 && f.Threads[n-2].Kind == run.WaitLock:
		r.subject = lockOf(f.Threads[n-2])
	default:
		return reason{}, false
	}
	return r, true
}

// lockOf returns the class of the lock that a thread waits for.
func lockOf(t run.ANRThread) string {
	lock, _, _ := strings.Cut(strings.TrimPrefix(t.WaitsFor, "lock"), " held by ")
	return cmp.Or(strings.TrimSpace(lock), "a lock")
}

// waiting: for another thread to do or to end something.
func waiting(f found) (reason, bool) {
	n := len(f.Threads)
	if !slices.Contains([]string{run.WaitJoin, run.WaitSignal, run.WaitFutex}, f.last.Kind) && n == 1 {
		return reason{}, false
	}
	r := reason{kind: LockKind, subject: f.last.Name, sure: diagnose.Likely, why: diagnose.Say("had not woken it")}
	switch {
	case n == 1 && f.last.Kind == run.WaitJoin:
		r.subject, r.sure, r.why = cmp.Or(method(f.at), "another thread"), diagnose.Possible, diagnose.Say("waited for another thread to end, and the dump does not say which")
	case n == 1:
		r.subject, r.sure, r.why = cmp.Or(method(f.at), "another thread"), diagnose.Possible, diagnose.Say("waited for another thread to wake it, and the dump does not say which")
	case f.Threads[n-2].Kind == run.WaitJoin:
		r.sure, r.why = diagnose.Seen, diagnose.Say("had not ended")
	}
	return r, true
}

// working: the thread that did not respond was working itself, asleep, or in code where the dump
// does not show whether it worked or waited.
func working(f found) (reason, bool) {
	if f.at == "" {
		return reason{}, false
	}
	in := method(f.at)
	switch {
	case f.last.Kind == run.WaitSleep || strings.Contains(f.innermost(java), "Thread.sleep"):
		return reason{kind: SleepKind, subject: in, sure: diagnose.Seen, why: diagnose.Say("slept in ", diagnose.Coded(in))}, true
	case f.busy():
		return reason{kind: WorkKind, subject: in, sure: diagnose.Seen, why: diagnose.Say("was busy, not blocked, in ", diagnose.Coded(in))}, true
	case f.last.Kind == "": // an old record without it
		return reason{kind: WorkKind, subject: in, sure: diagnose.Likely, why: diagnose.Say("was in ", diagnose.Coded(in))}, true
	case f.last.Kind == run.WaitPoll:
		return reason{kind: UnknownKind, subject: in, sure: diagnose.Possible, why: diagnose.Say("waited for a socket, a pipe or an event in ", diagnose.Coded(in))}, true
	}
	return reason{kind: UnknownKind, subject: in, sure: diagnose.Possible, why: diagnose.Say("was in ", diagnose.Coded(in), ", and the dump does not say whether it worked or waited there")}, true
}
