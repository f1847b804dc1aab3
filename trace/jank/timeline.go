package jank

// Type is a set of reasons for which a frame of the frame timeline was janky: JankType of
// Perfetto's FrameTimelineEvent, Android 12 and later.
type Type int32

// The reasons (perfetto/trace/android/frame_timeline_event.proto).
const (
	NoJank                   Type = 1
	SurfaceFlingerScheduling Type = 2
	PredictionError          Type = 4
	DisplayHAL               Type = 8
	SurfaceFlingerCPU        Type = 16
	SurfaceFlingerGPU        Type = 32
	AppDeadlineMissed        Type = 64
	BufferStuffing           Type = 128
	UnknownJank              Type = 256
	SurfaceFlingerStuffing   Type = 512
	DroppedFrame             Type = 1024
	NonAnimating             Type = 2048
	AppResyncedJitter        Type = 4096
	DisplayNotOn             Type = 8192
	ModeChange               Type = 16384
	PowerModeChange          Type = 32768

	// ByDisplay are the reasons that are the compositor's or the display's fault, ByApp those that
	// are the app's.
	ByDisplay = SurfaceFlingerScheduling | PredictionError | DisplayHAL | SurfaceFlingerCPU | SurfaceFlingerGPU
	ByApp     = AppDeadlineMissed | AppResyncedJitter
)

// Present is when a frame was shown compared with when it was expected: PresentType of
// FrameTimelineEvent.
type Present int32

// The present types by which jank is judged.
const (
	PresentedLate    Present = 2
	PresentedEarly   Present = 3
	PresentedDropped Present = 4
)

// Dropped reports whether a frame of the timeline was never shown.
func Dropped(t Type, p Present) bool { return p == PresentedDropped || t&DroppedFrame != 0 }

// OnTimeline reports whether a frame of the timeline was late through the app's fault, as Android
// itself reports it: "App Deadline Missed", or "App Resynced Jitter". Where Android can't know, as
// on a device whose display does not report when it showed a frame ("Unknown Jank"), a frame that
// was done after its deadline is janky, unless it was shown too early. Frames made late by the
// compositor, the display or waiting buffers ("Buffer Stuffing") are not the app's fault, and
// neither are dropped frames (SurfaceFrame::getJankType, isSelfJanky).
func OnTimeline(t Type, p Present, missed bool) bool {
	switch {
	case Dropped(t, p):
		return false
	case t&ByApp != 0:
		return true
	}
	return t&UnknownJank != 0 && p != PresentedEarly && missed
}

// LateByDisplay reports whether a frame of the timeline was shown late through the fault of the
// compositor or the display, rather than the app's.
func LateByDisplay(t Type, p Present) bool {
	return p == PresentedLate && t&ByApp == 0 && t&(ByDisplay|SurfaceFlingerStuffing) != 0
}
