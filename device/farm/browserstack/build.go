package browserstack

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// build is the relevant part of a build's state (api-reference/espresso/builds, Get build
// status).
type build struct {
	Status  string    `json:"status"`
	Devices []ofPhone `json:"devices"`
}

// ofPhone is one device of a build.
type ofPhone struct {
	Device   string    `json:"device"`
	Version  string    `json:"os_version"`
	Sessions []session `json:"sessions"`
}

// session is the test on one device: without shards there is one
// (api-reference/espresso/sessions).
type session struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Seconds number `json:"duration"`
	Tests   struct {
		Count int     `json:"count"`
		Data  []suite `json:"data"` // of the session's own page alone
	} `json:"testcases"`
}

type suite struct {
	Class string     `json:"class"`
	Tests []testCase `json:"testcases"`
}

type testCase struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Log    string `json:"instrumentation_log"` // an address
}

// ended are the final states. An undocumented state is not final.
var ended = []string{"passed", "failed", "error", "timedout", "timeout", "skipped", "stopped", "done"}

func final(status string) bool { return slices.Contains(ended, strings.ToLower(status)) }

// progress counts the devices by their states: "1 queued and 1 running".
func (b build) progress() string {
	counts := map[string]int{}
	var states []string
	for _, d := range b.Devices {
		for _, s := range d.Sessions {
			if counts[s.Status]++; counts[s.Status] == 1 {
				states = append(states, s.Status)
			}
		}
	}
	for i, s := range states {
		states[i] = fmt.Sprintf("%d %s", counts[s], prose.Clip(prose.OneLine(s), 40))
	}
	if len(states) == 0 {
		return prose.Clip(prose.OneLine(b.Status), 40)
	}
	slices.Sort(states)
	return prose.List(states)
}

// running reports whether the test is running on a device, rather than waiting for one.
func (b build) running() bool {
	return slices.ContainsFunc(b.Devices, func(d ofPhone) bool {
		return slices.ContainsFunc(d.Sessions, func(s session) bool { return s.Status == "running" })
	})
}

func buildPath(id string) string {
	return "app-automate/espresso/v2/builds/" + url.PathEscape(id)
}

func (f *Farm) state(ctx context.Context, id string) (b build, err error) {
	return b, f.call(ctx, http.MethodGet, buildPath(id), nil, &b)
}

func dashboard(id string) string {
	return "https://app-automate.browserstack.com/dashboard/v2/builds/" + id
}

// Await polls the build until its state is final. BrowserStack's own limit is two hours, so a
// test that exceeds its time limit is stopped here.
func (f *Farm) Await(ctx context.Context, o farm.Order, l lease.Lease, tell func(string)) error {
	id := l.Detail[noteBuild]
	tell("build " + dashboard(id))
	var since time.Time
	stopping := false
	err := f.computer.Watch(ctx, o.Within, func(ctx context.Context) (string, bool, error) {
		b, err := f.state(ctx, id)
		if err != nil || final(b.Status) {
			return "", err == nil, err
		}
		switch {
		case !b.running():
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > o.Within && !stopping:
			stopping = f.stop(ctx, id) == nil
		}
		if stopping {
			return "stopped, since it took longer than " + prose.Duration(o.Within), false, nil
		}
		return b.progress(), false, nil
	}, tell)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return farmError("wait for the build "+id, err.Error(), adviceOf(err))
}
