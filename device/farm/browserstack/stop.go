package browserstack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/farm/rest"
	"github.com/apkgate/apkgate/device/lab/lease"
)

// stop requests the end of a build. The dashboard's button is documented, and so is the
// existence of such a request, but not its verb: only the build's state shows whether it was
// stopped.
func (f *Farm) stop(ctx context.Context, id string) error {
	_, err := f.ask(ctx, http.MethodPut, buildPath(id)+"/stop", nil)
	if status := rest.StatusOf(err); status == http.StatusNotFound || status == http.StatusMethodNotAllowed {
		_, err = f.ask(ctx, http.MethodPost, buildPath(id)+"/stop", nil)
	}
	return err
}

// Stop stops the build in the lease, or the build with the lease's name, and waits until it
// has ended.
func (f *Farm) Stop(ctx context.Context, l lease.Lease, tell func(string)) error {
	const atMost = 5 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	id := l.Detail[noteBuild]
	if id == "" && l.Detail[noteAsked] == "" {
		return nil // none was requested
	}
	if by := l.Detail[noteAccount]; by != f.account() {
		return farmError("stop what "+l.ID+" has begun", "the environment names a different user than the one that started it", "set "+userVariable+" and "+keyVariable+" to those that it was begun with")
	}
	if id == "" {
		found, err := f.lost(ctx, l)
		if err != nil || found == "" {
			return err
		}
		id = found
	}
	return f.end(ctx, id, tell)
}

// end stops a build that has not ended.
func (f *Farm) end(ctx context.Context, id string, tell func(string)) error {
	doing, byHand := "stop the build "+id, "stop it by hand: "+dashboard(id)
	for asked := false; ; {
		b, err := f.state(ctx, id)
		switch {
		case rest.StatusOf(err) == http.StatusNotFound, err == nil && final(b.Status):
			return nil
		case err == nil && !asked:
			if err = f.stop(ctx, id); err == nil {
				asked = true
				tell("stopping the build " + id)
			}
		}
		if errors.Is(err, farm.ErrRefused) {
			return farmError(doing, err.Error(), byHand)
		}
		const apart = 2 * time.Second
		if pauseErr := f.computer.Pause(ctx, apart); pauseErr != nil {
			if err == nil {
				err = pauseErr
			}
			return farmError(doing, "it has not ended yet: "+err.Error(), byHand)
		}
	}
}

// settled is how long a requested build may take to be listed. endsItself is after how long
// BrowserStack has ended any build: it waits for 15 minutes, and runs for two hours.
const (
	settled    = time.Minute
	endsItself = 2*time.Hour + 30*time.Minute
)

// lost searches for a build whose number was not reported, "" for none.
func (f *Farm) lost(ctx context.Context, l lease.Lease) (string, error) {
	doing := "look for the build " + l.ID
	asked, err := time.Parse(time.RFC3339, l.Detail[noteAsked])
	if err != nil {
		return "", farmError(doing, "the lease does not say when it was asked for", "")
	}
	for {
		since := time.Since(asked)
		id, all, err := f.lookFor(ctx, l.ID)
		switch {
		case err != nil:
			return "", farmError(doing, err.Error(), adviceOf(err))
		case id == "" && !all && since < endsItself:
			return "", farmError(doing, fmt.Sprintf("it is none of the newest %d, which are all that are listed", listedAtOnce), "stop the build whose tag is "+l.ID+" by hand: https://app-automate.browserstack.com/dashboard/v2; BrowserStack ends it after two hours")
		case id != "" || since > settled:
			return id, nil
		}
		const apart = 5 * time.Second
		if err := f.computer.Pause(ctx, apart); err != nil {
			return "", farmError(doing, err.Error(), "")
		}
	}
}

// lookFor returns the number of the listed build with a tag, "" for none, and whether the list
// is complete. A build's details contain its request (input_capabilities).
func (f *Farm) lookFor(ctx context.Context, tag string) (id string, all bool, err error) {
	text, err := f.ask(ctx, http.MethodGet, "app-automate/espresso/v2/builds?project="+url.QueryEscape(project), nil)
	if err != nil {
		return "", false, err
	}
	ids, err := listed(text)
	if err != nil {
		return "", false, err
	}
	for _, id := range ids {
		known, err := f.ask(ctx, http.MethodGet, buildPath(id), nil)
		if err != nil {
			return "", false, err
		}
		if bytes.Contains(known, []byte(tag)) {
			return id, true, nil
		}
	}
	return "", len(ids) < listedAtOnce, nil
}

// listedAtOnce is how many builds the service lists, newest first.
const listedAtOnce = 20

// listed returns the numbers in a list of builds, which may be a bare array or the value of a
// key.
func listed(text []byte) (ids []string, err error) {
	type one struct {
		ID    string `json:"id"`
		Build string `json:"build_id"`
	}
	var named struct {
		Builds []one `json:"builds"`
	}
	if err = json.Unmarshal(text, &named.Builds); err != nil {
		if err = json.Unmarshal(text, &named); err != nil {
			return nil, fmt.Errorf("read the list of builds: %w", err)
		}
	}
	for _, b := range named.Builds[:min(len(named.Builds), 5*listedAtOnce)] { // in case there are more
		for _, id := range []string{b.Build, b.ID} {
			if buildID.MatchString(id) {
				ids = append(ids, id)
				break
			}
		}
	}
	return ids, nil
}
