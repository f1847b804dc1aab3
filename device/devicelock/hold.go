package devicelock

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
)

// Ask runs a command line on the device.
type Ask func(ctx context.Context, line string) (device.Output, error)

// ErrNoMark says that the device keeps no mark: its storage is full or can't be written
// to, or it tells no time.
var ErrNoMark = errors.New("no mark can be made on the device")

// Hold is a device in use by this process, as its mark there says. Its methods may be
// called from several goroutines.
type Hold struct {
	name  string
	owner Owner

	mu      sync.Mutex
	lease   time.Duration
	renewed time.Duration // on the clock of the caller
}

// Mark marks the device as in use by the owner: it makes its own mark and then looks
// at the others. Of two that do so at once, at least one sees the other. Where another
// counts, its own is taken away again, and the error is a *HeldError; ErrNoMark where
// the device takes none and nobody else's counts. now is the caller's clock, and rest
// what more prints, on the same command line.
func Mark(ctx context.Context, ask Ask, o Owner, now time.Duration, more string) (h *Hold, rest []byte, err error) {
	h = &Hold{name: rand.Text(), owner: o, lease: Lease}
	rest, err = h.take(ctx, ask, now, more)
	if err != nil {
		h = nil
	}
	return h, rest, err
}

// Again makes sure that the device is still this process's, as after it was lost.
func (h *Hold) Again(ctx context.Context, ask Ask, now time.Duration) error {
	_, err := h.take(ctx, ask, now, ":")
	return err
}

func (h *Hold) take(ctx context.Context, ask Ask, now time.Duration, more string) (rest []byte, err error) {
	h.mu.Lock()
	h.lease, h.renewed = Lease, now
	h.mu.Unlock()
	out, err := ask(ctx, write(h.name, Lease, h.owner)+look(more))
	if err != nil {
		return nil, fmt.Errorf("mark the device as in use: %w", err)
	}
	s := readMarks(out.Stdout)
	var dead []string
	var other *mark
	ours := false
	for _, m := range s.marks {
		switch {
		case m.name == h.name:
			ours = m.counts(s.boot, s.now, "")
		case m.counts(s.boot, s.now, h.owner.Lock):
			other = &m
		case m.name != "":
			dead = append(dead, pathOf(m.name))
		}
	}
	if other != nil {
		dead = append(dead, pathOf(h.name))
	}
	if len(dead) > 0 {
		if _, err := ask(ctx, device.Quote(append([]string{"rm", "-f"}, dead...)...)); err != nil {
			return nil, fmt.Errorf("remove the marks of the device that no longer count: %w", err)
		}
	}
	switch {
	case other != nil:
		return nil, &HeldError{other.owner}
	case !ours || !s.told:
		return s.rest, ErrNoMark
	}
	return s.rest, nil
}

// Look tells who uses the device, and what more prints, without marking it. Whoever
// holds the lock, if any, is gone. The error is a *HeldError where somebody does.
func Look(ctx context.Context, ask Ask, lock, more string) (rest []byte, err error) {
	out, err := ask(ctx, look(more))
	if err != nil {
		return nil, fmt.Errorf("look who uses the device: %w", err)
	}
	s := readMarks(out.Stdout)
	for _, m := range s.marks {
		if m.counts(s.boot, s.now, lock) {
			return s.rest, &HeldError{m.owner}
		}
	}
	return s.rest, nil
}

// taken is what the device prints where the mark is gone, as somebody takes it away
// who was not renewed for too long.
const taken = "apkgate-mark-gone"

// Beat is what to put before a command line that is sent anyhow, to renew the mark
// where that is due: it prints nothing unless the mark is gone (see Gone). "" where it
// is not due. now is the caller's clock.
func (h *Hold) Beat(now time.Duration) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now-h.renewed < RenewEvery {
		return ""
	}
	h.renewed = now
	back := ""
	if h.lease != Lease { // a long silence is over
		h.lease = Lease
		back = "echo lease " + inSeconds(Lease) + "; "
	}
	return h.line(back)
}

// Silence is Beat for whoever sends nothing for so long from now on: it is always due.
func (h *Hold) Silence(now, long time.Duration) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.renewed, h.lease = now, long+Lease
	return h.line("echo lease " + inSeconds(h.lease) + "; ")
}

func (h *Hold) line(more string) string {
	path := pathOf(h.name)
	return "{ [ -f " + path + " ] && { { cat " + uptimeFile + "; " + more + "} >>" + path + "; true; } || echo " + taken + "; } 2>/dev/null; "
}

// Gone reports whether a command line behind Beat found the mark gone, and takes that
// out of its output.
func Gone(out *device.Output) bool {
	rest, found := bytes.CutPrefix(bytes.TrimLeft(out.Stdout, "\r\n"), []byte(taken))
	if found {
		out.Stdout = bytes.TrimLeft(rest, "\r\n")
	}
	return found
}

// Release is the command that takes the mark away.
func (h *Hold) Release() string { return device.Quote("rm", "-f", pathOf(h.name)) }

// How often a device that somebody else uses is looked at, which takes it some of its
// time; and by how much two that met wait longer than one another.
const (
	lookEvery = 15 * time.Second
	apart     = 3 * time.Second
)

// Await is Mark as soon as nobody else uses the device, within the time that is
// allowed, on the clock; the owner's Since is when that was. tell is told who uses it, at once and each minute.
func Await(ctx context.Context, ask Ask, clock device.Clock, o Owner, longest time.Duration, more string, tell func(Owner)) (h *Hold, rest []byte, err error) {
	begun, told := clock.Now(), clock.Now()-tellEach
	mark := func() {
		o.Since = time.Now()
		h, rest, err = Mark(ctx, ask, o, clock.Now(), more)
	}
	mark()
	for {
		var held *HeldError
		if !errors.As(err, &held) || clock.Now()-begun >= longest {
			return h, rest, err
		}
		if clock.Now()-told >= tellEach {
			tell(held.Owner)
			told = clock.Now()
		}
		if err := clock.Sleep(ctx, lookEvery+random(apart)); err != nil {
			return nil, nil, err
		}
		if _, err = Look(ctx, ask, o.Lock, ":"); err == nil {
			mark()
		}
	}
}

// random is a time shorter than the longest, another for each that asks.
func random(longest time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(longest)))
	if err != nil {
		return 0
	}
	return time.Duration(n.Int64())
}
