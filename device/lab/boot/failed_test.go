package boot_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/lease"
)

// Ending.Run takes steps until one reports that it is done, and otherwise reports what to do
// by hand.
func TestEndingRun(t *testing.T) {
	t.Parallel()
	locked := &boot.Error{Lab: "Lab", What: "stop it: no", Advice: "log in"}
	for name, c := range map[string]struct {
		steps        []error // nil means not done yet; done after the last
		within       time.Duration
		what, advice string // "" for success
		retry        bool
		left         int // steps not taken
	}{
		"at once":                 {within: time.Hour},
		"at the third step":       {steps: []error{nil, errors.New("a moment")}, within: time.Hour},
		"hopeless":                {steps: []error{nil, locked, nil}, within: time.Hour, what: "stop it: no", advice: "log in; then apkgate devices clean, or pull the plug", left: 1},
		"too late":                {steps: []error{nil}, what: "stop x: it still runs after 1ms", advice: "then apkgate devices clean, or pull the plug", retry: true},
		"too late, and unsettled": {steps: []error{errors.New("gone")}, what: "stop x: gone", advice: "then apkgate devices clean, or pull the plug"},
	} {
		e := boot.Ending{Lab: "Lab", Doing: "stop x", Still: "it still runs", ByHand: "pull the plug", Within: cmp.Or(c.within, time.Millisecond), Every: time.Hour - c.within + time.Nanosecond, // at once where there is an hour, else never
			Hopeless: func(err error) bool { return err == error(locked) },
			Step: func(context.Context) (bool, error) {
				if len(c.steps) == 0 {
					return true, nil
				}
				err := c.steps[0]
				c.steps = c.steps[1:]
				return false, err
			}}
		err := e.Run(t.Context())
		var failed *boot.Error
		switch {
		case c.what == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.what != "" && (!errors.As(err, &failed) || failed.What != c.what || failed.Advice != c.advice || failed.Retry != c.retry):
			t.Errorf("%s: %+v, want %q, %q, retry %v", name, failed, c.what, c.advice, c.retry)
		}
		if len(c.steps) != c.left {
			t.Errorf("%s: %d steps are not taken, want %d", name, len(c.steps), c.left)
		}
	}
}

// An earlier error is reported rather than the timeout.
func TestEndingTimeout(t *testing.T) {
	t.Parallel()
	tries := 0
	e := boot.Ending{Lab: "Lab", Doing: "stop x", Still: "it still runs", ByHand: "pull the plug", Within: 20 * time.Millisecond, Every: time.Nanosecond,
		Hopeless: func(error) bool { return false },
		Step: func(ctx context.Context) (bool, error) {
			if tries++; tries == 1 {
				return false, &boot.Error{Lab: "Lab", What: "stop x: out of order", Retry: true}
			}
			<-ctx.Done()
			return false, fmt.Errorf("ask: %w", ctx.Err())
		}}
	if err := e.Run(t.Context()); err == nil || err.Error() != "Lab: stop x: out of order" || tries != 2 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

// Finding shows an error's advice as a hint.
func TestFinding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want device.Finding
	}{
		{nil, device.Finding{Name: "x", OK: true, Detail: "fine"}},
		{errors.New("gone"), device.Finding{Name: "x", Detail: "gone"}},
		{&boot.Error{Lab: "Lab", What: "no x", Advice: "buy one"}, device.Finding{Name: "x", Detail: "no x", Hint: "buy one"}},
	} {
		if got := boot.Finding("x", c.err, "fine"); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.err, got, c.want)
		}
	}
}

// MayAppear is true for a recent request that is not known to be completed.
func TestMayAppear(t *testing.T) {
	t.Parallel()
	longAgo := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	for name, c := range map[string]struct {
		detail map[string]string
		may    bool
	}{
		"nothing begun":      {nil, false},
		"begun":              {map[string]string{"begun": boot.Now()}, true},
		"done":               {map[string]string{"begun": boot.Now(), "done": "yes"}, false},
		"begun long ago":     {map[string]string{"begun": longAgo}, false},
		"begun at some time": {map[string]string{"begun": "yesterday"}, false},
	} {
		if may := boot.MayAppear(lease.Lease{Detail: c.detail}, "begun", "done", time.Minute); may != c.may {
			t.Errorf("%s: %v, want %v", name, may, c.may)
		}
	}
}
