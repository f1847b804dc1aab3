// Package framesource reads the frames that an app draws while it is measured, from the system's
// frame timeline or its record of buffers in a trace, or from successive dumps of gfxinfo; and,
// with them, the app's CPU time and its memory.
//
// It owns which frames were seen and when each was drawn, how many were missed, and whether that is
// too many. It does not know what a repetition is for. Each frame is taken once, and a missed one
// is counted.
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

// Rider adds its own query to each dump, so that the device is queried once.
type Rider interface {
	// Question returns a command whose output is wanted, "" for none now.
	Question() string
	// Take receives the output, with CLOCK_MONOTONIC and the app's CPU time so far.
	Take(text []byte, at, app time.Duration)
}

// Sampler reads the frames of one repetition as they are drawn.
type Sampler struct {
	Target *target.Target
	App    string // its package
	Rider  Rider  // nil: no additional query
	// Perishes reports that the app ends with the workload although its PSS is wanted: it is read
	// before, which stalls the app.
	Perishes bool
	By       Source // the source of the frames

	// Least is the system's count of the app before it was stopped for the repetition: the system
	// may store that late.
	Least gfxinfo.Stated

	Frames []jank.Frame  // those that count
	PIDs   map[int]bool  // of the app's processes that were seen
	Alive  time.Duration // at the last dump while the workload ran

	watchFrom map[int]time.Duration // the CPU time of the watching processes, by process: at the first reading
	watched   map[int]time.Duration // and at the last
	recording gfxinfo.Recording
	before    gfxinfo.Stated // the system's count of the app before
	stated    gfxinfo.Stated // and in the repetition
	toTheEnd  bool           // to the app's last frame
	kept      bool           // the system keeps its counts
	pace      pace
	timeline  timeline.Timeline
	shown     shown.Trace
	begun     time.Duration         // CLOCK_MONOTONIC at Begin, if the timeline has the frames
	slept     time.Duration         // by how much CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC
	pid       int                   // the app's, 0: not seen in the last dump
	ticks     map[int]time.Duration // CPU time by process
	done      map[int]Done          // the kernel's counts of the work, by process
	rssKB     int64                 // its process's memory in RAM at the last dump
	peakKB    int64                 // and its peak, as the kernel counts it
	pssKB     int64                 // the app's memory when it was last read
	pssAt     time.Duration         // CLOCK_MONOTONIC then
	uptime    time.Duration         // CLOCK_MONOTONIC at the last dump
	readAt    time.Duration         // the device's clock then
	garbled   int                   // garbled dumps
	unread    int                   // unreadable rows
	full      bool
	drawing   bool // frames were being drawn at the last reading while the workload ran
	cut       bool // and the app was gone at the next
}

// Begin records what is there before the workload: nothing, usually. uptime is CLOCK_MONOTONIC, if
// it is known already.
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

// Marks that separate the parts of one output: the query for frames, the process's times, the
// rider's query, and the app's memory.
const (
	statMark   = "apkgate-proc-stat"
	riderMark  = "apkgate-power"
	memoryMark = "apkgate-memory"
)

// answer is one output in its parts.
type answer struct{ head, stat, ridden, memory []byte }

// ask runs a query, and in the same command reads files and whatever is read with it.
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

// Read takes the frames drawn since the last reading or, if the frame timeline has them, checks
// whether the app runs.
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

// Uptime returns CLOCK_MONOTONIC at the last dump.
func (s *Sampler) Uptime() time.Duration { return s.uptime }

// passed sets CLOCK_MONOTONIC to that of a dump. If a dump has none (the app does not run), the
// time passed since is added.
func (s *Sampler) passed(uptime time.Duration) {
	now := s.Target.Clock.Now()
	if uptime < s.uptime {
		uptime = s.uptime + now - s.readAt
	}
	s.uptime, s.readAt = uptime, now
}
