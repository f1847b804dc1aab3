package rendering

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Android's names of the slices of a frame.
const (
	doFrame   = "Choreographer#doFrame" // Choreographer.java; since Android 12 with the vsync's number
	drawFrame = "DrawFrame"             // CanvasContext.cpp, DrawFrameTask.cpp; since Android 12 "DrawFrames" with the number
	drawAlone = "prepareAndDraw"        // CanvasContext.cpp: of the render thread's own animations, without the UI thread
	gpuWait   = "waiting for GPU completion"
	syncing   = "fsync"
)

// stages are the slices that are stages of a frame: Choreographer.java (input, animation,
// traversal, commit), View and ViewRootImpl.java (measure, layout, draw), ThreadedRenderer and
// HardwareRenderer.java (Record View#draw()), libs/hwui (DrawFrameTask, CanvasContext), Compose's
// AndroidComposeView, and SurfaceFlinger.cpp of all versions.
var stages = map[string]string{
	"input": run.StageInput, "animation": run.StageAnimation, "insets_animation": run.StageAnimation,
	"traversal": run.StageTraversal, "performTraversals": run.StageTraversal, "commit": "",
	"measure": run.StageMeasure, "layout": run.StageLayout, "AndroidOwner:measureAndLayout": run.StageTraversal, "AndroidOwner:onMeasure": run.StageMeasure,
	"draw": run.StageDraw, "Record View#draw()": run.StageDraw, "getDisplayList": run.StageDraw, "Recomposer:animation": run.StageAnimation,
	"syncFrameState": run.StageSync, "syncAndDrawFrame": run.StageSync, "prepareTree": run.StageSync, "postAndWait": run.StageSync,
}

// compositions are the slices of SurfaceFlinger's main thread; later versions append a number and
// more.
var compositions = map[string]bool{
	"commit": true, "composite": true, "onMessageReceived": true, "onMessageInvalidate": true, "onMessageRefresh": true,
	"handleMessageInvalidate": true, "handleMessageRefresh": true, "handleMessageTransaction": true,
}

// stageOf returns the stage of a slice of an app's thread, "" for another slice.
func stageOf(name string) string {
	switch stage, known := stages[name]; {
	case known:
		return stage
	case strings.HasPrefix(name, drawFrame), strings.HasPrefix(name, drawAlone):
		return run.StageRender
	case strings.HasPrefix(name, "draw-VRI["):
		return run.StageDraw
	case strings.HasPrefix(name, gpuWait):
		return run.StageGPU
	}
	return ""
}

// isComposition reports whether a slice is one of SurfaceFlinger's parts of a frame.
func isComposition(name string) bool {
	first, _, _ := strings.Cut(name, " ")
	return compositions[first]
}

// tokenOf returns the number after the name of a slice, 0 if there is none. A frame that takes over
// the vsync of a later one has an inner slice whose number counts from there:
// "Choreographer#doFrame - resynced to 11 in 3.1s".
func tokenOf(name, before string) int64 {
	rest, _ := strings.CutPrefix(strings.TrimPrefix(name, before), "s")
	rest = strings.TrimPrefix(strings.TrimSpace(rest), "- resynced to ")
	first, _, _ := strings.Cut(rest, " ")
	token, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return 0
	}
	return token
}

// stageAt returns the stage that a thread was in just before a time, by its innermost slice that is
// a stage.
func (h *history) stageAt(thread int32, t time.Duration) string {
	for row := h.within(thread, t); row != none; row = h.spans[row].parent {
		if stage := stageOf(h.spans[row].name); stage != "" {
			return stage
		}
	}
	return ""
}

// maxStages limits the stages of a frame; the shortest are left out.
const maxStages = 48

// stagesOf returns the stages of a frame, by their beginning.
func (h *history) stagesOf(d *drawing) []Stage {
	var out []Stage
	add := func(name string, thread int32, from, to time.Duration) {
		own, _ := h.name(thread)
		if to > from {
			out = append(out, Stage{Name: name, Thread: own, From: from - d.At, To: to - d.At})
		}
	}
	for _, top := range []int32{d.do, d.draw} {
		if top == none {
			continue
		}
		thread := h.spans[top].thread
		for _, row := range h.between(thread, h.spans[top].at, h.spans[top].end()) {
			s := &h.spans[row]
			if stage := stageOf(s.name); stage != "" && !h.inStage(s.parent, stage) {
				add(stage, thread, s.at, min(s.end(), d.end))
			}
		}
	}
	if d.gpu != none {
		add(run.StageGPU, h.spans[d.gpu].thread, max(d.queued, h.spans[d.gpu].at), h.spans[d.gpu].end())
	}
	if d.shown > 0 {
		for _, row := range h.between(d.composer, d.composed, d.shown) {
			if s := &h.spans[row]; isComposition(s.name) && (s.parent == none || !isComposition(h.spans[s.parent].name)) {
				add(run.StageComposition, d.composer, s.at, min(s.end(), d.shown))
			}
		}
	}
	if len(out) > maxStages {
		slices.SortStableFunc(out, func(a, b Stage) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
		out = out[:maxStages]
	}
	slices.SortStableFunc(out, func(a, b Stage) int { return cmp.Compare(a.From, b.From) })
	return slices.Clip(out)
}

// inStage reports whether a slice, or one around it, is a stage.
func (h *history) inStage(row int32, stage string) bool {
	for ; row != none; row = h.spans[row].parent {
		if stageOf(h.spans[row].name) == stage {
			return true
		}
	}
	return false
}
