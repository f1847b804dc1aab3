package counters

import (
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// virtioKey is a command of a virtual machine to its GPU that waits for its answer.
type virtioKey struct {
	queue  string
	number uint64
}

// Queues of a virtual GPU, by the kernel's and Perfetto's names.
var virtioQueues = map[string]string{"control": "Control", "cursor": "Cursor"}

// virtio reads a VirtioGpuCmdQueueFtraceEvent, or a VirtioGpuCmdResponseFtraceEvent, which has the
// same fields (virtio_gpu.proto): the room in a queue, and how long an answer took. A command with
// a fence is answered when the GPU is done, which does not show the queue's delay.
func (r *Reader) virtio(e *packets.Event) {
	m := messages.VirtioGPUOf(e.Data)
	key := virtioKey{virtioQueues[packets.Name(m.Name)], uint64(m.Seqno)}
	if key.queue == "" {
		return
	}
	r.put(e.At, float64(m.NumFree), device("virtgpu_num_free", "Virtgpu "+key.queue+" Free"))
	if e.Kind == field.EventVirtioGPUCmdQueue {
		if m.FenceID == 0 && r.file.Room("commands to a virtual GPU", len(r.sent), maxTracks) {
			r.sent[key] = e.At
		}
		return
	}
	if at, known := r.sent[key]; known {
		delete(r.sent, key)
		r.put(e.At, float64((e.At-at)/time.Nanosecond), device("virtgpu_latency", "Virtgpu "+key.queue+" Latency"))
	}
}
