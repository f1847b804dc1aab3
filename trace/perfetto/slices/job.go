package slices

import (
	"fmt"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// jobID tells a job of the GPU from others: by its fence's context and number since Linux
// 6.17. Before that, the second is its number where it is queued, and its fence's address
// where it is done.
type jobID [2]uint64

// ring is what the GPU works on, one job after the other: the first one is a slice.
type ring struct {
	track  int32
	jobs   []jobID         // by the number that they were queued with
	queued map[jobID]int32 // slices of threads that handed jobs over
}

// maxJobs is how many jobs may wait in one ring, and be handed over to it.
const maxJobs = 10_000

// job reads an event of the GPU's scheduler (gpu_scheduler.proto).
func (r *Reader) job(e *packets.Event) {
	var value [8]uint64
	var name string
	for f := packets.FieldsOf(e.Data); f.Next(); {
		switch {
		case f.Bytes != nil && (f.Number == field.JobQueueName || f.Number == field.JobName):
			name = f.Text()
		case f.Bytes == nil && int(f.Number) < len(value):
			value[f.Number] = f.Value
		}
	}
	switch e.Kind {
	case field.EventDrmSchedJob:
		r.jobQueued(e, name, jobID{0, value[field.JobID]})
	case field.EventDrmRunJob:
		r.jobRuns(e, name, jobID{0, value[field.JobID]}, jobID{0, value[field.JobFence]})
	case field.EventDrmSchedProcessJob:
		r.jobDone(e, jobID{0, value[field.ProcessJobFence]})
	case field.EventDrmSchedJobQueue:
		r.jobQueued(e, name, jobID{value[field.JobQueueFenceContext], value[field.JobQueueFenceSeqno]})
	case field.EventDrmSchedJobRun:
		r.jobRuns(e, name, jobID{value[field.JobQueueFenceContext], value[field.JobQueueFenceSeqno]}, jobID{value[field.JobQueueFenceContext], value[field.JobQueueFenceSeqno]})
	case field.EventDrmSchedJobDone:
		r.jobDone(e, jobID{value[field.JobDoneFenceContext], value[field.JobDoneFenceSeqno]})
	}
}

// ring finds or adds the ring of a name; nil where there are too many.
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

// beginJob begins the slice of the first job, with a flow from the thread that handed it
// over.
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
	var display int32
	for f := packets.FieldsOf(e.Data); f.Next(); {
		if f.Number == field.VblankCrtc {
			display = int32(f.Value)
		}
	}
	name := "signal"
	if e.Kind == field.EventDrmVblankEventDelivered {
		name = "deliver"
	}
	r.begin(e.At, 0, r.track(Track{Type: "drm_vblank", Name: fmt.Sprintf("vblank-%d", uint32(display)), Thread: None, Process: None}), "", name)
}
