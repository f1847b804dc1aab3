package framesource

import (
	"bytes"
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/gfxinfo"
)

// maxGarbled is how often a garbled dump is queried again.
const maxGarbled = 2

// dump reads the app's frames, and whatever is queried with them. A garbled framestats dump is
// queried again: the next one contains the same frames. One of the old tables would not.
func (s *Sampler) dump(ctx context.Context, memory bool) (gfxinfo.Dump, answer, error) {
	line := device.Quote("dumpsys", "gfxinfo", s.App)
	if s.Target.Facts.HasFramestats() {
		line += " framestats"
	}
	for try := 0; ; try++ {
		a, err := s.ask(ctx, line, s.files(), memory)
		if err != nil {
			return gfxinfo.Dump{}, a, err
		}
		if isGarbage(a.head) {
			s.garbled++
			switch {
			case !s.Target.Facts.HasFramestats(): // take what can be read
			case try < maxGarbled:
				continue
			default: // the next dump contains these frames too, if it comes in time
				return gfxinfo.Dump{}, answer{stat: a.stat}, nil
			}
		}
		d, err := gfxinfo.Read(bytes.NewReader(a.head))
		if err != nil {
			return gfxinfo.Dump{}, a, fmt.Errorf("read the app's frames: %w", err)
		}
		return d, a, nil
	}
}

// isGarbage reports whether a dump contains what no dump does, or was given up by dumpsys.
func isGarbage(text []byte) bool {
	if !utf8.Valid(text) {
		return true
	}
	for line := range bytes.Lines(text) {
		if trace.CutShort(bytes.TrimSpace(line), "gfxinfo") {
			return true
		}
	}
	return bytes.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f
	})
}

// readRows reads a dump of gfxinfo.
func (s *Sampler) readRows(ctx context.Context, memory bool) (answer, func(workloadRuns bool), error) {
	asked := s.Target.Clock.Now()
	d, a, err := s.dump(ctx, memory)
	if err != nil {
		return a, nil, err
	}
	s.pace.dumped(d, s.Target.Clock.Now()-asked, s.Target.Clock.Now())
	before := s.uptime
	s.passed(d.Uptime)
	s.unread += d.UnreadRows
	return a, func(workloadRuns bool) { s.takeRows(d, before, workloadRuns) }, nil
}

// takeRows takes the frames that are new in a dump.
func (s *Sampler) takeRows(d gfxinfo.Dump, before time.Duration, workloadRuns bool) {
	s.pid = 0
	for _, p := range d.Processes {
		if p.PID > 0 {
			s.pid = p.PID
			s.PIDs[p.PID] = true
		}
	}
	added := s.recording.Add(d)
	s.full = s.full || len(added.Full) > 0
	s.place(added.Frames, before, s.uptime)
	if workloadRuns {
		s.drawing = s.drew(s.uptime - justNow)
	} else {
		s.cut = s.cut || s.drawing && s.pid == 0
	}
}

// justNow is how recent a frame is that was being drawn at a reading: some frames' time, on a
// display of any rate.
const justNow = 100 * time.Millisecond

// drew reports whether a frame ended after a time on CLOCK_MONOTONIC.
func (s *Sampler) drew(after time.Duration) bool {
	n := len(s.Frames)
	return n > 0 && s.Frames[n-1].At+s.Frames[n-1].Took >= after
}

// place sets the times of frames. Frames of the old tables have none: they are spread evenly
// between the dump before and this one.
func (s *Sampler) place(frames []gfxinfo.Frame, from, to time.Duration) {
	for i, f := range frames {
		if !f.Counted() {
			continue
		}
		drawn := f.Drawn(s.Target.Facts.Display)
		if !f.Timed() {
			drawn.At = from + time.Duration(float64(to-from)*(float64(i)+0.5)/float64(len(frames)))
			s.Target.Journal.Warnf("Android %s reports no times of frames: they are spread evenly between two dumps %v apart, so that a frame near a UI event may be in a neighboring bucket",
				s.Target.Facts.Properties["ro.build.version.release"], everyOld)
		}
		s.Frames = append(s.Frames, drawn)
	}
}
