package firebase

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/farm/rest"
	"github.com/apkgate/apkgate/internal/prose"
)

// The services, and the variables by which gcloud itself is told of others
// (api_endpoint_overrides in core/properties.py).
var services = map[string]string{
	"testing":     "https://testing.googleapis.com/",
	"toolresults": "https://toolresults.googleapis.com/",
	"storage":     "https://storage.googleapis.com/",
}

// tokenFor is for how long a token is used; it is good for an hour at most.
const tokenFor = 20 * time.Minute

// accessToken is gcloud's, for the account that is logged in.
func (f *Farm) accessToken(ctx context.Context) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.token != "" && time.Now().Before(f.renewAt) {
		return f.token, nil
	}
	const doing = "log in"
	out, err := f.ask(ctx, doing, "auth", "print-access-token")
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(out))
	if token == "" || strings.ContainsAny(token, "\r\n\t ") {
		return "", failed(doing, "gcloud auth print-access-token printed no token", "gcloud auth login")
	}
	f.token, f.renewAt = token, time.Now().Add(tokenFor)
	return token, nil
}

// address is that of a service with a path. The token goes to no other computer in the clear.
func (f *Farm) address(service, path string) (string, error) {
	base := cmp.Or(f.computer.Getenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_"+strings.ToUpper(service)), services[service])
	if err := rest.Safe(service, base); err != nil {
		return "", err
	}
	return strings.TrimSuffix(base, "/") + "/" + path, nil
}

// mostAnswer bounds what is read of an answer in JSON.
const mostAnswer = 8 << 20

// How long an answer may take, and a file that is written as it comes.
const (
	answersWithin = time.Minute
	streamsWithin = 10 * time.Minute
)

// call asks a service for JSON.
func (f *Farm) call(ctx context.Context, method, service, path string, into any) error {
	text, err := f.fetch(ctx, method, service, path, mostAnswer)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read the answer of the service %s: %w", service, err)
	}
	return nil
}

// fetch asks a service, and reads as much as is allowed. A token that is no longer good is
// asked for anew, once.
func (f *Farm) fetch(ctx context.Context, method, service, path string, most int64) ([]byte, error) {
	text, err := f.fetchOnce(ctx, method, service, path, most)
	if rest.StatusOf(err) != http.StatusUnauthorized {
		return text, err
	}
	f.mu.Lock()
	f.token = ""
	f.mu.Unlock()
	return f.fetchOnce(ctx, method, service, path, most)
}

func (f *Farm) fetchOnce(ctx context.Context, method, service, path string, most int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	request, err := f.request(ctx, method, service, path)
	if err != nil {
		return nil, err
	}
	return rest.Ask(rest.Client, request, "the service", most, refusal)
}

// stream writes what a service answers, as much as is allowed.
func (f *Farm) stream(ctx context.Context, service, path string, w io.Writer, most int64) error {
	ctx, cancel := context.WithTimeout(ctx, streamsWithin)
	defer cancel()
	request, err := f.request(ctx, http.MethodGet, service, path)
	if err != nil {
		return err
	}
	return rest.Copy(w, rest.Client, request, "the service", most, refusal)
}

// request is one that the service knows the account of.
func (f *Farm) request(ctx context.Context, method, service, path string) (*http.Request, error) {
	to, err := f.address(service, path)
	if err != nil {
		return nil, err
	}
	token, err := f.accessToken(ctx)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, to, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	return request, nil
}

// refusal is what a service says of an error: google.rpc.Status as JSON.
func refusal(text []byte) string {
	var said struct {
		Error struct{ Status, Message string }
	}
	if json.Unmarshal(bytes.TrimSpace(text), &said) != nil {
		return ""
	}
	return prose.Clip(prose.OneLine(said.Error.Status+" "+said.Error.Message), 300)
}
