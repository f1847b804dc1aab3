package browserstack

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/farm/rest"
	"github.com/apkgate/apkgate/internal/prose"
)

// Hosts of the service and of its logs (api-reference/espresso/sessions).
const (
	home     = "https://api-cloud.browserstack.com"
	logsHost = "api.browserstack.com"
)

// The variables in which BrowserStack's own tools find their credentials, and apkgate's own
// for another address of the service, such as a proxy's.
const (
	userVariable    = "BROWSERSTACK_USERNAME"
	keyVariable     = "BROWSERSTACK_ACCESS_KEY"
	addressVariable = "BROWSERSTACK_API_URL"
)

// Limits on an answer's size and time.
const (
	mostAnswer    = 8 << 20  // bytes
	mostLog       = 16 << 20 // bytes
	answersWithin = time.Minute
)

// errNobody means that the environment has no credentials.
var errNobody = rest.Final(errors.New("the environment has no credentials for it"))

func (f *Farm) address() string {
	return strings.TrimSuffix(cmp.Or(f.computer.Getenv(addressVariable), home), "/")
}

// account returns an identifier of the account in the environment that does not reveal it.
func (f *Farm) account() string {
	sum := sha256.Sum256([]byte(f.computer.Getenv(userVariable)))
	return hex.EncodeToString(sum[:8])
}

// call sends a request and decodes the JSON answer.
func (f *Farm) call(ctx context.Context, method, path string, body, into any) error {
	text, err := f.ask(ctx, method, path, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read the answer of the service: %w", err)
	}
	return nil
}

// Requests for the results of a build, whose minutes are already spent, are retried.
const (
	tries      = 4
	triesApart = 5 * time.Second
)

// patiently retries an operation that failed without being refused.
func (f *Farm) patiently(ctx context.Context, do func() error) error {
	for n := 1; ; n++ {
		err := do()
		if err == nil || n == tries || errors.Is(err, farm.ErrRefused) || f.computer.Pause(ctx, triesApart) != nil {
			return err
		}
	}
}

// ask sends a request, with a JSON body if there is one.
func (f *Farm) ask(ctx context.Context, method, path string, body any) ([]byte, error) {
	var sent io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	request, err := f.request(ctx, method, f.address()+"/"+path, sent)
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return rest.Ask(rest.Client, request, "the service", mostAnswer, refusal)
}

// request returns a request with the credentials.
func (f *Farm) request(ctx context.Context, method, address string, body io.Reader) (*http.Request, error) {
	user, key := f.computer.Getenv(userVariable), f.computer.Getenv(keyVariable)
	if user == "" || key == "" {
		return nil, errNobody
	}
	if err := rest.Safe(called, address); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, fmt.Errorf("the address of the service %s is not a URL", called)
	}
	request.SetBasicAuth(user, key)
	return request, nil
}

// follows is the client for logs: they may be on another host, which does not receive the key.
var follows = &http.Client{CheckRedirect: func(request *http.Request, before []*http.Request) error {
	const most = 3
	if len(before) > most {
		return errors.New("too many redirects")
	}
	if request.URL.Host != before[0].URL.Host {
		request.Header.Del("Authorization")
	}
	return rest.Safe("that has the log", request.URL.String())
}}

// log reads a log at a URL from the service.
func (f *Farm) log(ctx context.Context, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("its URL is invalid")
	}
	ours, err := url.Parse(f.address())
	if err != nil || u.Host != ours.Host && (u.Scheme != "https" || u.Host != logsHost) {
		return nil, fmt.Errorf("its address is of %q, want one of BrowserStack's", prose.Short(u.Host))
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	request, err := f.request(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	return rest.Ask(follows, request, "the service", mostLog, refusal)
}

// refusal returns the message in an error response: JSON with one of several keys, or text;
// HTML is not shown.
func refusal(text []byte) string {
	text = bytes.TrimSpace(text)
	if bytes.HasPrefix(text, []byte("<")) {
		return ""
	}
	var said struct{ Error, Message, Errors json.RawMessage }
	if json.Unmarshal(text, &said) == nil {
		for _, part := range []json.RawMessage{said.Error, said.Message, said.Errors} {
			if plain := ""; json.Unmarshal(part, &plain) == nil && plain != "" {
				return prose.Clip(prose.OneLine(plain), 300)
			}
			if len(part) > 0 && string(part) != "null" {
				return prose.Clip(prose.OneLine(string(part)), 300)
			}
		}
	}
	return prose.Clip(prose.OneLine(string(text)), 300)
}

// advices are hints for messages of the service, by a part of the documented message.
var advices = []struct{ said, advice string }{
	{errNobody.Error(), "set " + userVariable + " and " + keyVariable + ", which https://www.browserstack.com/accounts/profile/details shows"},
	{"the service answered 401", "check that " + userVariable + " and " + keyVariable + " are those of https://www.browserstack.com/accounts/profile/details"},
	{"the service answered 429", "BrowserStack takes five uploads a minute: use fewer comparisons at once"},
	{inUse, "wait for other tests of the account, lower farm.parallel, or see https://www.browserstack.com/docs/app-automate/appium/troubleshooting/parallel-test"},
}

func adviceOf(err error) string {
	for _, a := range advices {
		if strings.Contains(strings.ToLower(err.Error()), strings.ToLower(a.said)) {
			return a.advice
		}
	}
	return ""
}
