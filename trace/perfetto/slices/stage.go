package slices

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// maxStages limits the named stages and queues of GPUs, and the stages that one waits for.
const maxStages = 10_000

// stages are the stages of GPUs, by queue.
type stages struct {
	queues, names []string // by number, of producers that do not intern names
	lanes         map[Track][]stageLane
	slices        map[uint64]int32   // of stages, by their event's id
	waiting       map[uint64][]int32 // slices that wait for a stage that has not come
	waits         int                // of all that waited
}

// stageLane is a track of a queue: overlapping stages have several.
type stageLane struct {
	end   time.Duration
	track int32
}

// stage is a GpuRenderStageEvent (gpu_render_stage_event.proto) with resolved names.
type stage struct {
	id       uint64
	duration time.Duration
	track    Track
	name     string
	waits    []uint64
}

// stageEvent reads a GpuRenderStageEvent; its slice begins once earlier events were read. One that
// only defines names may have no time.
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
	m := messages.GPUStageOf(p.Data)
	specs := messages.GPUSpecificationsOf(m.Specifications)
	r.nameStages(&r.stages.queues, &specs.HwQueue)
	r.nameStages(&r.stages.names, &specs.Stage)
	s := stage{
		id: m.EventID, duration: time.Duration(min(m.Duration, packets.MaxTime)), name: r.stageName(p.Seq, &m), waits: m.EventWaitIDs.List(maxStages),
		track: Track{Type: "gpu_render_stage", Thread: None, Process: None},
	}
	queue := uint64(uint32(m.HwQueueID))
	s.track.Name = entry(r.stages.queues, queue, fmt.Sprintf("Unknown GPU Queue %d", queue))
	if m.HasHwQueueIID {
		queue = m.HwQueueIID & (1<<32 - 1)
		s.track.Name = specified(p.Seq, queue)
	}
	s.track.Number = uint64(uint32(m.GPUID))<<32 | queue
	return s, m.HasEventID && s.track.Name != ""
}

// stageName returns the name of a stage, in whichever form it is given.
func (r *Reader) stageName(seq *packets.Sequence, m *messages.GPUStage) string {
	name := packets.Name(m.Name)
	if m.NameIID != 0 {
		name = packets.Name(messages.InternedStringOf(seq.Interned(field.InternedEventNames, m.NameIID)).Str)
	}
	if m.StageIID != 0 && name == "" {
		name = specified(seq, m.StageIID)
	}
	if m.HasStageID && name == "" {
		name = entry(r.stages.names, uint64(m.StageID), fmt.Sprintf("render stage(%d)", m.StageID))
	}
	return name
}

// specified returns the name of an interned description of a queue or a stage; "" if unknown.
func specified(seq *packets.Sequence, id uint64) string {
	return packets.Name(messages.GPUSpecificationOf(seq.Interned(field.InternedGPUSpecifications, id)).Name)
}

// nameStages reads the Descriptions of queues or stages.
func (r *Reader) nameStages(list *[]string, said *messages.Parts) {
	for description := range said.Each {
		if name := messages.GPUDescriptionOf(description).Name; name != nil && r.file.Room("names of stages of the GPU", len(*list), maxStages) {
			*list = append(*list, packets.Name(name))
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

// laneOf returns the first free track of a queue.
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
	if submit := messages.VulkanOf(message).VkQueueSubmit; submit != nil {
		dur := time.Duration(min(messages.VulkanSubmitOf(submit).DurationNS, packets.MaxTime))
		r.begin(at, dur, r.track(Track{Type: "vulkan_events", Name: "Vulkan Events", Thread: None, Process: None}), "", "vkQueueSubmit")
	}
}

// entry returns the entry of a list, or else otherwise.
func entry(list []string, at uint64, otherwise string) string {
	if at < uint64(len(list)) {
		return list[at]
	}
	return otherwise
}
