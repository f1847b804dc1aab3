package boot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/boot"
)

// booting is a device whose answers change from one command to the next.
type booting struct {
	device.Device
	answers []answer
	reached int
	open    int
	// last is called before the last answer, or instead of it if there is none.
	last func()
}

// next returns the next answer; false if it never arrives.
func (b *booting) next() (a answer, ok bool) {
	if len(b.answers) > 0 {
		a, ok = b.answers[0], true
		b.answers = b.answers[1:]
	}
	if len(b.answers) == 0 && b.last != nil && (!ok || a.to != completed || a.out != "1") {
		b.last()
	}
	return a, ok
}

type answer struct {
	to, out, stderr string
	err             error
}

func (b *booting) reach(context.Context) (device.Device, error) {
	b.reached++
	if len(b.answers) > 0 && b.answers[0].to == "connect" {
		a, _ := b.next()
		return nil, a.err
	}
	b.open++
	return b, nil
}

func (b *booting) Close() error { b.open--; return nil }

func (b *booting) Exec(ctx context.Context, command string) (device.Output, error) {
	a, ok := b.next()
	if !ok {
		<-ctx.Done() // the device hangs
		return device.Output{}, context.Cause(ctx)
	}
	if a.to != command {
		return device.Output{}, fmt.Errorf("asked %q, want %q", command, a.to)
	}
	return device.Output{Stdout: []byte(a.out), Stderr: []byte(a.stderr)}, a.err
}

const (
	completed = "getprop sys.boot_completed"
	packages  = "pm path android"
)

var errOffline = fmt.Errorf("%w: device offline", device.ErrGone)

// A boot as adb and Android report it: absent, offline, an empty property, no package manager
// yet, and up.
func TestAwait(t *testing.T) {
	t.Parallel()
	b := &booting{answers: []answer{
		{to: "connect", err: device.ErrGone},
		{to: completed, err: errOffline},
		{to: completed, out: "\n"},
		{to: completed, out: "0\n"},
		{to: completed, out: "1\n"}, {to: packages, stderr: "cmd: Can't find service: package\n"},
		{to: completed, err: errOffline}, // adbd restarts
		{to: completed, out: "1\r\n"}, {to: packages, out: "package:/system/framework/framework-res.apk\r\n"},
	}}
	var told []string
	if err := boot.Await(t.Context(), b.reach, func(s string) { told = append(told, s) }); err != nil {
		t.Fatal(err)
	}
	if len(b.answers) != 0 || b.open != 0 || b.reached != 4 {
		t.Errorf("%d answers left, %d connections open of %d made; want none, none of 4", len(b.answers), b.open, b.reached)
	}
	if want := []string{"adb reaches the device; Android is starting", "Android has booted; its services are starting"}; !slices.Equal(told, want) {
		t.Errorf("reported %q, want each step once: %q", told, want)
	}
}

// The error of a timeout contains the last state.
func TestAwaitTimeout(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	for name, c := range map[string]struct {
		answers []answer
		last    string
		reached bool
	}{
		"never there":           {[]answer{{to: "connect", err: refused}, {to: "connect", err: refused}}, "adb: connection refused", false},
		"unauthorized":          {[]answer{{to: completed, err: device.ErrUnauthorized}}, "the device has not authorized this computer's adb key", false},
		"not booted":            {[]answer{{to: completed}, {to: completed, out: "0"}}, `sys.boot_completed is "0"`, true},
		"no package manager":    {[]answer{{to: completed, out: "1"}, {to: packages, out: "Error: \x1b[2J"}}, `the package manager says "Error: \x1b[2J"`, true},
		"it hangs":              {nil, "adb: the time is over", false},
		"packages never answer": {[]answer{{to: completed, out: "1"}}, "adb: the time is over", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			over := errors.New("the time is over")
			b := &booting{answers: c.answers, last: func() { cancel(over) }}
			err := boot.Await(ctx, b.reach, func(string) {})
			var notUp *boot.NotUpError
			if !errors.As(err, &notUp) || !errors.Is(err, over) || notUp.Last != c.last || notUp.Reached != c.reached || !strings.Contains(err.Error(), c.last) || b.open != 0 {
				t.Errorf("%v, %d connections open; want that %s", err, b.open, c.last)
			}
		})
	}
}
