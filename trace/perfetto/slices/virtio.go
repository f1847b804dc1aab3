package slices

import (
	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Commands of a virtual machine to its GPU, by number from the first of each kind (the kernel's
// virtio_gpu.h).
var (
	virtio2D = []string{
		"GET_DISPLAY_INFO", "RESOURCE_CREATE_2D", "RESOURCE_UNREF", "SET_SCANOUT", "RESOURCE_FLUSH", "TRANSFER_TO_HOST_2D",
		"RESOURCE_ATTACH_BACKING", "RESOURCE_DETACH_BACKING", "GET_CAPSET_INFO", "GET_CAPSET", "GET_EDID", "RESOURCE_ASSIGN_UUID",
		"RESOURCE_CREATE_BLOB", "SET_SCANOUT_BLOB",
	}
	virtio3D = []string{
		"CTX_CREATE", "CTX_DESTROY", "CTX_ATTACH_RESOURCE", "CTX_DETACH_RESOURCE", "RESOURCE_CREATE_3D", "TRANSFER_TO_HOST_3D",
		"TRANSFER_FROM_HOST_3D", "SUBMIT_3D", "RESOURCE_MAP_BLOB", "RESOURCE_UNMAP_BLOB",
	}
	virtioCursor = []string{"UPDATE_CURSOR", "MOVE_CURSOR"}
	virtioByKind = map[uint32][]string{1: virtio2D, 2: virtio3D, 3: virtioCursor}
)

// Queues of a virtual GPU, by the kernel's and Perfetto's names.
var virtioQueues = map[string]string{"control": "Control", "cursor": "Cursor"}

// virtio reads a VirtioGpuCmdQueueFtraceEvent, or a VirtioGpuCmdResponseFtraceEvent, which
// has the same fields (virtio_gpu.proto): a command that waits for its answer.
func (r *Reader) virtio(e *packets.Event) {
	m := messages.VirtioGPUOf(e.Data)
	queue := virtioQueues[packets.Name(m.Name)]
	if queue == "" {
		return
	}
	p := atrace.Point{Phase: 'H', Value: int64(m.Seqno), Name: entry(virtioByKind[m.Type>>8], uint64(m.Type&0xff), "")}
	if e.Kind == field.EventVirtioGPUCmdQueue {
		p.Phase = 'G'
	}
	r.async(e, p, Track{Type: "virtgpu_queue_event", Name: "Virtgpu " + queue + " Queue", Thread: None, Process: None})
}
