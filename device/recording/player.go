package recording

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
)

// Player replays a run in place of the device.
type Player struct {
	recording *Recording
	calls     []call
	byKey     map[string][]int // indices of calls, in order

	mu      sync.Mutex
	used    []bool
	at      int // the index of the next call in the recorded order
	now     time.Duration
	clock   []int64 // the values of the clock until the next call
	streams map[int]*stream
	early   map[int][]Entry // events of streams that are not started yet
	onLoss  func(error)     // for the current connection; nil: not watched, or already lost
	died    chan struct{}   // closed once the recording has no more answers
	dead    bool
	err     error
	account Account
}

// call is a call of the run, with the background events up to its end.
type call struct {
	Entry
	events []Entry
}

// Account is the result of a replay.
type Account struct {
	// Asked counts the calls, InOrder those that came in the recorded order, and Recorded the
	// calls of the recording.
	Asked, InOrder, Recorded int
	// Pushed are the files whose recorded content was different, each once.
	Pushed []string
}

// Exact reports whether the same calls came in the same order.
func (a Account) Exact() bool { return a.InOrder == a.Recorded && a.Asked == a.Recorded }

// Play returns a player of one run of the recording.
func (r *Recording) Play(run Run) *Player {
	p := &Player{
		recording: r, byKey: map[string][]int{}, streams: map[int]*stream{}, early: map[int][]Entry{},
		died: make(chan struct{}),
	}
	for _, e := range run.Entries {
		switch last := len(p.calls) - 1; {
		case e.Op.isCall():
			p.byKey[e.key()] = append(p.byKey[e.key()], len(p.calls))
			p.calls = append(p.calls, call{Entry: e})
		case e.Op == Alive || last < 0:
		default:
			p.calls[last].events = append(p.calls[last].events, e)
		}
	}
	p.used = make([]bool, len(p.calls))
	p.account.Recorded = len(p.calls)
	if len(p.calls) > 0 {
		p.now, p.clock = time.Duration(p.calls[0].AtNS), p.calls[0].NowNS
	}
	return p
}

// NoAnswerError means that the recording has no answer to a call.
type NoAnswerError struct {
	Asked string // the call, described
	// Times is how many answers the recording has, all of which were used.
	Times int
	// Nearest is the most similar recorded call, "" for none.
	Nearest string
	Torn    bool // the recording ends before its run
}

// Error describes the call and the nearest recorded one.
func (e *NoAnswerError) Error() string {
	text := "the recording has no answer to " + e.Asked
	switch {
	case e.Times > 0:
		text = fmt.Sprintf("the recording has %s to %s, and none is left", prose.Count(e.Times, "answer", "answers"), e.Asked)
	case e.Nearest != "":
		text += "; the nearest that it has is " + e.Nearest
	}
	if e.Torn {
		return text + ": it was cut off before its run ended"
	}
	return text + ": apkgate sends other commands than when it was recorded, or an earlier answer was changed"
}

// Unwrap makes the end of a recording the loss of its device.
func (e *NoAnswerError) Unwrap() error { return device.ErrGone }

// Err returns why the replay ended before its run; nil if it did not.
func (p *Player) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Account returns the result of the replay so far.
func (p *Player) Account() Account {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.account
}

// Died is closed once the replay has failed and the run has received the error.
func (p *Player) Died() <-chan struct{} { return p.died }

// take finds the answer to a call, moves on to it and releases the events up to it.
func (p *Player) take(ctx context.Context, asked Entry) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	p.mu.Lock()
	if p.err != nil {
		defer p.mu.Unlock()
		return Entry{}, p.err
	}
	place, ok := p.find(asked.key())
	if !ok {
		defer p.mu.Unlock()
		p.err = p.noAnswer(asked)
		return Entry{}, p.err
	}
	events := p.move(place)
	e := p.calls[place].Entry
	if e.Op == Start && e.Error == nil {
		s := newStream(nil)
		s.until(ctx)
		p.streams[e.Stream] = s
	}
	p.mu.Unlock()
	p.release(events)
	return e, nil
}

// find returns the index of the next unused answer to a question: after the current position,
// or else the first.
func (p *Player) find(key string) (int, bool) {
	first := -1
	for _, place := range p.byKey[key] {
		switch {
		case p.used[place]:
		case place >= p.at:
			return place, true
		case first < 0:
			first = place
		}
	}
	return first, first >= 0
}

// move moves on to a call, and returns the background events up to its end.
func (p *Player) move(place int) (events []Entry) {
	p.used[place] = true
	p.account.Asked++
	if place == p.at {
		p.account.InOrder++
	}
	events = p.late()
	for ; p.at <= place; p.at++ {
		events = append(events, p.calls[p.at].events...)
	}
	if place+1 == p.at {
		p.now = max(p.now, p.calls[place].end())
		p.clock = nil
		if p.at < len(p.calls) {
			p.clock = p.calls[p.at].NowNS
		}
	}
	return events
}

// late returns the events of processes that have been started since.
func (p *Player) late() (events []Entry) {
	for number, early := range p.early {
		if p.streams[number] != nil {
			events = append(events, early...)
			delete(p.early, number)
		}
	}
	return events
}

// release delivers events to the readers of processes.
func (p *Player) release(events []Entry) {
	for _, e := range events {
		if e.Op == Lost {
			p.mu.Lock()
			lost := p.onLoss
			p.onLoss = nil
			p.mu.Unlock()
			if lost != nil {
				lost(e.Error.err())
			}
			continue
		}
		p.mu.Lock()
		s := p.streams[e.Stream]
		if s == nil {
			p.early[e.Stream] = append(p.early[e.Stream], e)
		}
		p.mu.Unlock()
		if s != nil {
			p.give(s, e)
		}
	}
}

func (p *Player) give(s *stream, e Entry) {
	if e.Op == Data {
		printed, err := p.recording.Content(e.Stdout)
		if err != nil {
			p.fail(err)
		}
		s.release(printed)
		return
	}
	stderr, err := p.recording.Content(e.Stderr)
	if err != nil {
		p.fail(err)
	}
	s.end(e.Error.err(), e.Exit, nil, stderr)
}

// fail ends the replay with an error of the recording itself.
func (p *Player) fail(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = fmt.Errorf("%w: %w", device.ErrGone, err)
	}
	return p.err
}

// noAnswer ends the replay for a call without an answer.
func (p *Player) noAnswer(asked Entry) error {
	e := &NoAnswerError{Asked: asked.Asked(), Times: len(p.byKey[asked.key()]), Torn: p.at >= len(p.calls) && !p.recording.Whole}
	if e.Times > 0 {
		return e
	}
	best := 0.3 // less is unrelated
	if asked.Op == Install {
		best = 0
	}
	for key, places := range p.byKey {
		other := p.calls[places[0]].Entry
		if other.Op != asked.Op {
			continue
		}
		if like := likeness(asked.key(), key); like > best || like == best && e.Nearest != "" && other.Asked() < e.Nearest {
			best, e.Nearest = like, other.Asked()
		}
	}
	return e
}

// likeness is the share of trigrams that two texts have in common, from 0 to 1 (Dice's
// coefficient).
func likeness(a, b string) float64 {
	const most = 4096
	grams := func(s string) map[string]int {
		out := map[string]int{}
		for i := 0; i+3 <= min(len(s), most); i++ {
			out[s[i:i+3]]++
		}
		return out
	}
	of, with := grams(a), grams(b)
	common, all := 0, 0
	for g, n := range of {
		common += min(n, with[g])
		all += n
	}
	for _, n := range with {
		all += n
	}
	return 2 * float64(common) / float64(cmp.Or(all, 1))
}

// Clock returns the clock of the recorded run. It repeats the recorded values. Where the run
// deviates, the time is approximate.
func (p *Player) Clock() device.Clock { return playedClock{p} }

type playedClock struct{ p *Player }

func (c playedClock) Now() time.Duration {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.clock) > 0 {
		p.now = max(p.now, time.Duration(p.clock[0]))
		p.clock = p.clock[1:]
	}
	return p.now
}

// Sleep advances the time at once: by the recorded sleep, if that is the next call.
func (c playedClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := c.p
	d = max(d, 0)
	p.mu.Lock()
	var events []Entry
	var failed error
	if p.at < len(p.calls) && p.calls[p.at].Op == Sleep && p.calls[p.at].ForNS == int64(d) {
		failed = p.calls[p.at].Error.err()
		events = p.move(p.at)
	} else {
		p.account.Asked++
		p.now += d
		events = p.late()
		for p.at < len(p.calls) && p.calls[p.at].end() <= p.now {
			events = append(events, p.calls[p.at].events...)
			p.at++
			p.clock = nil
		}
	}
	p.mu.Unlock()
	p.release(events)
	return failed
}

// Unrecorded implements device.UnrecordedClock.
func (c playedClock) Unrecorded() device.Clock { return unrecordedClock(c) }

type unrecordedClock struct{ p *Player }

func (c unrecordedClock) Now() time.Duration {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	return c.p.now
}

func (c unrecordedClock) Sleep(ctx context.Context, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}

// Wall returns the clock for timeouts of the replay. It stands still, since a recording
// answers at once.
func (p *Player) Wall() device.Clock { return wall{} }

type wall struct{}

// Wait implements device.Wait: events that were recorded during the wait arrived with the call
// before, and no more will come.
func (wall) Wait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func (wall) Now() time.Duration { return 0 }

func (wall) Sleep(ctx context.Context, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}
