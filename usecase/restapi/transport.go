package restapi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Clock is the client's source of time, which tests replace.
type Clock struct {
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// RealClock returns the computer's.
func RealClock() Clock {
	return Clock{Now: time.Now, Sleep: func(ctx context.Context, d time.Duration) error {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			return nil
		}
	}}
}

// MaxTries is how often a request is sent at most.
const MaxTries = 5

const (
	maxWait     = 3 * time.Minute  // waiting for one request, all tries together
	minuteLimit = time.Minute      // GitHub's advice if a limit states no delay, and good elsewhere
	maxAnswer   = 64 << 20         // bytes of one answer
	requestTime = 30 * time.Second // for one try, unless the options set another
	reportAfter = time.Second      // how long a wait is not reported
)

// errSilent reports that the server, or a proxy before it, has accepted the request and not
// answered.
var errSilent = errors.New("has not answered")

// Transport adds the token and retries: after limits with the delay that the server states, and
// after the server's own faults with growing delays. A request that creates something is repeated
// only if the server reports that it was refused; after a fault its effect is unknown, and the caller
// checks first.
type Transport struct {
	Server string            // its name, for messages: "GitHub"
	API    *url.URL          // the token goes only to this host, wherever redirects lead
	Base   http.RoundTripper // nil is http.DefaultTransport
	// Authorize adds the token to a request's header; nil if there is none.
	Authorize func(http.Header)
	Clock     Clock         // the zero value is RealClock
	Log       func(string)  // called for each retry, and for slow requests; may be nil
	Try       time.Duration // the timeout of one try; 0: half a minute
}

// Ready returns the transport with its defaults.
func (t Transport) Ready() *Transport {
	if t.Base == nil {
		t.Base = http.DefaultTransport
	}
	if t.Clock.Now == nil {
		t.Clock = RealClock()
	}
	if t.Log == nil {
		t.Log = func(string) {}
	}
	t.Try = cmp.Or(t.Try, requestTime)
	return &t
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	left := maxWait
	for try := 1; ; try++ {
		resp, err := t.once(req)
		delay, again := t.again(req, resp, err, try)
		if !again || try == MaxTries || delay > left {
			return resp, err
		}
		left -= delay
		if err != nil {
			t.Log(fmt.Sprintf("%s %s: %v; trying again in %s", req.Method, req.URL.Path, err, delay))
		} else {
			t.Log(fmt.Sprintf("%s answered %d to %s %s; trying again in %s", t.Server, resp.StatusCode, req.Method, req.URL.Path, delay))
			resp.Body.Close()
		}
		if err := t.Clock.Sleep(req.Context(), delay); err != nil {
			return nil, err
		}
		if req.Context().Value(lookAgain{}) != nil {
			return nil, fmt.Errorf("%s %s: %s %w", req.Method, req.URL.Path, t.Server, ErrWaited)
		}
	}
}

// lookAgain marks a request that must not be repeated as it is after a wait: its body was derived
// from what may have changed since.
type lookAgain struct{}

// LookingAgain returns the context for such a request.
func LookingAgain(ctx context.Context) context.Context {
	return context.WithValue(ctx, lookAgain{}, true)
}

// ErrWaited reports that the server asked to wait, or failed, and that the caller must read and write
// again.
var ErrWaited = errors.New("asked to try again, and no try succeeded")

// once sends a copy of the request, with its body from the start.
func (t *Transport) once(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeoutCause(req.Context(), t.Try, fmt.Errorf("%s %w for %v", t.Server, errSilent, t.Try))
	defer cancel()
	type answer struct {
		resp *http.Response
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		resp, err := t.send(req.Clone(ctx), req)
		answered <- answer{resp, err}
	}()
	late := time.NewTimer(min(reportAfter, t.Try))
	defer late.Stop()
	var got answer
	select {
	case got = <-answered:
	case <-late.C:
		t.Log(fmt.Sprintf("waiting up to %v for %s to answer %s %s", t.Try, t.Server, req.Method, req.URL.Path))
		got = <-answered
	}
	if cause := context.Cause(ctx); got.err != nil && errors.Is(cause, errSilent) {
		return nil, cause // and not that a deadline of ours is over
	}
	return got.resp, got.err
}

// send sends a copy of the request and reads the answer.
func (t *Transport) send(out, req *http.Request) (*http.Response, error) {
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	if t.Authorize != nil && req.URL.Scheme == t.API.Scheme && req.URL.Host == t.API.Host {
		t.Authorize(out.Header)
	}
	resp, err := t.Base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	// The answer is read here: a limit may be reported only in its text, and the timeout of one try
	// then covers all of it.
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	resp.Body.Close()
	if err == nil && len(data) > maxAnswer {
		err = fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)
	}
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return resp, nil
}

// again reports whether to send the request once more, and after how long.
func (t *Transport) again(req *http.Request, resp *http.Response, err error, try int) (time.Duration, bool) {
	growing := time.Second << (try - 1)
	if err != nil {
		return growing, req.Context().Err() == nil && repeatable(req.Method)
	}
	switch {
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusForbidden:
		delay, limited := t.limit(resp, try)
		return delay, limited || resp.StatusCode == http.StatusTooManyRequests
	case resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented:
		if stated, ok := retryAfter(resp, t.Clock.Now()); ok {
			growing = stated
		}
		return growing, repeatable(req.Method)
	}
	return 0, false
}

// repeatable reports whether sending a request twice has the same effect as once, or the caller
// checks first (LookingAgain).
func repeatable(method string) bool { return method != http.MethodPost }

// limit distinguishes GitHub's limits from a lack of permission, which is also a 403.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
func (t *Transport) limit(resp *http.Response, try int) (time.Duration, bool) {
	now := t.Clock.Now()
	if delay, ok := retryAfter(resp, now); ok {
		return delay, true
	}
	if resp.Header.Get("X-RateLimit-Remaining") == "0" {
		if reset, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			return max(time.Unix(reset, 0).Sub(now), 0) + time.Second, true
		}
		return minuteLimit, true
	}
	growing := minuteLimit << (try - 1)
	return growing, strings.Contains(strings.ToLower(peek(resp)), "secondary rate limit")
}

// retryAfter parses both forms of the header.
func retryAfter(resp *http.Response, now time.Time) (time.Duration, bool) {
	value := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

// peek returns the answer's text and leaves it to be read again.
func peek(resp *http.Response) string {
	data, _ := io.ReadAll(resp.Body) // in memory already
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return string(data)
}
