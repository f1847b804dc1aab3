package slices

import (
	"fmt"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// jobID identifies a job of the GPU: by its fence's context and number since Linux 6.17. Before
// that, the second is its number when it is queued, and its fence's address when it is done.
type jobID [2]uint64

// ring is the jobs of a GPU ring, in turn: the first one is a slice.
type ring struct {
	track  int32
	jobs   []jobID         // by the number that they were queued with
	queued map[jobID]int32 // slices of threads that submitted jobs
}

// maxJobs limits the jobs that wait in one ring, or are submitted to it.
const maxJobs = 10_000

// job reads an event of the GPU's scheduler (gpu_scheduler.proto).
func (r *Reader) job(e *packets.Event) {
	switch e.Kind {
	case field.EventDrmSchedJob:
		m := messages.JobOf(e.Data)
		r.jobQueued(e, packets.Name(m.Name), jobID{0, m.ID})
	case field.EventDrmRunJob: // it has the same fields
		m := messages.JobOf(e.Data)
		r.jobRuns(e, packets.Name(m.Name), jobID{0, m.ID}, jobID{0, m.Fence})
	case field.EventDrmSchedProcessJob:
		r.jobDone(e, jobID{0, messages.ProcessJobOf(e.Data).Fence})
	case field.EventDrmSchedJobQueue:
		m := messages.JobQueueOf(e.Data)
		r.jobQueued(e, packets.Name(m.Name), jobID{m.FenceContext, m.FenceSeqno})
	case field.EventDrmSchedJobRun: // it has the same fields
		m := messages.JobQueueOf(e.Data)
		id := jobID{m.FenceContext, m.FenceSeqno}
		r.jobRuns(e, packets.Name(m.Name), id, id)
	case field.EventDrmSchedJobDone:
		m := messages.JobDoneOf(e.Data)
		r.jobDone(e, jobID{m.FenceContext, m.FenceSeqno})
	}
}

// ring finds or adds the ring with a name; nil if there are too many.
func (r *Reader) ring(name string) *ring {
	one := r.rings[name]
	if one == nil && r.file.Room("rings of the GPU's scheduler", len(r.rings), maxLanes) {
		track := r.track(Track{Type: "drm_sched_ring", Name: "sched-" + name, Thread: None, Process: None})
		one = &ring{track: track, queued: map[jobID]int32{}}
		r.rings[name] = one
	}
	return one
}

func (r *Reader) jobQueued(e *packets.Event, name string, id jobID) {
	slice := r.begin(e.At, 0, r.own(e.TID), "", "drm_sched_job_queue")
	if one := r.ring(name); one != nil && slice != None && r.file.Room("jobs of the GPU", len(one.queued), maxJobs) {
		one.queued[id] = slice
	}
}

func (r *Reader) jobRuns(e *packets.Event, name string, queued, done jobID) {
	one := r.ring(name)
	if one == nil || !r.file.Room("jobs of the GPU", len(one.jobs), maxJobs) || !r.file.Room("jobs of the GPU", len(r.busy), MaxRows) {
		return
	}
	one.jobs = append(one.jobs, queued)
	r.busy[done] = one
	if len(one.jobs) == 1 {
		r.beginJob(e, one)
	}
}

func (r *Reader) jobDone(e *packets.Event, done jobID) {
	one := r.busy[done]
	if one == nil || len(one.jobs) == 0 {
		return
	}
	delete(r.busy, done)
	one.jobs = one.jobs[1:]
	r.end(e.At, one.track, "")
	if len(one.jobs) > 0 {
		r.beginJob(e, one)
	}
}

// beginJob begins the slice of the first job, with a flow from the thread that submitted it.
func (r *Reader) beginJob(e *packets.Event, one *ring) {
	slice := r.begin(e.At, -1, one.track, "", "job")
	from, known := one.queued[one.jobs[0]]
	if slice == None || !known {
		return
	}
	delete(one.queued, one.jobs[0])
	r.cause(from, slice)
}

// vblank reads a DrmVblankEventFtraceEvent, or a DrmVblankEventDeliveredFtraceEvent
// (drm.proto).
func (r *Reader) vblank(e *packets.Event) {
	display := messages.VblankOf(e.Data).Crtc
	name := "signal"
	if e.Kind == field.EventDrmVblankEventDelivered {
		name = "deliver"
	}
	r.begin(e.At, 0, r.track(Track{Type: "drm_vblank", Name: fmt.Sprintf("vblank-%d", uint32(display)), Thread: None, Process: None}), "", name)
}
