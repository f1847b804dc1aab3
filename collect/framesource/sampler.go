// Package framesource reads the frames that an app draws while it is measured, from the
// system's frame timeline or its record of buffers in a trace, or by dumps of gfxinfo one
// after the other; and what is read beside them: the app's CPU time and its memory.
//
// It owns which frames were seen and when each was drawn, how many went by unseen,
// and whether that is too many. It does not know what a repetition is for. It takes
// a stand: a frame is taken once, and one that was not seen is counted.
package framesource

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace/gfxinfo"
	"github.com/apkgate/apkgate/trace/jank"
	timeline "github.com/apkgate/apkgate/trace/perfetto/frames"
	"github.com/apkgate/apkgate/trace/perfetto/shown"
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
	// Perishes says that the app ends with the workload, and that its PSS is wanted all the
	// same: it is asked for before, which stalls the app.
	Perishes bool
	By       Source // what tells of the frames

	// Least is what the system had counted of the app before it was stopped for the
	// repetition: it may take a while to keep that.
	Least gfxinfo.Stated

	Frames []jank.Frame  // those that count
	PIDs   map[int]bool  // of the app's processes that were seen
	Alive  time.Duration // at the last dump while the workload ran

	watchFrom map[int]time.Duration // the CPU time of what watches, by process: at the first reading
	watched   map[int]time.Duration // and at the last
	recording gfxinfo.Recording
	before    gfxinfo.Stated // what the system had counted of the app before
	stated    gfxinfo.Stated // and has in the repetition
	toTheEnd  bool           // to the app's last frame
	kept      bool           // the system keeps what it counts
	pace      pace
	timeline  timeline.Timeline
	shown     shown.Trace
	begun     time.Duration         // CLOCK_MONOTONIC at Begin, where the timeline has the frames
	slept     time.Duration         // what CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC
	pid       int                   // the app's, 0: not seen in the last dump
	ticks     map[int]time.Duration // CPU time by process
	done      map[int]Done          // what the kernel counts of the work, by process
	rssKB     int64                 // what its process had in RAM at the last dump
	peakKB    int64                 // and at most, as the kernel counts it
	pssKB     int64                 // the app's memory when it was last read
	pssAt     time.Duration         // CLOCK_MONOTONIC then
	uptime    time.Duration         // CLOCK_MONOTONIC at the last dump
	readAt    time.Duration         // the device's clock then
	garbled   int                   // dumps that held garbage
	unread    int                   // rows that could not be read
	full      bool
	drawing   bool // frames were being drawn at the last reading while the workload ran
	cut       bool // and the app was gone at the next
}

// Begin takes note of what is there before the workload: nothing, as a rule.
// uptime is CLOCK_MONOTONIC, where it is known already.
func (s *Sampler) Begin(ctx context.Context, uptime time.Duration) error {
	s.passed(uptime)
	s.PIDs, s.ticks, s.done = map[int]bool{}, map[int]time.Duration{}, map[int]Done{}
	s.watchFrom, s.watched = map[int]time.Duration{}, map[int]time.Duration{}
	if s.By.Recorded() {
		return s.beginTimeline(ctx)
	}
	if s.Target.Facts.HasFramestats() {
		if err := s.Target.Try(ctx, "dumpsys", "gfxinfo", s.App, "reset"); err != nil {
			return err
		}
	}
	d, _, err := s.dump(ctx, false)
	if err != nil {
		return err
	}
	s.recording.Baseline(d)
	if err := s.readBefore(ctx); err != nil {
		return err
	}
	s.passed(d.Uptime)
	return nil
}

// Marks that stand between the parts of one output: what was asked of frames, the
// process's times, what the rider asked for, and the app's memory.
const (
	statMark   = "apkgate-proc-stat"
	riderMark  = "apkgate-power"
	memoryMark = "apkgate-memory"
)

// answer is one output in its parts.
type answer struct{ head, stat, ridden, memory []byte }

// ask asks for something, and in the same command for files and for what is read beside it.
func (s *Sampler) ask(ctx context.Context, head string, files []string, memory bool) (answer, error) {
	line := head
	if len(files) > 0 {
		line += "; echo; echo " + statMark + "; " + device.Quote(append([]string{"cat"}, files...)...)
	}
	if s.Rider != nil {
		if question := s.Rider.Question(); question != "" {
			line += "; echo; echo " + riderMark + "; " + question
		}
	}
	if memory {
		line += "; echo; echo " + memoryMark + "; " + memoryQuestion(s.App)
	}
	out, err := s.Target.Question(ctx, line)
	if err != nil {
		return answer{}, fmt.Errorf("read the app's frames: %w", err)
	}
	var a answer
	text, memoryText, _ := bytes.Cut(out.Stdout, []byte(memoryMark))
	a.memory = memoryText
	text, a.ridden, _ = bytes.Cut(text, []byte(riderMark))
	a.head, a.stat, _ = bytes.Cut(text, []byte(statMark))
	return a, nil
}

// Read takes the frames drawn since the last reading, or, where the frame timeline has
// them, looks whether the app runs.
func (s *Sampler) Read(ctx context.Context, workloadRuns bool) error {
	memory := workloadRuns && s.Perishes && s.pid != 0 && (s.pssAt == 0 || s.uptime-s.pssAt >= memoryEvery)
	read := s.readRows
	if s.By.Recorded() {
		read = s.readAlive
	}
	a, take, err := read(ctx, memory)
	if err != nil {
		return err
	}
	if workloadRuns {
		s.Alive = s.uptime
	}
	if err := s.take(ctx, readingOf(a.stat), workloadRuns); err != nil {
		return err
	}
	if memory {
		s.readMemory(a.memory)
	}
	if s.Rider != nil {
		s.Rider.Take(a.ridden, s.uptime, s.CPU())
	}
	take(workloadRuns)
	return nil
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
