// Package browserstack runs builds of tests on BrowserStack App Automate, by its REST
// interface for Espresso, version 2: it has no program of its own.
//
// It owns what is asked of the service and how it answers, by BrowserStack's public
// documents; docs/farms.md says which form is from where. Who uses it is in the environment,
// as BrowserStack's own tools have it; the key is held in memory, sent to BrowserStack alone,
// and neither shown nor written.
//
// It takes a stand: a build bears the name of its lease, which is noted before it is asked
// for, so that it is found and stopped also where apkgate was killed before it heard the
// build's number; a file of the phone can't be had, so that what the instrumentation prints
// is taken, or nothing; and a test that takes longer than it may is stopped.
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

// Kind is the farm's in leases and in configurations.
const Kind = "browserstack"

// called is the farm in sentences.
const called = "BrowserStack App Automate"

// Farm is BrowserStack App Automate as somebody uses it.
type Farm struct {
	computer farm.Computer

	uploading sync.Mutex // one at a time: BrowserStack takes five a minute
	uploaded  map[file]string

	mu     sync.Mutex
	phones []phone
}

// New is the farm for whom the computer's environment names.
func New(c farm.Computer) *Farm { return &Farm{computer: c, uploaded: map[file]string{}} }

// Kind is "browserstack".
func (f *Farm) Kind() string { return Kind }

// Title is "BrowserStack App Automate".
func (f *Farm) Title() string { return called }

// Noun is what BrowserStack calls an order.
func (f *Farm) Noun() (one, many string) { return "build", "builds" }

// Missing is what is not known of a comparison there.
func (f *Farm) Missing() string {
	return "BrowserStack gives back no files of the phone: the numbers are the medians and percentiles that the benchmark prints, without its repetitions, its traces and what it says of the phone. Where the plan's parallel tests are in use, one build waits for the other."
}

// failed is an error of the farm.
func failed(doing, what, advice string) *boot.Error {
	return &boot.Error{Lab: called, What: doing + ": " + what, Advice: advice}
}

// phone is one of the list of devices (api-reference/appium/devices).
type phone struct {
	OS      string `json:"os"`
	Version string `json:"os_version"`
	Device  string `json:"device"`
}

// Rates are what the devices cost: nothing each, as a plan is paid for.
func (f *Farm) Rates(ctx context.Context, devices []farm.Device) ([]farm.Rate, error) {
	const doing = "look for the devices"
	phones, err := f.catalogue(ctx)
	if err != nil {
		return nil, failed(doing, err.Error(), adviceOf(err))
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
		return nil, failed(doing, strings.Join(missing, "; "), "https://www.browserstack.com/list-of-browsers-and-platforms/app_automate shows which there are")
	}
	return rates, nil
}

// catalogue asks for the devices once.
func (f *Farm) catalogue(ctx context.Context) ([]phone, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phones != nil {
		return f.phones, nil
	}
	return f.phones, f.call(ctx, http.MethodGet, "app-automate/devices.json", nil, &f.phones)
}

// plan is what the account may do at once (troubleshooting/parallel-test).
type plan struct {
	Name    string `json:"automate_plan"`
	AtOnce  int    `json:"parallel_sessions_max_allowed"`
	OfTeam  int    `json:"team_parallel_sessions_max_allowed"`
	Waiting int    `json:"queued_sessions_max_allowed"`
}

// Check looks whether there is a key that BrowserStack takes, what the plan allows, and
// whether it has the devices.
func (f *Farm) Check(ctx context.Context, devices []farm.Device) []device.Finding {
	var p plan
	if err := f.call(ctx, http.MethodGet, "app-automate/plan.json", nil, &p); err != nil {
		return []device.Finding{farm.Finding("account", failed("ask for the plan", err.Error(), adviceOf(err)))}
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
		found = append(found, device.Finding{Name: "device", OK: true, Detail: fmt.Sprintf("%v is there: paid for by the plan", r.Device)})
	}
	return found
}

// number is a JSON number, or a text that holds one: the documents have both.
type number float64

// UnmarshalJSON takes what is no number for 0.
func (n *number) UnmarshalJSON(data []byte) error {
	var v float64
	if json.Unmarshal([]byte(strings.Trim(string(data), `"`)), &v) == nil && v > 0 {
		*n = number(v)
	}
	return nil
}
