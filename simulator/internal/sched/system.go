package sched

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// The system's own threads.
const (
	FlingerPID = 512 // SurfaceFlinger
	AppVsync   = 527 // its thread that sends vsyncs to apps
	kworkers   = 61  // the first of the kernel's workers
)

// system is the phone's own work: every tenth of a second one of the kernel's workers runs, in
// turn.
type system struct {
	workers []*Thread
}

const (
	workEvery = 100 * time.Millisecond
	wakes     = 15 * time.Microsecond
	workTakes = 8 * time.Millisecond // 2 % of each of four CPUs
)

func newSystem(t *timeline.Timeline, now time.Duration) system {
	var s system
	for i := range int32(4) {
		worker := timeline.Thread{PID: kworkers + i, TID: kworkers + i, Process: fmt.Sprintf("kworker/%d:1", i), Name: fmt.Sprintf("kworker/%d:1", i)}
		t.Threads = append(t.Threads, worker)
		s.workers = append(s.workers, &Thread{Thread: worker, last: int(i)})
	}
	return s
}

// work returns the work that becomes due between two times.
func (s *system) work(from, to time.Duration) (out []Item) {
	for n := (from + workEvery - 1) / workEvery; n*workEvery < to; n++ {
		at := n * workEvery
		out = append(out, Item{
			Thread: s.workers[int(n)%len(s.workers)], Woken: at - wakes, From: at, To: at + workTakes,
			Kind: power.Service, Background: true,
		})
	}
	return out
}
