package frames

import "strings"

// JankType bits of FrameTimelineEvent, and their names in the order in which they are said.
const (
	jankNone       = 1
	nonAnimating   = 2048
	displayNotOn   = 8192
	powerMode      = 32768
	bufferStuffing = 128
	sfStuffing     = 512
	dropped        = 1024

	// What makes a frame of the display, or of an app, janky by its own fault.
	displayJank = 2 | 4 | 8 | 16 | 32
	surfaceJank = 64 | 4096 | 256
)

var jankNames = []struct {
	bit  int32
	name string
}{
	{2, "SurfaceFlinger Scheduling"}, {4, "Prediction Error"}, {8, "Display HAL"},
	{16, "SurfaceFlinger CPU Deadline Missed"}, {32, "SurfaceFlinger GPU Deadline Missed"},
	{64, "App Deadline Missed"}, {4096, "App Resynced Jitter"}, {bufferStuffing, "Buffer Stuffing"},
	{256, "Unknown Jank"}, {sfStuffing, "SurfaceFlinger Stuffing"}, {dropped, "Dropped Frame"},
	{nonAnimating, "Non Animating"}, {displayNotOn, "Display not ON"},
	{16384, "ModeChange in progress"}, {powerMode, "PowerModeChange in progress"},
}

// JankType names the reasons for a frame's jank, with ", " between them.
func (f *Frame) JankType() string {
	switch f.Jank {
	case 0:
		return "Unspecified"
	case jankNone:
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

// JankTag says whose fault the jank is.
func (f *Frame) JankTag() string {
	none := f.Jank == jankNone || f.Jank == nonAnimating || f.Jank == displayNotOn
	const presentDropped = 4
	switch {
	case f.Jank == 0:
		return "Unspecified"
	case f.Surface && !none && f.Jank&surfaceJank != 0:
		return "Self Jank"
	case !none && f.Jank&displayJank != 0:
		if f.Surface {
			return "Other Jank"
		}
		return "Self Jank"
	case f.Surface && f.Jank == bufferStuffing:
		return "Buffer Stuffing"
	case f.Jank == sfStuffing:
		return "SurfaceFlinger Stuffing"
	case f.Surface && f.Present == presentDropped, !f.Surface && f.Jank == dropped:
		return "Dropped Frame"
	case f.Jank == nonAnimating, f.Jank == displayNotOn, f.Jank == powerMode:
		return "Non-perceivable Jank"
	}
	return "No Jank"
}

// PresentType says when the frame came to the screen.
func (f *Frame) PresentType() string {
	return pick(f.Present, "Unspecified Present", "On-time Present", "Late Present", "Early Present", "Dropped Frame", "Unknown Present")
}

// PredictionType says what became of the time that was foretold.
func (f *Frame) PredictionType() string {
	return pick(f.Prediction, "Unspecified Prediction", "Valid Prediction", "Expired Prediction", "Unknown Prediction")
}

// SeverityType says how much of the frame's time the jank took. Older traces don't tell.
func (f *Frame) SeverityType() string {
	if f.Severity == None && f.Jank == jankNone {
		return "None"
	}
	return pick(f.Severity, "Unknown", "None", "Partial", "Full")
}

// pick is a name by its number, the first one for a number that has none.
func pick(number int32, names ...string) string {
	if number < 0 || int(number) >= len(names) {
		return names[0]
	}
	return names[number]
}
