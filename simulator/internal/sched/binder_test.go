package sched

import (
	"slices"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// pool returns threads of a process that answer calls, numbered after its own.
func (p *phone) pool(pid int32, threads int32) *Pool {
	var out Pool
	for n := range threads {
		out.Threads = append(out.Threads, p.Thread(timeline.Thread{PID: pid, TID: pid + 1 + n}, nil))
	}
	return &out
}

// of returns the runs of a thread.
func (p *phone) of(tid int32) (out []timeline.Run) {
	for _, r := range p.timeline.Runs {
		if n := len(out); r.TID == tid && n > 0 && out[n-1].State == goesOn && out[n-1].To == r.From {
			out[n-1].To, out[n-1].State = r.To, r.State
		} else if r.TID == tid {
			out = append(out, r)
		}
	}
	return out
}

// A caller sleeps while a thread of the other process handles the call, which then wakes it;
// until then it does nothing else. After a one-way call the caller continues.
func TestCallerSleepsUntilTheAnswer(t *testing.T) {
	t.Parallel()
	for _, oneWay := range []bool{false, true} {
		for _, step := range []time.Duration{50 * ms, 100 * time.Microsecond} { // however often it is advanced
			p := newPhone(1)
			ui, server := p.threads[0], p.pool(500, 2)
			p.items = []Item{
				{Thread: ui, From: ms, To: 10 * ms, Calls: []Call{{At: 3 * ms, To: server, Takes: 2 * ms, OneWay: oneWay, Code: 9}}},
				{Thread: ui, From: 4 * ms, To: 12 * ms},
			}
			p.run(50*ms, step)
			called, worked, answered := 3*ms, timeline.Interval{From: 3*ms + unblocks, To: 5*ms + unblocks}, 5*ms+unblocks-parks
			own := p.of(1000)
			if got := p.of(501); len(got) != 1 || got[0].From != worked.From || got[0].To != worked.To || got[0].Woken != called || got[0].Waker != 1000 {
				t.Fatalf("one-way %v: the server ran %+v, want %v, woken by the caller", oneWay, got, worked)
			}
			sent := p.timeline.Transactions
			if first := sent[0]; first.Sent != called || first.Received != worked.From || first.From != 1000 || first.To != 501 || first.Process != 500 || first.Code != 9 || first.OneWay != oneWay || first.Reply {
				t.Errorf("one-way %v: sent %+v", oneWay, first)
			}
			if oneWay {
				if len(sent) != 1 || len(own) != 1 || own[0].From != ms || own[0].To != 12*ms {
					t.Errorf("the caller ran %+v, and sent %d", own, len(sent))
				}
				continue
			}
			if len(own) != 2 || own[0].To != called+parks || own[0].State != asleep || own[1].From != answered+unblocks || own[1].Woken != answered || own[1].Waker != 501 || own[1].To != 12*ms {
				t.Fatalf("the caller ran %+v, its call was worked on %v", own, worked)
			}
			if len(sent) != 2 || !sent[1].Reply || sent[1].From != 501 || sent[1].To != 1000 || sent[1].Sent != answered || sent[1].Received != own[1].From {
				t.Errorf("answered %+v", sent[1:])
			}
		}
	}
}

// Concurrent calls are handled by one thread each, and one after the other if there are more;
// a caller that has ended is not answered.
func TestConcurrentCallsUseDifferentThreads(t *testing.T) {
	t.Parallel()
	p := newPhone(3)
	server := p.pool(500, 2)
	for i, thread := range p.threads {
		p.items = append(p.items, Item{Thread: thread, From: ms, To: 10 * ms, Calls: []Call{{At: 2*ms + time.Duration(i), To: server, Takes: ms}}})
	}
	p.run(2500*time.Microsecond, 2500*time.Microsecond)
	p.Exit(p.threads[1])
	p.Advance(50*ms, nil)
	var answered []int32
	for _, one := range p.timeline.Transactions {
		if one.Reply {
			answered = append(answered, one.To)
		}
	}
	if !slices.Equal(answered, []int32{1000, 1002}) || len(p.of(1001)) != 1 {
		t.Errorf("answered %v", answered)
	}
	if a, b := server.Threads[0].Ran(), server.Threads[1].Ran(); a != 2*ms || b != ms {
		t.Errorf("the threads worked %v and %v on three calls of 1 ms", a, b)
	}
}

// For an input event that opens an activity, the UI thread calls the system; for another event
// it calls nothing. Each of the threads runs a moment after it was woken, once.
func TestTouchThatOpensAnActivity(t *testing.T) {
	t.Parallel()
	for _, opens := range []bool{true, false} {
		p := newPhone(3)
		reader, dispatcher, ui := p.threads[0], p.threads[1], p.threads[2]
		p.items = []Item{Touch(reader, dispatcher, ui, &Binder{System: p.pool(500, 1)}, ms, opens)}
		p.run(20*ms, 20*ms)
		first := p.of(1002)
		if len(first) == 0 || first[0].Waker != 1001 || p.of(1001)[0].Waker != 1000 || p.of(1000)[0].Waker != 0 {
			t.Fatalf("the event went through %+v", p.timeline.Runs)
		}
		asked := len(p.timeline.Transactions) == 2 && p.timeline.Transactions[0].From == 1002 && p.timeline.Transactions[0].Process == 500
		if asked != opens || !opens && len(p.timeline.Transactions) > 0 {
			t.Errorf("opens %v: sent %+v", opens, p.timeline.Transactions)
		}
		for _, thread := range []*Thread{reader, dispatcher} {
			if long, turns := thread.Delayed(); long <= 0 || long >= 100*time.Microsecond || turns != 1 {
				t.Errorf("thread %d waited for %v in %d turns", thread.TID, long, turns)
			}
		}
	}
}
