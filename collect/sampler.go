package collect

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/gfxinfo"
)

// placed is a frame and when it was drawn, on CLOCK_MONOTONIC.
type placed struct {
	at    time.Duration
	frame gfxinfo.Frame
}

// sampler reads the frames of one repetition while they are drawn.
type sampler struct {
	*collector
	metering  *metering // nil: no energy is measured
	recording gfxinfo.Recording
	frames    []placed
	pids      map[int]bool
	pid       int                   // the app's, 0: not seen in the last dump
	ticks     map[int]time.Duration // CPU time by process
	uptime    time.Duration         // CLOCK_MONOTONIC at the last dump
	readAt    time.Duration         // the collector's clock then
	alive     time.Duration         // at the last dump while the workload ran
	lost      int                   // frames that went by unseen
	dumps     int
	garbled   int // dumps that held garbage
	unread    int // rows that could not be read
	full      bool
}

// begin takes note of what is there before the workload: nothing, as a rule.
// uptime is CLOCK_MONOTONIC, where it is known already.
func (s *sampler) begin(ctx context.Context, uptime time.Duration) error {
	s.passed(uptime)
	s.pids, s.ticks = map[int]bool{}, map[int]time.Duration{}
	if s.facts.hasFramestats() {
		if err := s.try(ctx, "dumpsys", "gfxinfo", s.job.App.Package, "reset"); err != nil {
			return err
		}
	}
	dump, err := s.dump(ctx)
	if err != nil {
		return err
	}
	s.recording.Baseline(dump.Dump)
	s.passed(dump.Uptime)
	return nil
}

// dumped is one answer: the app's frames, its process's times, and what the
// metering asked for.
type dumped struct {
	gfxinfo.Dump
	stat, power []byte
}

// statMark stands between a dump and the process's times in one output.
const statMark = "apkgate-proc-stat"

// maxGarbled is how often a dump is asked for again that holds garbage.
const maxGarbled = 2

// dump reads the app's frames, and its CPU time where the process is known. A
// framestats dump that holds garbage is asked for again: the next one holds the
// same frames. One of the old tables would not.
func (s *sampler) dump(ctx context.Context) (dumped, error) {
	line := device.Quote("dumpsys", "gfxinfo", s.job.App.Package)
	if s.facts.hasFramestats() {
		line += " framestats"
	}
	if s.pid != 0 {
		line += "; echo; echo " + statMark + "; cat /proc/" + strconv.Itoa(s.pid) + "/stat"
	}
	line += s.metering.question()
	for try := 0; ; try++ {
		out, err := s.dev.Exec(ctx, line)
		if err != nil {
			return dumped{}, fmt.Errorf("read the app's frames: %w", err)
		}
		text, power, _ := bytes.Cut(out.Stdout, []byte(powerMark))
		text, stat, _ := bytes.Cut(text, []byte(statMark))
		if isGarbage(text) {
			s.garbled++
			switch {
			case !s.facts.hasFramestats(): // take what can be read
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
		return dumped{d, stat, power}, nil
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

// read takes the frames drawn since the last dump.
func (s *sampler) read(ctx context.Context, workloadRuns bool) error {
	d, err := s.dump(ctx)
	if err != nil {
		return err
	}
	s.dumps++
	before := s.uptime
	s.passed(d.Uptime)
	if workloadRuns {
		s.alive = s.uptime
	}
	s.unread += d.UnreadRows
	s.readCPU(d.stat)
	s.metering.take(d.power, s.uptime, s.cpu())
	s.pid = 0
	for _, p := range d.Processes {
		if p.PID > 0 {
			s.pid = p.PID
			s.pids[p.PID] = true
		}
	}
	added := s.recording.Add(d.Dump)
	s.lost += added.Lost
	s.full = s.full || len(added.Full) > 0
	s.place(added.Frames, before, s.uptime)
	return nil
}

// passed notes CLOCK_MONOTONIC as a dump tells it. Where a dump tells none (the
// app does not run), it is what it was and what has passed since.
func (s *sampler) passed(uptime time.Duration) {
	now := s.clock.Now()
	if uptime < s.uptime {
		uptime = s.uptime + now - s.readAt
	}
	s.uptime, s.readAt = uptime, now
}

// place gives each frame its time. Frames of the old tables bear none: they are
// laid out evenly between the dump before and this one.
func (s *sampler) place(frames []gfxinfo.Frame, from, to time.Duration) {
	for i, f := range frames {
		at := time.Duration(f.IntendedVsync)
		if !f.Timed() {
			at = from + time.Duration(float64(to-from)*(float64(i)+0.5)/float64(len(frames)))
			s.warnf("Android %s tells no times of frames: they are laid out evenly between two dumps %v apart, so that a frame near a UI event may be in the bucket beside",
				s.facts.properties["ro.build.version.release"], readOldEvery)
		}
		s.frames = append(s.frames, placed{at, f})
	}
}

// clockTick is the unit of /proc/PID/stat; Android's is 100 Hz.
const clockTick = 10 * time.Millisecond

// tickBits bounds a count of ticks, so that a sum of many does not overflow: 2^33
// ticks of 10 ms are 2.7 years.
const tickBits = 34

// readCPU reads utime and stime, fields 14 and 15 of /proc/PID/stat (proc(5)).
// The name in field 2 may hold spaces and brackets.
func (s *sampler) readCPU(stat []byte) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 13 {
		return
	}
	user, errU := strconv.ParseInt(fields[11], 10, tickBits)
	system, errS := strconv.ParseInt(fields[12], 10, tickBits)
	if errU == nil && errS == nil && user >= 0 && system >= 0 {
		s.ticks[s.pid] = time.Duration(user+system) * clockTick
	}
}

// cpu is the CPU time of all of the app's processes that were seen.
func (s *sampler) cpu() time.Duration {
	sum := time.Duration(0)
	for _, t := range s.ticks {
		sum += t
	}
	return sum
}

var totalPSS = regexp.MustCompile(`(?m)^\s*TOTAL(?: PSS:)?\s+(\d+)`)

// memory asks for the app's proportional set size where it still runs; the
// answer takes long, so that it is asked for after the frames.
func (s *sampler) memory(ctx context.Context) (int64, error) {
	if s.pid == 0 {
		return 0, nil
	}
	text, err := s.output(ctx, "dumpsys", "meminfo", s.job.App.Package)
	if err != nil {
		return 0, err
	}
	m := totalPSS.FindStringSubmatch(text)
	if m == nil {
		return 0, nil
	}
	kb, err := strconv.ParseInt(m[1], 10, 40)
	if err != nil {
		return 0, nil //nolint:nilerr // a number that long is no memory
	}
	return kb, nil
}

// maxLostShare is how many of a repetition's frames may go by unseen.
const maxLostShare = 0.1

// loss tells why the repetition is lost by what was seen of its frames, nil
// where it is not.
func (s *sampler) loss(n int) error {
	counted := 0
	for _, f := range s.frames {
		if f.frame.Counted() {
			counted++
		}
	}
	switch {
	case counted == 0 && s.garbled > 0:
		return fmt.Errorf("%w: %d dumps of gfxinfo, and no frame in the others", ErrGarbled, s.garbled)
	case counted == 0:
		return &Error{Cause: Workload, Device: s.job.Device, Phase: Measure, Repetition: n,
			Err:  fmt.Errorf("%w: %s drew nothing that gfxinfo counts", ErrNoFrames, s.job.App.Package),
			hint: "apps that draw by themselves (Flutter, games, video) are not seen by gfxinfo; see whether the workload opens the app at all"}
	case float64(s.lost) > maxLostShare*float64(s.lost+len(s.frames)):
		err := fmt.Errorf("%w: %d of %d", ErrFrameGap, s.lost, s.lost+len(s.frames))
		if s.garbled > 0 {
			err = fmt.Errorf("%w; %w: %d times", err, ErrGarbled, s.garbled)
		}
		return err
	}
	if s.lost > 0 {
		s.warnf("repetition %d: %d of %d frames went by unseen", n, s.lost, s.lost+len(s.frames))
	}
	if s.garbled > 0 || s.unread > 0 {
		s.warnf("repetition %d: the device answered garbage: %d dumps of gfxinfo were asked for again, %d rows could not be read", n, s.garbled, s.unread)
	}
	if s.full {
		s.warnf("repetition %d: a table of frames was full when it was read: earlier frames may have gone by unseen", n)
	}
	return nil
}
