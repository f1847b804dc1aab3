package rendering

import (
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/slices"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// call is a binder transaction whose client waits for the reply.
type call struct {
	client, server int32         // in the tracker's Threads; no server: none
	process        int32         // the process that it was sent to, by id
	sent           time.Duration // by the client
	received       time.Duration // by the server, negative until then
	replied        time.Duration // when the client received the reply, negative until then
}

// answered returns when the client received the reply, or an unreachable time.
func (c *call) answered() time.Duration {
	if c.replied < 0 {
		return packets.MaxTime
	}
	return c.replied
}

// maxCalls limits the transactions kept at one time.
const maxCalls = 500_000

// calls tracks transactions by the kernel's events (drivers/android/binder.c: binder_transaction in
// binder_transaction(), binder_transaction_received in binder_thread_read()). A reply is a
// transaction itself, back to the client.
type calls struct {
	list []call

	file     *packets.File
	threads  *threads.Tracker
	onTheWay map[int32]journey
	waiting  map[int32][]int32 // by client, indices in list of calls without a reply
}

// journey is a transaction that was sent but not received.
type journey struct {
	row   int32 // of the call; none for a reply or a one-way call
	reply bool
}

func newCalls(file *packets.File, tracker *threads.Tracker) *calls {
	return &calls{file: file, threads: tracker, onTheWay: map[int32]journey{}, waiting: map[int32][]int32{}}
}

// transaction reads a transaction that a thread sends.
func (c *calls) transaction(e *packets.Event) {
	sent, reply := slices.CallOf(e.Data)
	j := journey{row: none, reply: reply}
	if !reply && !sent.OneWay() && c.file.Room("binder transactions", len(c.list), maxCalls) {
		client := int32(c.threads.Of(e.TID))
		j.row = int32(len(c.list))
		c.list = append(c.list, call{client: client, server: none, process: sent.Process, sent: e.At, received: -1, replied: -1})
		c.waiting[client] = append(c.waiting[client], j.row)
	}
	if _, again := c.onTheWay[sent.ID]; again || c.file.Room("binder transactions on their way", len(c.onTheWay), maxCalls) {
		c.onTheWay[sent.ID] = j
	}
}

// received reads what a thread receives.
func (c *calls) received(e *packets.Event) {
	id := messages.BinderReceivedOf(e.Data).DebugID
	j, known := c.onTheWay[id]
	if !known {
		return
	}
	delete(c.onTheWay, id)
	thread := int32(c.threads.Of(e.TID))
	switch waiting := c.waiting[thread]; {
	case j.row != none:
		c.list[j.row].server, c.list[j.row].received = thread, e.At
	case j.reply && len(waiting) > 0:
		c.list[waiting[len(waiting)-1]].replied = e.At
		if c.waiting[thread] = waiting[:len(waiting)-1]; len(waiting) == 1 {
			delete(c.waiting, thread)
		}
	}
}

// forget drops the calls that were answered before a time, or sent so long before it that no reply
// will come.
func (c *calls) forget(before time.Duration) {
	const longest = time.Minute
	moved := make([]int32, len(c.list))
	kept := c.list[:0]
	for i, one := range c.list {
		moved[i] = none
		if one.replied >= before || one.replied < 0 && one.sent >= before-longest {
			moved[i] = int32(len(kept))
			kept = append(kept, one)
		}
	}
	c.list = kept
	for id, j := range c.onTheWay {
		if j.row != none {
			j.row = moved[j.row]
			c.onTheWay[id] = j
		}
	}
	for client, list := range c.waiting {
		left := list[:0]
		for _, row := range list {
			if moved[row] != none {
				left = append(left, moved[row])
			}
		}
		if c.waiting[client] = left; len(left) == 0 {
			delete(c.waiting, client)
		}
	}
}

// callName returns the name of a call as far as it is known: "PROCESS INTERFACE::METHOD". Since Android
// 12 the generated code of both ends reports it in slices, "AIDL::java::IFeed::query::server"
// (system/tools/aidl/generate_java.cpp, generate_cpp.cpp).
func (h *history) callName(c *call) string {
	var process, method string
	if c.server != none {
		_, process = h.name(c.server)
		for _, row := range h.between(c.server, c.received, c.answered()) {
			if method = interfaceOf(h.spans[row].name); method != "" {
				break
			}
		}
	}
	for row := h.within(c.client, c.sent); row != none && method == ""; row = h.spans[row].parent {
		method = interfaceOf(h.spans[row].name)
	}
	if process == "" {
		process = processOf(h.threads, h.roster, c.process)
	}
	return strings.TrimSpace(process + " " + method)
}

// interfaceOf returns "INTERFACE::METHOD" for a slice of generated code, "" for another.
func interfaceOf(name string) string {
	if !strings.HasPrefix(name, "AIDL::") && !strings.HasPrefix(name, "HIDL::") {
		return ""
	}
	parts := strings.Split(name, "::")
	switch {
	case parts[0] == "AIDL" && len(parts) >= 4:
		return parts[2] + "::" + parts[3]
	case parts[0] == "HIDL" && len(parts) >= 3:
		return parts[1] + "::" + parts[2]
	}
	return ""
}
