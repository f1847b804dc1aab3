// Package browserstack runs builds of tests on BrowserStack App Automate through its REST
// interface for Espresso, version 2. BrowserStack has no program for it.
//
// It owns the requests to the service and the parsing of its answers, by BrowserStack's public
// documents; docs/collection/farms.md has the source of each form. The credentials are read from the
// environment variables of BrowserStack's own tools. The key is kept in memory, sent only to
// BrowserStack, and neither shown nor written.
//
// A build has the name of its lease, which is noted before the build is requested, so that the
// build is found and stopped even if apkgate was killed before it received the build's number.
// Files of the phone can't be fetched, so only the output of the instrumentation is used. A
// test that exceeds its time limit is stopped.
package browserstack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/internal/prose"
)

// Kind is the farm's name in leases and configurations.
const Kind = "browserstack"

// called is the farm's name in sentences.
const called = "BrowserStack App Automate"

// Farm is BrowserStack App Automate with one account.
type Farm struct {
	computer farm.Computer

	uploading sync.Mutex // one at a time: BrowserStack accepts five a minute
	uploaded  map[file]string

	mu     sync.Mutex
	phones []phone
}

// New returns the farm for the account in the computer's environment.
func New(c farm.Computer) *Farm { return &Farm{computer: c, uploaded: map[file]string{}} }

// Kind is "browserstack".
func (f *Farm) Kind() string { return Kind }

// Title is "BrowserStack App Automate".
func (f *Farm) Title() string { return called }

// Noun is BrowserStack's word for an order.
func (f *Farm) Noun() (one, many string) { return "build", "builds" }

// Missing describes what is not known of a comparison there.
func (f *Farm) Missing() string {
	return "BrowserStack gives back no files of the phone: the numbers are the medians and percentiles that the benchmark prints, without its repetitions, its traces and what it says of the phone. Where the plan's parallel tests are in use, one build waits for the other."
}

// farmError returns an error of the farm.
func farmError(doing, what, advice string) *boot.Error {
	return &boot.Error{Lab: called, What: doing + ": " + what, Advice: advice}
}

// phone is an element of the list of devices (api-reference/appium/devices).
type phone struct {
	OS      string `json:"os"`
	Version string `json:"os_version"`
	Device  string `json:"device"`
}

// Rates returns the prices of the devices: zero each, since a plan is billed.
func (f *Farm) Rates(ctx context.Context, devices []farm.Device) ([]farm.Rate, error) {
	const doing = "look for the devices"
	phones, err := f.catalogue(ctx)
	if err != nil {
		return nil, farmError(doing, err.Error(), adviceOf(err))
	}
	var rates []farm.Rate
	var missing []string
	for _, d := range devices {
		var versions []string
		for _, p := range phones {
			if p.OS == "android" && p.Device == d.Model {
				versions = append(versions, prose.Clip(prose.OneLine(p.Version), 20))
			}
		}
		switch {
		case len(versions) == 0:
			missing = append(missing, "there is no device "+d.Model)
		case !slices.Contains(versions, d.Version):
			missing = append(missing, "the device "+d.Model+" has no Android "+d.Version+", but "+prose.List(versions))
		}
		rates = append(rates, farm.Rate{Device: d, Physical: true, Flat: true})
	}
	if len(missing) > 0 {
		return nil, farmError(doing, strings.Join(missing, "; "), "https://www.browserstack.com/list-of-browsers-and-platforms/app_automate shows which there are")
	}
	return rates, nil
}

// catalogue lists the devices, once.
func (f *Farm) catalogue(ctx context.Context) ([]phone, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phones != nil {
		return f.phones, nil
	}
	return f.phones, f.call(ctx, http.MethodGet, "app-automate/devices.json", nil, &f.phones)
}

// plan is the account's limits (troubleshooting/parallel-test).
type plan struct {
	Name    string `json:"automate_plan"`
	AtOnce  int    `json:"parallel_sessions_max_allowed"`
	OfTeam  int    `json:"team_parallel_sessions_max_allowed"`
	Waiting int    `json:"queued_sessions_max_allowed"`
}

// Check checks whether BrowserStack accepts the key, what the plan allows, and whether it has
// the devices.
func (f *Farm) Check(ctx context.Context, devices []farm.Device) []device.Finding {
	var p plan
	if err := f.call(ctx, http.MethodGet, "app-automate/plan.json", nil, &p); err != nil {
		return []device.Finding{farm.Finding("account", farmError("ask for the plan", err.Error(), adviceOf(err)))}
	}
	atOnce := p.AtOnce
	if p.OfTeam > 0 {
		atOnce = min(atOnce, p.OfTeam)
	}
	found := []device.Finding{{Name: "account", OK: true, Detail: fmt.Sprintf("%s: %s at once, and %d that wait", prose.Clip(prose.OneLine(p.Name), 60), prose.Count(atOnce, "test", "tests"), p.Waiting)}}
	rates, err := f.Rates(ctx, devices)
	if err != nil {
		return append(found, farm.Finding("devices", err))
	}
	for _, r := range rates {
		found = append(found, device.Finding{Name: "device", OK: true, Detail: fmt.Sprintf("%v is available: paid for by the plan", r.Device)})
	}
	return found
}

// number is a JSON number, or a string that contains one: the documents have both.
type number float64

// UnmarshalJSON decodes anything but a number as 0.
func (n *number) UnmarshalJSON(data []byte) error {
	var v float64
	if json.Unmarshal([]byte(strings.Trim(string(data), `"`)), &v) == nil && v > 0 {
		*n = number(v)
	}
	return nil
}
