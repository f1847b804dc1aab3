package recording

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
)

// Recorder records the runs on one device, one after another.
type Recorder struct {
	dir  string
	head Head
	w    *writer
}

// New begins a recording in a folder that is empty or does not exist.
func New(dir string, head Head, black *Blackout) (*Recorder, error) {
	head.Format = Format
	if err := head.check(); err != nil {
		return nil, err
	}
	w, err := newWriter(dir, head, black)
	if err != nil {
		return nil, err
	}
	return &Recorder{dir: dir, head: head, w: w}, nil
}

// Err returns why nothing more is written, nil if there was no error.
func (r *Recorder) Err() error {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	return r.w.err
}

// Finish ends the recording and writes its totals to its head.
func (r *Recorder) Finish(whole bool) (Head, error) {
	err := r.w.close()
	r.head.Whole, r.head.BlackedOut = whole && err == nil, r.w.black.Report()
	return r.head, errors.Join(err, r.head.write(r.dir))
}

// Note writes the result of the trial replay to the head.
func (r *Recorder) Note(replays string) error {
	r.head.Replays = r.w.black.String(replays)
	return r.head.write(r.dir)
}

// Begin begins a run with the given name, date and clock.
func (r *Recorder) Begin(unit string, started time.Time, clock device.Clock) *Recorded {
	s := &Recorded{w: r.w, clock: clock, streams: map[int]*stream{}, more: make(chan struct{}, 1)}
	s.room = sync.NewCond(&s.mu)
	r.w.write(Entry{Op: Unit, Unit: unit, Started: started})
	return s
}

// Recorded is a run that is being recorded.
type Recorded struct {
	w     *writer
	clock device.Clock

	mu      sync.Mutex
	room    *sync.Cond // for pending output
	now     []int64    // the values of the clock since the last call
	next    int        // the last stream's number
	streams map[int]*stream
	pending []event
	bytes   int           // of pending
	more    chan struct{} // holds a token once there are new events
}

// event is a background event, released after the call in progress.
type event struct {
	stream  int
	printed []byte
	ended   bool
	err     error
	exit    int
	waitErr error
	stderr  []byte
	lost    func(error)     // called for a lost connection
	watch   context.Context // of the caller that watches for the loss: done once the connection is given up
}

// maxPending limits the output during one call, in bytes; more output blocks.
const maxPending = 32 << 20

// begin notes the start of a call.
func (s *Recorded) begin(e Entry) *Entry {
	e.AtNS = int64(s.clock.Now())
	return &e
}

// finish writes a call that has ended, and then releases the events since.
func (s *Recorded) finish(e *Entry, err error) {
	e.TookNS = max(int64(s.clock.Now())-e.AtNS, 0)
	e.Error = s.failed(err)
	s.mu.Lock()
	e.NowNS, s.now = s.now, nil
	s.mu.Unlock()
	s.w.write(*e)
	s.releaseAll(e.Stream)
}

// releaseAll releases the pending events, except for those of a process whose reader does not
// have it yet. The rest of the run is blocked until then, to keep the order.
func (s *Recorded) releaseAll(starts int) {
	s.mu.Lock()
	events := s.due(starts)
	s.room.Broadcast()
	s.mu.Unlock()
	for _, event := range events {
		s.release(event)
	}
}

// due takes the events that releaseAll releases.
func (s *Recorded) due(starts int) (out []event) {
	var left []event
	s.bytes = 0
	for _, e := range s.pending {
		if starts > 0 && e.stream == starts {
			left, s.bytes = append(left, e), s.bytes+len(e.printed)
		} else {
			out = append(out, e)
		}
	}
	s.pending = left
	return out
}

func (s *Recorded) release(e event) {
	at := int64(s.clock.Now())
	if e.lost != nil {
		if e.watch.Err() != nil {
			return
		}
		s.w.write(Entry{Op: Lost, AtNS: at, Error: s.failed(e.err)})
		e.lost(e.err)
		return
	}
	s.mu.Lock()
	stream := s.streams[e.stream]
	s.mu.Unlock()
	if !e.ended {
		s.w.write(Entry{Op: Data, Stream: e.stream, AtNS: at, Stdout: s.w.text(e.printed)})
		stream.release(e.printed)
		return
	}
	s.w.write(Entry{Op: End, Stream: e.stream, AtNS: at, Exit: e.exit, Stderr: s.w.text(e.stderr), Error: s.failed(errors.Join(e.err, e.waitErr))})
	stream.end(e.err, e.exit, e.waitErr, e.stderr)
}

// failed converts an error for recording.
func (s *Recorded) failed(err error) *Failed {
	f := failed(err)
	if f != nil {
		f.Text = s.w.black.String(f.Text)
	}
	return f
}

// arrived notes the output of a process, or its end.
func (s *Recorded) arrived(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.bytes > 0 && s.bytes+len(e.printed) > maxPending {
		s.room.Wait()
	}
	s.pending, s.bytes = append(s.pending, e), s.bytes+len(e.printed)
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// Clock returns the run's clock, each read of which is recorded.
func (s *Recorded) Clock() device.Clock { return recordedClock{s} }

type recordedClock struct{ s *Recorded }

func (c recordedClock) Now() time.Duration {
	now := c.s.clock.Now()
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.now = append(c.s.now, int64(now))
	return now
}

func (c recordedClock) Sleep(ctx context.Context, d time.Duration) error {
	e := c.s.begin(Entry{Op: Sleep, ForNS: max(int64(d), 0)})
	err := c.s.clock.Sleep(ctx, d)
	c.s.finish(e, err)
	return err
}

// Unrecorded implements device.UnrecordedClock.
func (c recordedClock) Unrecorded() device.Clock { return c.s.clock }

// Wall returns the clock for timeouts of the run, which is not recorded. A Wait on it releases
// the device's background events.
func (s *Recorded) Wall(clock device.Clock) device.Clock { return recordedWall{clock, s} }

type recordedWall struct {
	device.Clock
	s *Recorded
}

// Wait implements device.Wait. The events that it releases are recorded after the previous
// call, so that a replay has released all of them before it waits.
func (w recordedWall) Wait(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan error, 1)
	go func() { over <- w.Sleep(ctx, d) }()
	for {
		w.s.releaseAll(0)
		select {
		case err := <-over:
			return err
		case <-w.s.more:
		}
	}
}

// Opened returns a function that connects to the device and records the connection and all
// exchanges over it.
func (s *Recorded) Opened(open func(context.Context) (device.Device, error)) func(context.Context) (device.Device, error) {
	return func(ctx context.Context) (device.Device, error) {
		e := s.begin(Entry{Op: Open})
		d, err := open(ctx)
		if err == nil {
			e.Serial = s.w.black.String(d.Serial())
			shared, ok := d.(interface{ Shared() bool })
			e.Shared = ok && shared.Shared()
			e.KeepsShell = device.KeepsShell(ctx, d)
		}
		s.finish(e, err)
		if err != nil {
			return nil, err
		}
		return &recordedDevice{Device: d, s: s, keepsShell: e.KeepsShell}, nil
	}
}
