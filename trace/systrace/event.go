package systrace

import (
	"bytes"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// kind is how events of one kind are parsed.
type kind struct {
	number protowire.Number // in FtraceEvent
	args   []arg
}

// arg is an argument of an event: its key in the text, and its field in the event's message.
type arg struct {
	key    string
	number protowire.Number
	how    how
}

// how is the notation of an argument in the text.
type how int

const (
	number   how = iota // "pid=12", which each event of the kind has
	optional            // a number that may be missing
	hex                 // a hexadecimal number without "0x"
	words               // "comm=Signal Catcher", up to the next key
	bare                // a word without a key
	whole               // the rest of the line
	state               // of a thread: "S", "R+", "D|K"
	function            // "caller=worker_thread+0x534/0x820": a function of the kernel
)

var fence = []arg{
	{"driver", field.FenceDriver, words}, {"timeline", field.FenceTimeline, words}, {"context", field.FenceContext, number}, {"seqno", field.FenceSeqno, number},
}

// wakeup repeats what sched_waking reported before, on kernels (Linux 4.3, Android 7) that have
// both.
const wakeup = "sched_wakeup"

const wakingKind = field.EventSchedWaking

var print = kind{field.EventPrint, []arg{{"", field.PrintBuf, whole}}}

// kinds are the parsed events by their names in the text.
var kinds = map[string]kind{
	"tracing_mark_write": print, "print": print, "0": print,
	"sched_switch": {field.EventSchedSwitch, []arg{
		{"prev_comm", field.SchedSwitchPrevComm, words}, {"prev_pid", field.SchedSwitchPrevPID, number}, {"prev_prio", field.SchedSwitchPrevPrio, number},
		{"prev_state", field.SchedSwitchPrevState, state},
		{"next_comm", field.SchedSwitchNextComm, words}, {"next_pid", field.SchedSwitchNextPID, number}, {"next_prio", field.SchedSwitchNextPrio, number},
	}},
	"sched_waking": {field.EventSchedWaking, []arg{{"comm", field.SchedWakingComm, words}, {"pid", field.SchedWakingPID, number}}},
	wakeup:         {field.EventSchedWaking, []arg{{"comm", field.SchedWakingComm, words}, {"pid", field.SchedWakingPID, number}}},
	"sched_blocked_reason": {field.EventSchedBlockedReason, []arg{
		{"pid", field.SchedBlockedPID, number}, {"iowait", field.SchedBlockedIOWait, number}, {"caller", field.SchedBlockedCaller, function},
	}},
	"sched_process_free": {field.EventSchedProcessFree, []arg{{"comm", field.SchedFreeComm, words}, {"pid", field.SchedFreePID, number}}},
	"task_newtask": {field.EventTaskNewtask, []arg{
		{"pid", field.NewTaskPID, number}, {"comm", field.NewTaskComm, words}, {"clone_flags", field.NewTaskCloneFlags, hex},
	}},
	"task_rename": {field.EventTaskRename, []arg{
		{"pid", field.RenamePID, number}, {"oldcomm", field.RenameOldcomm, words}, {"newcomm", field.RenameNewcomm, words},
	}},
	"cpu_frequency": {field.EventCPUFrequency, []arg{{"state", field.CPUFrequencyState, number}, {"cpu_id", field.CPUFrequencyCPUID, number}}},
	"cpu_idle":      {field.EventCPUIdle, []arg{{"state", field.CPUIdleState, number}, {"cpu_id", field.CPUIdleCPUID, number}}},
	"cpu_frequency_limits": {field.EventCPUFrequencyLimits, []arg{
		{"min", field.CPULimitsMinFreq, optional}, {"max", field.CPULimitsMaxFreq, optional}, {"min_freq", field.CPULimitsMinFreq, optional},
		{"max_freq", field.CPULimitsMaxFreq, optional}, {"cpu_id", field.CPULimitsCPUID, number},
	}},
	"clock_set_rate": {field.EventClockSetRate, []arg{{"", field.ClockSetRateName, bare}, {"state", field.ClockSetRateState, number}}},
	"clock_enable":   {field.EventClockEnable, []arg{{"", field.ClockEnableName, bare}, {"state", field.ClockEnableState, number}}},
	"clock_disable":  {field.EventClockDisable, []arg{{"", field.ClockDisableName, bare}, {"state", field.ClockDisableState, number}}},
	"gpu_frequency":  {field.EventGPUFrequency, []arg{{"gpu_id", field.GPUFrequencyGPUID, number}, {"state", field.GPUFrequencyState, number}}},
	"rss_stat": {field.EventRSSStat, []arg{
		{"size", field.RSSSize, number}, {"member", field.RSSMember, number}, {"curr", field.RSSCurr, optional}, {"mm_id", field.RSSMmID, optional},
	}},
	"oom_score_adj_update": {field.EventOOMScoreAdjUpdate, []arg{
		{"pid", field.OOMScorePID, number}, {"comm", field.OOMScoreComm, words}, {"oom_score_adj", field.OOMScoreOOMScoreAdj, number},
	}},
	"binder_transaction": {field.EventBinderTransaction, []arg{
		{"transaction", field.BinderTransactionDebugID, number}, {"dest_node", field.BinderTransactionTargetNode, number},
		{"dest_proc", field.BinderTransactionToProc, number}, {"dest_thread", field.BinderTransactionToThread, number},
		{"reply", field.BinderTransactionReply, number}, {"flags", field.BinderTransactionFlags, number}, {"code", field.BinderTransactionCode, optional},
	}},
	"binder_transaction_received": {field.EventBinderTransactionReceived, []arg{{"transaction", field.BinderReceivedDebugID, number}}},
	"binder_command":              {field.EventBinderCommand, []arg{{"cmd", field.BinderCommandCmd, number}}},
	"binder_return":               {field.EventBinderReturn, []arg{{"cmd", field.BinderReturnCmd, number}}},
	"binder_lock":                 {field.EventBinderLock, nil},
	"binder_locked":               {field.EventBinderLocked, nil},
	"binder_unlock":               {field.EventBinderUnlock, nil},
	"dma_fence_init":              {field.EventDmaFenceInit, fence},
	"dma_fence_emit":              {field.EventDmaFenceEmit, fence},
	"dma_fence_signaled":          {field.EventDmaFenceSignaled, fence},
	"dma_fence_wait_start":        {field.EventDmaFenceWaitStart, fence},
	"dma_fence_wait_end":          {field.EventDmaFenceWaitEnd, fence},
}

// message appends the event's message, as encoded by Perfetto; false if a part is missing.
func (r *reader) message(message []byte, how format, args []byte) ([]byte, bool) {
	if how.block != nil {
		return how.block.message(message, args)
	}
	for _, a := range how.args {
		text, ok := a.of(args)
		var value uint64
		switch {
		case a.how == words || a.how == bare || a.how == whole:
			message = protowire.AppendTag(message, a.number, protowire.BytesType)
			message = protowire.AppendBytes(message, text[:min(len(text), maxText)])
			continue
		case a.how == state:
			value = stateOf(text)
		case a.how == function:
			value = r.function(text)
		case !ok && a.how == optional:
			continue
		case a.how == hex:
			v, err := strconv.ParseUint(string(text), 16, 64)
			if err != nil {
				return nil, false
			}
			value = v
		default:
			if value, ok = integer(text); !ok {
				return nil, false
			}
		}
		message = protowire.AppendVarint(protowire.AppendTag(message, a.number, protowire.VarintType), value)
	}
	return message, true
}

// maxText limits the text of an event. Android writes at most 1 KiB.
const maxText = 64 << 10

// of returns the argument's text in an event.
func (a arg) of(args []byte) ([]byte, bool) {
	if a.how == whole {
		return args, true
	}
	if a.how == bare {
		for word := range bytes.FieldsSeq(args) {
			if bytes.IndexByte(word, '=') < 0 {
				return word, true
			}
		}
		return nil, false
	}
	for from := 0; ; {
		at := bytes.Index(args[from:], []byte(a.key))
		if at < 0 {
			return nil, false
		}
		at += from
		from = at + len(a.key)
		if (at == 0 || args[at-1] == ' ') && from < len(args) && args[from] == '=' {
			return value(args[from+1:], a.how), true
		}
	}
}

// value returns the text after a key. A name may contain blanks: it ends before the next key.
func value(rest []byte, how how) []byte {
	if how != words {
		word, _, _ := bytes.Cut(rest, []byte(" "))
		return word
	}
	if next := bytes.IndexByte(rest, '='); next >= 0 {
		if end := bytes.LastIndexByte(rest[:next], ' '); end >= 0 {
			rest = rest[:end]
		}
	}
	// "prev_comm=a ==> next_comm=b": the arrow separates two threads.
	return bytes.TrimRight(rest, " ")
}

// integer parses a number, hexadecimal after "0x".
func integer(text []byte) (uint64, bool) {
	if v, err := strconv.ParseInt(string(text), 0, 64); err == nil {
		return uint64(v), true
	}
	v, err := strconv.ParseUint(string(text), 0, 64)
	return v, err == nil
}

// stateBits maps the letters of a thread's state to the bits of Linux 4.4, which also stand for an
// unknown kernel (src/trace_processor/types/task_state.cc).
var stateBits = map[byte]uint64{
	'S': 0x01, 'D': 0x02, 'T': 0x04, 't': 0x08, 'X': 0x10, 'Z': 0x20, 'x': 0x40, 'K': 0x80, 'W': 0x100, 'P': 0x200, 'N': 0x400, 'I': 0x402,
}

// unknownState is for letters that are no state.
const unknownState = 0xffff

func stateOf(text []byte) uint64 {
	switch {
	case len(text) == 0:
		return unknownState
	case string(text) == "R+":
		return 0x800
	case text[0] == 'R':
		return 0
	}
	var bits uint64
	for _, letter := range text {
		bit, known := stateBits[letter]
		if !known && letter != '|' {
			return unknownState
		}
		bits |= bit
	}
	return bits
}

// function returns the number that stands for a kernel function, as in a trace of packets; 0 if
// there are too many.
func (r *reader) function(text []byte) uint64 {
	text = text[:min(len(text), packets.MaxName)]
	id, known := r.functions[string(text)]
	if known || len(text) == 0 || !r.file.Room("functions of the kernel", len(r.functions), maxFunctions) {
		return id
	}
	id = uint64(len(r.functions) + 1)
	r.functions[string(text)] = id
	entry := protowire.AppendBytes(protowire.AppendTag(nil, field.InternedStringStr, protowire.BytesType), text)
	r.feed.Intern(field.InternedKernelSymbols, id, entry)
	return id
}
