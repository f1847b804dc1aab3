// Package frames reads the frames that an app draws while it is measured, by dumps of
// gfxinfo one after the other, and what is read beside them: the app's CPU time and
// its memory.
//
// It owns which frames were seen and when each was drawn, how many went by unseen,
// and whether that is too many. It does not know what a repetition is for. It takes
// a stand: a frame is taken once, and one that was not seen is counted.
package frames

import (
	"bytes"
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/frame"
	"github.com/apkgate/apkgate/trace/gfxinfo"
)

// Rider asks for something of its own with each dump, so that the device is asked
// once.
type Rider interface {
	// Question is a command whose output is wanted, "" for none now.
	Question() string
	// Take is given the output, with CLOCK_MONOTONIC and the CPU time that the app has
	// had by then.
	Take(text []byte, at, app time.Duration)
}

// Sampler reads the frames of one repetition while they are drawn.
type Sampler struct {
	Target *target.Target
	App    string // its package
	Rider  Rider  // nil: nobody asks for more
	// Perishes says that the app ends with the workload: its memory is asked for before.
	Perishes bool

	Frames []frame.Frame // those that count
	PIDs   map[int]bool  // of the app's processes that were seen
	Alive  time.Duration // at the last dump while the workload ran

	recording gfxinfo.Recording
	pid       int                   // the app's, 0: not seen in the last dump
	ticks     map[int]time.Duration // CPU time by process
	rssKB     int64                 // what its process had in RAM at the last dump
	peakKB    int64                 // and at most, as the kernel counts it
	pssKB     int64                 // the app's memory when it was last read
	pssAt     time.Duration         // CLOCK_MONOTONIC then
	uptime    time.Duration         // CLOCK_MONOTONIC at the last dump
	readAt    time.Duration         // the device's clock then
	lost      int                   // frames that went by unseen
	dumps     int
	garbled   int // dumps that held garbage
	unread    int // rows that could not be read
	full      bool
	drawing   bool // frames were being drawn at the last reading while the workload ran
	cut       bool // and the app was gone at the next
}

// How often frames are read, on the device's clock. A window holds the last 120
// frames, two seconds at 60 Hz. The tables before Android 6 bear no times: the
// more often they are read, the closer a frame is to its time.
const (
	Every    = time.Second
	everyOld = 250 * time.Millisecond
)

// Interval is how often the device's frames are read.
func Interval(f target.Facts) time.Duration {
	if f.HasFramestats() {
		return Every
	}
	return everyOld
}

// Begin takes note of what is there before the workload: nothing, as a rule.
// uptime is CLOCK_MONOTONIC, where it is known already.
func (s *Sampler) Begin(ctx context.Context, uptime time.Duration) error {
	s.passed(uptime)
	s.PIDs, s.ticks = map[int]bool{}, map[int]time.Duration{}
	if s.Target.Facts.HasFramestats() {
		if err := s.Target.Try(ctx, "dumpsys", "gfxinfo", s.App, "reset"); err != nil {
			return err
		}
	}
	dump, err := s.dump(ctx, false)
	if err != nil {
		return err
	}
	s.recording.Baseline(dump.Dump)
	s.passed(dump.Uptime)
	return nil
}

// dumped is one answer: the app's frames, its process's times, and what the
// rider asked for.
type dumped struct {
	gfxinfo.Dump
	stat, ridden, memory []byte
}

// Marks that stand between the parts of one output: a dump, the process's times,
// what the rider asked for, and the app's memory.
const (
	statMark   = "apkgate-proc-stat"
	riderMark  = "apkgate-power"
	memoryMark = "apkgate-memory"
)

// maxGarbled is how often a dump is asked for again that holds garbage.
const maxGarbled = 2

// dump reads the app's frames, and its CPU time where the process is known. A
// framestats dump that holds garbage is asked for again: the next one holds the
// same frames. One of the old tables would not.
func (s *Sampler) dump(ctx context.Context, memory bool) (dumped, error) {
	line := device.Quote("dumpsys", "gfxinfo", s.App)
	if s.Target.Facts.HasFramestats() {
		line += " framestats"
	}
	if s.pid != 0 {
		line += "; echo; echo " + statMark + "; " + processQuestion(s.pid)
	}
	if s.Rider != nil {
		if question := s.Rider.Question(); question != "" {
			line += "; echo; echo " + riderMark + "; " + question
		}
	}
	if memory {
		line += "; echo; echo " + memoryMark + "; " + memoryQuestion(s.App)
	}
	for try := 0; ; try++ {
		out, err := s.Target.Ask(ctx, line)
		if err != nil {
			return dumped{}, fmt.Errorf("read the app's frames: %w", err)
		}
		text, memory, _ := bytes.Cut(out.Stdout, []byte(memoryMark))
		text, ridden, _ := bytes.Cut(text, []byte(riderMark))
		text, stat, _ := bytes.Cut(text, []byte(statMark))
		if isGarbage(text) {
			s.garbled++
			switch {
			case !s.Target.Facts.HasFramestats(): // take what can be read
			case try < maxGarbled:
				continue
			default: // the next dump holds these frames too, if it comes in time
				return dumped{stat: stat}, nil
			}
		}
		d, err := gfxinfo.Read(bytes.NewReader(text))
		if err != nil {
			return dumped{}, fmt.Errorf("read the app's frames: %w", err)
		}
		return dumped{d, stat, ridden, memory}, nil
	}
}

// isGarbage reports whether a dump holds what no dump holds, or is one that dumpsys
// gave up.
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

// Read takes the frames drawn since the last dump.
func (s *Sampler) Read(ctx context.Context, workloadRuns bool) error {
	memory := workloadRuns && s.Perishes && s.pid != 0 && (s.pssAt == 0 || s.uptime-s.pssAt >= memoryEvery)
	d, err := s.dump(ctx, memory)
	if err != nil {
		return err
	}
	s.dumps++
	before := s.uptime
	s.passed(d.Uptime)
	if workloadRuns {
		s.Alive = s.uptime
	}
	s.unread += d.UnreadRows
	s.readProcess(d.stat)
	if memory {
		s.readMemory(d.memory)
	}
	if s.Rider != nil {
		s.Rider.Take(d.ridden, s.uptime, s.CPU())
	}
	s.pid = 0
	for _, p := range d.Processes {
		if p.PID > 0 {
			s.pid = p.PID
			s.PIDs[p.PID] = true
		}
	}
	added := s.recording.Add(d.Dump)
	s.lost += added.Lost
	s.full = s.full || len(added.Full) > 0
	s.place(added.Frames, before, s.uptime)
	if workloadRuns {
		s.drawing = s.drew(s.uptime - justNow)
	} else {
		s.cut = s.cut || s.drawing && s.pid == 0
	}
	return nil
}

// justNow is how long before a reading a frame is that was being drawn at it: some
// frames' time, on a display of any rate.
const justNow = 100 * time.Millisecond

// drew reports whether a frame ended after a time on CLOCK_MONOTONIC.
func (s *Sampler) drew(after time.Duration) bool {
	n := len(s.Frames)
	return n > 0 && s.Frames[n-1].At+s.Frames[n-1].Took >= after
}

// Uptime is CLOCK_MONOTONIC at the last dump.
func (s *Sampler) Uptime() time.Duration { return s.uptime }

// passed notes CLOCK_MONOTONIC as a dump tells it. Where a dump tells none (the
// app does not run), it is what it was and what has passed since.
func (s *Sampler) passed(uptime time.Duration) {
	now := s.Target.Clock.Now()
	if uptime < s.uptime {
		uptime = s.uptime + now - s.readAt
	}
	s.uptime, s.readAt = uptime, now
}

// place gives each frame its time. Frames of the old tables bear none: they are
// laid out evenly between the dump before and this one.
func (s *Sampler) place(frames []gfxinfo.Frame, from, to time.Duration) {
	for i, f := range frames {
		if !f.Counted() {
			continue
		}
		drawn := f.Drawn(s.Target.Facts.Display)
		if !f.Timed() {
			drawn.At = from + time.Duration(float64(to-from)*(float64(i)+0.5)/float64(len(frames)))
			s.Target.Journal.Warnf("Android %s tells no times of frames: they are laid out evenly between two dumps %v apart, so that a frame near a UI event may be in the bucket beside",
				s.Target.Facts.Properties["ro.build.version.release"], everyOld)
		}
		s.Frames = append(s.Frames, drawn)
	}
}
