package ring

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/trace/art"
)

// The start-ups of section 8.3 of the paper: calls, and the megabytes (of 2^20 bytes) that they
// filled of Hubble's ring.
func TestStartUpsTakeThePapersBytes(t *testing.T) {
	t.Parallel()
	for app, c := range map[string]struct {
		calls int
		mb    float64
	}{"WhatsApp": {250_000, 3.8}, "TikTok": {400_000, 6.0}, "Facebook": {420_000, 6.4}} {
		r := New(32<<20, Mode64)
		for i := range c.calls {
			r.Enter(uint64(2*i), 0x7123_4560+uint32(i%5000)*40)
			r.Exit(uint64(2*i+1), art.Exit)
		}
		mb := float64(r.Bytes()) / (1 << 20)
		if mb < 0.95*c.mb || mb > 1.05*c.mb {
			t.Errorf("%s: %d calls take %.2f MB, want %.1f within 5 %%", app, c.calls, mb, c.mb)
		}
	}
}

// Figure 3 of the paper.
func TestTimesAreRecoveredFromTheReference(t *testing.T) {
	t.Parallel()
	s := Snapshot{Slots: []uint64{0xFFFFFFFF << 32, 0x00000001 << 32, 0x00000002 << 32}, Reference: 0x8888888800000003}
	var got []uint64
	for e := range s.Backwards() {
		got = append(got, e.Ticks)
	}
	if want := []uint64{0x8888888800000002, 0x8888888800000001, 0x88888887FFFFFFFF}; !slices.Equal(got, want) {
		t.Errorf("the times are %#x, want %#x", got, want)
	}
}

// Figure 2 of the paper: entry (A), entry (B) and exit in 64-bit mode; 32-bit mode has one slot for
// each.
func TestSlotsAreThePapers(t *testing.T) {
	t.Parallel()
	r := New(64, Mode64)
	r.Enter(0x9_00000005, 0x71234560)
	r.EnterWide(0x9_00000006, 0x7f_71234560)
	r.Exit(0x9_00000007, art.Exit)
	r.Exit(0x9_00000008, art.Unroll)
	want := []uint64{5<<32 | 0x71234560, 0x7f71234560, 6<<32 | 1, 7 << 32, 8<<32 | 2}
	if got := r.Snapshot(0).Slots; !slices.Equal(got, want) {
		t.Errorf("the slots are %#x, want %#x", got, want)
	}
	r = New(64, Mode32)
	r.Enter(5, 0xFFFFFFFF)
	r.EnterWide(6, 0x7f_71234560) // no address of 32 bits
	r.Enter(7, 2)                 // no address
	r.Exit(8, art.Exit)
	s := r.Snapshot(0)
	if want := []uint64{5<<32 | 0xFFFFFFFF, 8 << 32}; !slices.Equal(s.Slots, want) || s.Refused != 2 {
		t.Errorf("in 32-bit mode the slots are %#x, want %#x; %d are refused, want 2", s.Slots, want, s.Refused)
	}
}

// op is one thing that a thread does.
type op struct {
	step   uint64 // ticks since the one before
	method uint64
	action art.Action
}

// written is an entry as it was written, with the slots that it takes.
type written struct {
	Entry
	slots int
	gap   bool // 2^32 ticks or more after the one before
}

// write writes what a thread does, and returns the entries whose slots are not overwritten.
func write(r *Ring, ops []op, now uint64) []written {
	var all []written
	for i, o := range ops {
		now += o.step
		w := written{Entry: Entry{Ticks: now, Action: o.action}, slots: 1, gap: i > 0 && o.step >= 1<<32}
		if o.action == art.Enter {
			w.Method = o.method
			if o.method >= 1<<32 {
				w.slots = 2
			}
			r.EnterWide(now, o.method)
		} else {
			r.Exit(now, o.action)
		}
		all = append(all, w)
	}
	room := len(r.slots)
	for i := len(all) - 1; i >= 0; i-- {
		if room -= all[i].slots; room < 0 {
			return all[i+1:]
		}
	}
	return all
}

// checkDecoded compares what is decoded with what was written: before a gap of 2^32 ticks, times
// are right but for a multiple of 2^32, and are said to be uncertain.
func checkDecoded(t *testing.T, s Snapshot, want []written) {
	t.Helper()
	forwards, backwards := slices.Collect(s.Entries()), slices.Collect(s.Backwards())
	slices.Reverse(backwards)
	if !slices.Equal(forwards, backwards) {
		t.Fatalf("forwards %+v\nbackwards %+v", forwards, backwards)
	}
	if len(forwards) != len(want) {
		t.Fatalf("%d entries are decoded, want %d\n%+v\n%+v", len(forwards), len(want), forwards, want)
	}
	uncertain := false
	for i := len(want) - 1; i >= 0; i-- {
		w, got := want[i].Entry, forwards[i]
		if w.Uncertain = uncertain; uncertain && got.Ticks > w.Ticks && (got.Ticks-w.Ticks)%(1<<32) == 0 {
			w.Ticks = got.Ticks
		}
		if got != w {
			t.Fatalf("entry %d of %d is %+v, want %+v", i, len(want), got, w)
		}
		uncertain = uncertain || want[i].gap
	}
}

// Streams by chance, longer than the ring, with methods of both widths, exceptions, and times that
// overflow 32 bits, are decoded to what was written.
func TestDecodedIsWhatWasWritten(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 24))
		mode := Mode(seed % 2)
		ops := make([]op, rng.IntN(200))
		for i := range ops {
			o := op{method: FirstMethod + rng.Uint64N(1<<32-FirstMethod), action: art.Action(rng.IntN(3)), step: rng.Uint64N(100)}
			if mode == Mode64 && rng.IntN(4) == 0 {
				o.method = 1<<32 + rng.Uint64N(1<<40)
			}
			switch rng.IntN(20) {
			case 0:
				o.step = rng.Uint64N(1 << 32)
			case 1:
				o.step = 1<<32 - 1
			case 2:
				if seed%5 == 0 {
					o.step = 1<<32 + rng.Uint64N(1<<34)
				}
			}
			ops[i] = o
		}
		r := New(SlotBytes<<(1+rng.IntN(6)), mode)
		begin := rng.Uint64N(1 << 50)
		want := write(r, ops, begin)
		s := r.Snapshot(r.last + rng.Uint64N(1<<32))
		checkDecoded(t, s, want)
		if s.Refused != 0 {
			t.Fatalf("seed %d: %d refused", seed, s.Refused)
		}
	}
}

// A gap of exactly 2^32 ticks can't be seen in the slots, and is reported; one tick less can.
func TestGapIsReported(t *testing.T) {
	t.Parallel()
	for step, uncertain := range map[uint64]int{1<<32 - 1: 0, 1 << 32: 1, 5 << 32: 1} {
		r := New(64, Mode64)
		r.Enter(1<<40, 7)
		r.Exit(1<<40+step, art.Exit)
		s := r.Snapshot(0)
		if s.Uncertain != uncertain {
			t.Errorf("behind a gap of %d ticks %d slots are uncertain, want %d", step, s.Uncertain, uncertain)
		}
		for e := range s.Entries() {
			if e.Uncertain != (uncertain > 0 && e.Action == art.Enter) {
				t.Errorf("behind a gap of %d ticks: %+v", step, e)
			}
		}
		// The time of saving is as far from the newest entry.
		r = New(64, Mode64)
		r.Enter(1<<40, 7)
		if s := r.Snapshot(1<<40 + step); s.Uncertain != uncertain {
			t.Errorf("saved %d ticks after the newest entry, %d slots are uncertain, want %d", step, s.Uncertain, uncertain)
		}
	}
}

// A gap that the ring has overwritten makes nothing uncertain.
func TestOverwrittenGapIsForgotten(t *testing.T) {
	t.Parallel()
	r := New(4*SlotBytes, Mode64)
	r.Enter(1, 7)
	r.Exit(1<<33, art.Exit)
	for i := range uint64(3) {
		if s := r.Snapshot(0); s.Uncertain != 1 {
			t.Errorf("after %d more entries %d slots are uncertain, want 1", i, s.Uncertain)
		}
		r.Exit(1<<33+i, art.Exit)
		if i == 1 {
			break
		}
	}
	r.Exit(1<<33+5, art.Exit)
	if s := r.Snapshot(0); s.Uncertain != 0 || len(s.Slots) != 4 {
		t.Errorf("%d of %d slots are uncertain, want 0 of 4", s.Uncertain, len(s.Slots))
	}
}

// A time before the last one is raised to it: decoded, it would be 2^32 ticks early.
func TestTimeDoesNotRunBack(t *testing.T) {
	t.Parallel()
	r := New(64, Mode64)
	r.Enter(1<<40+10, 7)
	r.Enter(1<<40+3, 8)
	r.Exit(1<<40+9, art.Exit)
	s := r.Snapshot(0)
	want := []Entry{{Ticks: 1<<40 + 10, Method: 7}, {Ticks: 1<<40 + 10, Method: 8}, {Ticks: 1<<40 + 10, Action: art.Exit}}
	if got := slices.Collect(s.Entries()); !slices.Equal(got, want) || s.Uncertain != 0 {
		t.Errorf("decoded are %+v, want %+v; %d slots are uncertain, want 0", got, want, s.Uncertain)
	}
}

// A ring has at least two slots, and no more than fit.
func TestRingFitsItsBytes(t *testing.T) {
	t.Parallel()
	for bytes, slots := range map[int]int{0: 2, 16: 2, 31: 2, 32: 4, 63: 4, 32 << 20: 4 << 20} {
		if got := len(New(bytes, Mode64).slots); got != slots {
			t.Errorf("a ring of %d bytes has %d slots, want %d", bytes, got, slots)
		}
	}
}

// FuzzRing writes what the bytes tell, and compares what is decoded with it.
func FuzzRing(f *testing.F) {
	f.Add(uint8(0), []byte("0123456789abcdef0123456789abcdef"))
	f.Add(uint8(9), []byte{0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, size uint8, data []byte) {
		mode := Mode(size % 2)
		var ops []op
		for ; len(data) >= 16; data = data[16:] {
			a, b := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
			o := op{action: art.Action(a % 3), step: (a >> 2) % (1 << 36), method: max(b, FirstMethod)}
			if mode == Mode32 {
				o.method = max(o.method%(1<<32), FirstMethod)
			}
			ops = append(ops, o)
		}
		r := New(SlotBytes<<(size%8), mode)
		checkDecoded(t, r.Snapshot(r.last), write(r, nil, 0))
		want := write(r, ops, 1<<40)
		checkDecoded(t, r.Snapshot(r.last), want)
	})
}

// FuzzSnapshot decodes slots that no ring wrote: both directions agree.
func FuzzSnapshot(f *testing.F) {
	f.Add(uint64(3), []byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Add(uint64(2), []byte{1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, reference uint64, data []byte) {
		s := Snapshot{Mode: Mode(reference % 2), Reference: reference, Uncertain: int(reference % 5)}
		for ; len(data) >= 8; data = data[8:] {
			s.Slots = append(s.Slots, binary.LittleEndian.Uint64(data))
		}
		forwards, backwards := slices.Collect(s.Entries()), slices.Collect(s.Backwards())
		slices.Reverse(backwards)
		if !slices.Equal(forwards, backwards) {
			t.Errorf("forwards %+v\nbackwards %+v", forwards, backwards)
		}
	})
}

// Whoever has seen enough stops.
func TestDecodingCanStop(t *testing.T) {
	t.Parallel()
	r := New(64, Mode64)
	for i := range uint32(4) {
		r.Enter(uint64(i), FirstMethod+i)
	}
	for e := range r.Snapshot(0).Entries() {
		if e.Method != FirstMethod {
			t.Errorf("the oldest is %+v", e)
		}
		break
	}
	for e := range r.Snapshot(0).Backwards() {
		if e.Method != FirstMethod+3 {
			t.Errorf("the newest is %+v", e)
		}
		break
	}
}
