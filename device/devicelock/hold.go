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

// ErrNoMark means that no mark can be written to the device: its storage is full or read-only,
// or it does not report its uptime.
var ErrNoMark = errors.New("no mark can be made on the device")

// Hold is the exclusive use of a device by this process, through its mark. Its methods may be
// called concurrently.
type Hold struct {
	name  string
	owner Owner

	mu      sync.Mutex
	lease   time.Duration
	renewed time.Duration // on the clock of the caller
}

// Mark marks the device as used by the owner: it writes its own mark and then reads all
// others. Of two processes that do so at once, at least one sees the other. If another mark is
// valid, its own is removed and the error is a *HeldError. The error is ErrNoMark if the
// device can't store a mark and no other is valid. now is the caller's clock, and rest is the
// output of more, which is run on the same command line.
func Mark(ctx context.Context, ask Ask, o Owner, now time.Duration, more string) (h *Hold, rest []byte, err error) {
	h = &Hold{name: rand.Text(), owner: o, lease: Lease}
	rest, err = h.take(ctx, ask, now, more)
	if err != nil {
		h = nil
	}
	return h, rest, err
}

// Reacquire verifies that this process still holds the device, or takes it again, after its
// connection was lost.
func (h *Hold) Reacquire(ctx context.Context, ask Ask, now time.Duration) error {
	_, err := h.take(ctx, ask, now, ":")
	return err
}

func (h *Hold) take(ctx context.Context, ask Ask, now time.Duration, more string) (rest []byte, err error) {
	h.mu.Lock()
	h.lease, h.renewed = Lease, now
	h.mu.Unlock()
	out, err := ask(ctx, write(h.name, Lease, h.owner)+listMarks(more))
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
	case !ours || !s.known:
		return s.rest, ErrNoMark
	}
	return s.rest, nil
}

// Check reads who uses the device, and the output of more, without marking it. An owner whose
// lock has the given name is gone. If the device is in use, the error is a *HeldError.
func Check(ctx context.Context, ask Ask, lock, more string) (rest []byte, err error) {
	out, err := ask(ctx, listMarks(more))
	if err != nil {
		return nil, fmt.Errorf("read who uses the device: %w", err)
	}
	s := readMarks(out.Stdout)
	for _, m := range s.marks {
		if m.counts(s.boot, s.now, lock) {
			return s.rest, &HeldError{m.owner}
		}
	}
	return s.rest, nil
}

// markGone is what the device prints if the mark is gone: another process removes a mark that was
// not renewed in time.
const markGone = "apkgate-mark-gone"

// Renewal returns a prefix for any command line that renews the mark if that is due, and
// otherwise "". The prefix prints nothing unless the mark is gone (see Gone). now is the
// caller's clock.
func (h *Hold) Renewal(now time.Duration) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now-h.renewed < RenewEvery {
		return ""
	}
	h.renewed = now
	back := ""
	if h.lease != Lease { // the end of an announced silence
		h.lease = Lease
		back = "echo lease " + inSeconds(Lease) + "; "
	}
	return h.line(back)
}

// Silence is Renewal for a caller that will send nothing for the given time. It always renews.
func (h *Hold) Silence(now, long time.Duration) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.renewed, h.lease = now, long+Lease
	return h.line("echo lease " + inSeconds(h.lease) + "; ")
}

func (h *Hold) line(more string) string {
	path := pathOf(h.name)
	return "{ [ -f " + path + " ] && { { cat " + uptimeFile + "; " + more + "} >>" + path + "; true; } || echo " + markGone + "; } 2>/dev/null; "
}

// Gone reports whether a command line with Renewal's prefix found the mark gone, and removes that
// message from its output.
func Gone(out *device.Output) bool {
	rest, found := bytes.CutPrefix(bytes.TrimLeft(out.Stdout, "\r\n"), []byte(markGone))
	if found {
		out.Stdout = bytes.TrimLeft(rest, "\r\n")
	}
	return found
}

// Release returns the command that removes the mark.
func (h *Hold) Release() string { return device.Quote("rm", "-f", pathOf(h.name)) }

// How often a device in use is checked, which costs it some time; and the limit of the random
// delay that separates two waiters.
const (
	lookEvery = 15 * time.Second
	apart     = 3 * time.Second
)

// Await is Mark as soon as the device is free, within the longest time allowed on the clock;
// the owner's Since is set to that moment. tell is called with the current owner at once and
// then each minute.
func Await(ctx context.Context, ask Ask, clock device.Clock, o Owner, longest time.Duration, more string, tell func(Owner)) (h *Hold, rest []byte, err error) {
	begun, reported := clock.Now(), clock.Now()-tellEach
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
		if clock.Now()-reported >= tellEach {
			tell(held.Owner)
			reported = clock.Now()
		}
		if err := clock.Sleep(ctx, lookEvery+random(apart)); err != nil {
			return nil, nil, err
		}
		if _, err = Check(ctx, ask, o.Lock, ":"); err == nil {
			mark()
		}
	}
}

// random returns a random duration below the longest, different for each caller.
func random(longest time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(longest)))
	if err != nil {
		return 0
	}
	return time.Duration(n.Int64())
}
