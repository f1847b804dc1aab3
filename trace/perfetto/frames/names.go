package frames

import (
	"strings"

	"github.com/apkgate/apkgate/trace/jank"
)

// jankNames are Perfetto's names of the reasons, in its order.
var jankNames = []struct {
	bit  jank.Type
	name string
}{
	{jank.SurfaceFlingerScheduling, "SurfaceFlinger Scheduling"}, {jank.PredictionError, "Prediction Error"},
	{jank.DisplayHAL, "Display HAL"}, {jank.SurfaceFlingerCPU, "SurfaceFlinger CPU Deadline Missed"},
	{jank.SurfaceFlingerGPU, "SurfaceFlinger GPU Deadline Missed"}, {jank.AppDeadlineMissed, "App Deadline Missed"},
	{jank.AppResyncedJitter, "App Resynced Jitter"}, {jank.BufferStuffing, "Buffer Stuffing"},
	{jank.UnknownJank, "Unknown Jank"}, {jank.SurfaceFlingerStuffing, "SurfaceFlinger Stuffing"},
	{jank.DroppedFrame, "Dropped Frame"}, {jank.NonAnimating, "Non Animating"}, {jank.DisplayNotOn, "Display not ON"},
	{jank.ModeChange, "ModeChange in progress"}, {jank.PowerModeChange, "PowerModeChange in progress"},
}

// JankType returns the names of the reasons for a frame's jank, separated by ", ".
func (f *Frame) JankType() string {
	switch f.Jank {
	case 0:
		return "Unspecified"
	case jank.NoJank:
		return "None"
	}
	var out []string
	for _, j := range jankNames {
		if f.Jank&j.bit != 0 {
			out = append(out, j.name)
		}
	}
	return strings.Join(out, ", ")
}

// JankTag returns whose fault the jank is.
func (f *Frame) JankTag() string {
	none := f.Jank == jank.NoJank || f.Jank == jank.NonAnimating || f.Jank == jank.DisplayNotOn
	switch {
	case f.Jank == 0:
		return "Unspecified"
	case f.Surface && !none && f.Jank&(jank.ByApp|jank.UnknownJank) != 0:
		return "Self Jank"
	case !none && f.Jank&jank.ByDisplay != 0:
		if f.Surface {
			return "Other Jank"
		}
		return "Self Jank"
	case f.Surface && f.Jank == jank.BufferStuffing:
		return "Buffer Stuffing"
	case f.Jank == jank.SurfaceFlingerStuffing:
		return "SurfaceFlinger Stuffing"
	case f.Surface && f.Present == jank.PresentedDropped, !f.Surface && f.Jank == jank.DroppedFrame:
		return "Dropped Frame"
	case f.Jank == jank.NonAnimating, f.Jank == jank.DisplayNotOn, f.Jank == jank.PowerModeChange:
		return "Non-perceivable Jank"
	}
	return "No Jank"
}

// PresentType returns when the frame was shown.
func (f *Frame) PresentType() string {
	return pick(int32(f.Present), "Unspecified Present", "On-time Present", "Late Present", "Early Present", "Dropped Frame", "Unknown Present")
}

// PredictionType returns whether the predicted time was kept.
func (f *Frame) PredictionType() string {
	return pick(f.Prediction, "Unspecified Prediction", "Valid Prediction", "Expired Prediction", "Unknown Prediction")
}

// SeverityType returns how much of the frame's time the jank took. Older traces do not have it.
func (f *Frame) SeverityType() string {
	if f.Severity == None && f.Jank == jank.NoJank {
		return "None"
	}
	return pick(f.Severity, "Unknown", "None", "Partial", "Full")
}

// pick returns a name by its number, the first one for an unknown number.
func pick(number int32, names ...string) string {
	if number < 0 || int(number) >= len(names) {
		return names[0]
	}
	return names[number]
}
