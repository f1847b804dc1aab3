package waits

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
)

// byFunction classifies a thread by its native functions: first by those that state what it waits
// for, then by those that state how.
func byFunction(t *anr.Thread) (Step, bool) {
	for _, functions := range []map[string]string{purposes, means} {
		for i, f := range t.Frames[:min(len(t.Frames), near)] {
			if f.Kind != anr.Native {
				continue
			}
			name := bare(f.Name)
			if strings.HasSuffix(name, "IPCThreadState::executeCommand") {
				break // further out it answers a call
			}
			kind, known := functions[name]
			if !known || kind == run.WaitIdle && strings.HasSuffix(name, "Looper::pollInner") && !polls(t) {
				continue // or called back from there
			}
			s := Step{Kind: kind, At: i}
			switch {
			case kind == run.WaitBinder:
				s.What = nativeInterfaceOf(t, i)
			case kind == run.WaitSleep && callerOf(t, i) == "libsqlite.so":
				s.Kind, s.What = run.WaitLock, database
			}
			return s, true
		}
	}
	return Step{}, false
}

// database is the lock of a SQLite file, whose owner may be another process: a thread that finds it
// taken sleeps and retries (sqliteDefaultBusyCallback).
const database = "SQLite's database"

// callerOf returns the name of the library that called the C library's function at a frame.
func callerOf(t *anr.Thread, at int) string {
	for _, f := range t.Frames[at:min(len(t.Frames), at+near)] {
		if _, library, _ := cutLast(f.Library, "/"); f.Kind != anr.Native || library != "libc.so" {
			return library
		}
	}
	return ""
}

// bare returns a function without its arguments. Before Android 8, dumps of native processes have
// mangled names.
func bare(name string) string {
	if strings.HasPrefix(name, "_Z") {
		name = demangle.Filter(name, demangle.NoParams, demangle.MaxLength(12))
	}
	name, _, _ = strings.Cut(name, "(")
	return name
}

// purposes are functions that state what a thread waits for.
var purposes = map[string]string{
	"android::BpBinder::transact":                       run.WaitBinder,
	"android::hardware::BpHwBinder::transact":           run.WaitBinder,
	"AIBinder_transact":                                 run.WaitBinder,
	"android::IPCThreadState::joinThreadPool":           run.WaitIdle,
	"android::hardware::IPCThreadState::joinThreadPool": run.WaitIdle,
	"android::Looper::pollInner":                        run.WaitIdle,
	"debugMonitorWait":                                  run.WaitStopped, // of the debugger's agent
	"art::GoToRunnable":                                 run.WaitRunning, // the dump has stopped it on its way back
	"art::gc::Heap::WaitForGcToComplete":                run.WaitGC,
	"art::gc::Heap::WaitForGcToCompleteLocked":          run.WaitGC,
	"android::Fence::wait":                              run.WaitGPU,
	"android::Fence::waitForever":                       run.WaitGPU,
	"fsync":                                             run.WaitIO,
	"fdatasync":                                         run.WaitIO,
	"syncfs":                                            run.WaitIO,
	"msync":                                             run.WaitIO,
	"pthread_join":                                      run.WaitJoin,
}

// means are functions of the C library that state how a thread waits.
var means = map[string]string{
	"android::IPCThreadState::waitForResponse":           run.WaitBinder,
	"android::hardware::IPCThreadState::waitForResponse": run.WaitBinder,
	"nanosleep":                   run.WaitSleep,
	"clock_nanosleep":             run.WaitSleep,
	"usleep":                      run.WaitSleep,
	"pthread_mutex_lock":          run.WaitFutex,
	"NonPI::MutexLockWithTimeout": run.WaitFutex,
	"pthread_cond_wait":           run.WaitFutex,
	"pthread_cond_timedwait":      run.WaitFutex,
	"sem_wait":                    run.WaitFutex,
	"__futex_wait_ex":             run.WaitFutex,
	"__futex_wait":                run.WaitFutex,
	"__futex_syscall3":            run.WaitFutex, // before Android 5
	"__futex_syscall4":            run.WaitFutex,
	"__pthread_cond_timedwait":    run.WaitFutex,

	"__pthread_cond_timedwait_relative": run.WaitFutex,

	"epoll_wait":    run.WaitPoll,
	"__epoll_pwait": run.WaitPoll,
	"poll":          run.WaitPoll,
	"ppoll":         run.WaitPoll,
	"__ppoll":       run.WaitPoll,
	"select":        run.WaitPoll,
	"pselect":       run.WaitPoll,
	"__pselect6":    run.WaitPoll,
	"accept":        run.WaitPoll,
	"accept4":       run.WaitPoll,
	"__accept4":     run.WaitPoll,
	"recvfrom":      run.WaitPoll,
	"recvmsg":       run.WaitPoll,
	"connect":       run.WaitPoll,
}

// byKernel classifies a thread by the kernel's functions: those on the stack, or the one in which
// it waits. The innermost one decides, and the outermost of the same kind names the request: for
// io_schedule in vfs_fsync_range, the latter. A write-back that frees memory counts as a wait for
// memory.
func byKernel(t *anr.Thread, functions rules) (Step, bool) {
	var found Step
	for i, f := range t.Frames {
		if f.Kind != anr.Kernel {
			break // they are the innermost
		}
		kind := functions.of(f.Name)
		if kind != "" && (found.Kind == "" || kind == run.WaitMemory && found.Kind != kind) {
			found = Step{Kind: kind, At: i}
		}
		if kind != "" && kind == found.Kind {
			found.What = f.Name
		}
	}
	if found.Kind == "" {
		found = Step{Kind: functions.of(t.Channel), At: innermost(t), What: t.Channel}
	}
	if found.Kind == run.WaitBinder {
		found.What = "" // it names how the thread waits, not for what
		if inPool(t) {
			found.Kind = run.WaitIdle
		}
	}
	return found, found.Kind != ""
}

// inPool reports whether a thread is in the pool that answers binder calls and has only kernel
// frames: in the kernel, waiting for a call looks like waiting for a reply.
func inPool(t *anr.Thread) bool {
	for _, begins := range []string{"Binder:", "binder:", "HwBinder:", "Binder_", "Binder Thread"} {
		if strings.HasPrefix(t.Name, begins) {
			return firstOf(t, anr.Java, -1) < 0 && firstOf(t, anr.Native, -1) < 0
		}
	}
	return false
}

// decisive are functions of the kernel that state what a thread waits for, whatever the caller:
// storage (block/, fs/jbd2, fs/ext4, fs/f2fs, fs/fuse, mm/filemap.c), memory (mm/vmscan.c,
// mm/page_alloc.c, mm/memory.c), and what stops the thread.
var decisive = rules{
	{run.WaitMemory, "try_to_free_pages"},
	{run.WaitMemory, "do_try_to_free_pages"},
	{run.WaitMemory, "shrink_node"},
	{run.WaitMemory, "shrink_inactive_list"},
	{run.WaitMemory, "throttle_direct_reclaim"},
	{run.WaitMemory, "do_swap_page"},
	{run.WaitMemory, "swap_readpage"},
	{run.WaitMemory, "reclaim_throttle"},
	{run.WaitIO, "io_schedule"},
	{run.WaitIO, "blkdev_issue_discard"},
	{run.WaitIO, "__blkdev_issue_discard"},
	{run.WaitIO, "submit_bio_wait"},
	{run.WaitIO, "blk_mq_get_tag"},
	{run.WaitIO, "get_request"},
	{run.WaitIO, "rq_qos_wait"},
	{run.WaitIO, "wait_on_page"},
	{run.WaitIO, "__wait_on_page"},
	{run.WaitIO, "wait_on_buffer"},
	{run.WaitIO, "__wait_on_buffer"},
	{run.WaitIO, "folio_wait"},
	{run.WaitIO, "__folio_lock"},
	{run.WaitIO, "__lock_page"},
	{run.WaitIO, "filemap_fault"},
	{run.WaitIO, "balance_dirty_pages"},
	{run.WaitIO, "jbd2_"},
	{run.WaitIO, "ext4_"},
	{run.WaitIO, "f2fs_"},
	{run.WaitIO, "__issue_discard_cmd"},
	{run.WaitIO, "vfs_fsync"},
	{run.WaitIO, "do_fsync"},
	{run.WaitIO, "sync_inodes_sb"},
	{run.WaitIO, "fuse_request_send"},
	{run.WaitIO, "__fuse_request_send"},
	{run.WaitIO, "fuse_simple_request"},
	{run.WaitIO, "request_wait_answer"},
	{run.WaitStopped, "do_freezer_trap"},
	{run.WaitStopped, "__refrigerator"},
	{run.WaitStopped, "do_signal_stop"},
	{run.WaitStopped, "ptrace_stop"},
}

// general are functions of the kernel that state how a thread waits.
var general = rules{
	{run.WaitBinder, "binder_"},
	{run.WaitFutex, "futex_"},
	{run.WaitFutex, "do_futex"},
	{run.WaitSleep, "hrtimer_nanosleep"},
	{run.WaitSleep, "do_nanosleep"},
	{run.WaitSleep, "__arm64_sys_nanosleep"},
	{run.WaitSleep, "__arm64_sys_clock_nanosleep"},
	{run.WaitPoll, "ep_poll"},
	{run.WaitPoll, "do_epoll_wait"},
	{run.WaitPoll, "do_sys_poll"},
	{run.WaitPoll, "do_select"},
	{run.WaitPoll, "poll_schedule_timeout"},
	{run.WaitPoll, "pipe_"},
	{run.WaitPoll, "unix_"},
	{run.WaitPoll, "inotify_read"},
	{run.WaitPoll, "__skb_"},
	{run.WaitPoll, "skb_"},
	{run.WaitPoll, "wait_woken"},
	{run.WaitPoll, "inet_"},
	{run.WaitPoll, "tcp_"},
	{run.WaitIdle, "do_sigtimedwait"},
}
