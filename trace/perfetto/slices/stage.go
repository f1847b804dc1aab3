package slices

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// maxStages is how many stages, and queues, of GPUs have names, and how many stages one
// waits for.
const maxStages = 10_000

// stages are what GPUs work on, one queue each.
type stages struct {
	queues, names []string // by number, of producers that don't intern names
	lanes         map[Track][]stageLane
	slices        map[uint64]int32   // of stages, by their event's number
	waiting       map[uint64][]int32 // slices that wait for a stage that has not come
	waits         int                // of all that waited
}

// stageLane is a track of a queue: stages that overlap have several.
type stageLane struct {
	end   time.Duration
	track int32
}

// stage is a GpuRenderStageEvent (gpu_render_stage_event.proto) whose names are resolved.
type stage struct {
	id       uint64
	duration time.Duration
	track    Track
	name     string
	waits    []uint64
}

// stageEvent reads a GpuRenderStageEvent, whose slice begins when its time has come. One
// that only names others may have no time.
func (r *Reader) stageEvent(p packets.Packet) {
	s, ok := r.stage(p)
	if !ok {
		return
	}
	if at, ok := r.file.Time(p.At); ok {
		r.file.Defer(at, len(s.name)+8*len(s.waits), func() { r.placeStage(at, s) })
	}
}

// stage reads a GpuRenderStageEvent; false for one that only names others, or whose queue
// the trace lost.
func (r *Reader) stage(p packets.Packet) (stage, bool) {
	s := stage{track: Track{Type: "gpu_render_stage", Thread: None, Process: None}}
	var gpu, queue, number uint64
	known, interned, numbered := false, false, false
	for f := packets.FieldsOf(p.Data); f.Next(); {
		switch f.Number {
		case field.GPUStageSpecifications:
			r.nameStages(f.Bytes)
		case field.GPUStageEventID:
			s.id, known = f.Value, true
		case field.GPUStageDuration:
			s.duration = time.Duration(min(f.Value, packets.MaxTime))
		case field.GPUStageGPUID:
			gpu = uint64(uint32(f.Value))
		case field.GPUStageHwQueueIID, field.GPUStageHwQueueID:
			queue, interned = f.Value&(1<<32-1), f.Number == field.GPUStageHwQueueIID
		case field.GPUStageStageID:
			number, numbered = f.Value, true
		case field.GPUStageEventWaitIDs:
			if len(s.waits) < maxStages {
				s.waits = append(s.waits, f.List()...)
			}
		case field.GPUStageStageIID, field.GPUStageNameIID, field.GPUStageName:
			s.name = stageName(p.Seq, &f)
		}
	}
	s.track.Number = gpu<<32 | queue
	s.track.Name = entry(r.stages.queues, queue, fmt.Sprintf("Unknown GPU Queue %d", queue))
	if interned {
		s.track.Name = named(p.Seq, field.InternedGPUSpecifications, queue, field.GPUSpecificationName)
	}
	if numbered && s.name == "" { // the names may stand behind the number
		s.name = entry(r.stages.names, number, fmt.Sprintf("render stage(%d)", number))
	}
	return s, known && s.track.Name != ""
}

// stageName is the name of a stage, however it is told.
func stageName(seq *packets.Sequence, f *packets.Fields) string {
	switch f.Number {
	case field.GPUStageStageIID:
		return named(seq, field.InternedGPUSpecifications, f.Value, field.GPUSpecificationName)
	case field.GPUStageNameIID:
		return named(seq, field.InternedEventNames, f.Value, field.InternedStringStr)
	}
	return f.Text()
}

// nameStages reads Specifications.
func (r *Reader) nameStages(message []byte) {
	for f := packets.FieldsOf(message); f.Next(); {
		list := &r.stages.queues
		switch f.Number {
		case field.GPUSpecificationsHwQueue:
		case field.GPUSpecificationsStage:
			list = &r.stages.names
		default:
			continue
		}
		for g := packets.FieldsOf(f.Bytes); g.Next(); {
			if g.Number == field.GPUDescriptionName && r.file.Room("names of stages of the GPU", len(*list), maxStages) {
				*list = append(*list, g.Text())
			}
		}
	}
}

// placeStage begins the slice of a stage, with flows from those that it waited for.
func (r *Reader) placeStage(at time.Duration, s stage) {
	slice := r.begin(at, s.duration, r.laneOf(s.track, at, at+s.duration), "", s.name)
	if slice == None {
		return
	}
	for _, waiting := range r.stages.waiting[s.id] {
		r.cause(slice, waiting)
	}
	delete(r.stages.waiting, s.id)
	if r.file.Room("stages of the GPU", len(r.stages.slices), MaxRows) {
		r.stages.slices[s.id] = slice
	}
	for _, id := range s.waits {
		if from, known := r.stages.slices[id]; known {
			r.cause(from, slice)
		} else if r.file.Room("waits for stages of the GPU", r.stages.waits, MaxRows) {
			r.stages.waits++
			r.stages.waiting[id] = append(r.stages.waiting[id], slice)
		}
	}
}

// laneOf is the first track of a queue on which nothing runs.
func (r *Reader) laneOf(t Track, at, end time.Duration) int32 {
	lanes := r.stages.lanes[t]
	for i := range lanes {
		if lanes[i].end <= at {
			lanes[i].end = end
			return lanes[i].track
		}
	}
	if !r.file.Room("stages of the GPU at one time", len(lanes), maxLanes) || !r.file.Room("tracks of slices", len(r.Tracks), MaxRows) {
		return None
	}
	r.stages.lanes[t] = append(lanes, stageLane{end, r.newTrack(t)})
	return int32(len(r.Tracks) - 1)
}

// submission reads a VulkanApiEvent (vulkan_api_event.proto): an app that hands work to the
// GPU.
func (r *Reader) submission(at time.Duration, message []byte) {
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number != field.VulkanVkQueueSubmit {
			continue
		}
		var dur time.Duration
		for g := packets.FieldsOf(f.Bytes); g.Next(); {
			if g.Number == field.VulkanSubmitDurationNS {
				dur = time.Duration(min(g.Value, packets.MaxTime))
			}
		}
		r.begin(at, dur, r.track(Track{Type: "vulkan_events", Name: "Vulkan Events", Thread: None, Process: None}), "", "vkQueueSubmit")
	}
}

// named is the name of an entry of interned data; "" where it is not known.
func named(seq *packets.Sequence, kind protowire.Number, id uint64, name protowire.Number) string {
	for f := packets.FieldsOf(seq.Interned(kind, id)); f.Next(); {
		if f.Number == name {
			return f.Text()
		}
	}
	return ""
}

// entry is the entry of a list, or else something else.
func entry(list []string, at uint64, otherwise string) string {
	if at < uint64(len(list)) {
		return list[at]
	}
	return otherwise
}
