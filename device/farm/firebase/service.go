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

// The services, and the variables with which gcloud itself overrides their addresses
// (api_endpoint_overrides in core/properties.py).
var services = map[string]string{
	"testing":     "https://testing.googleapis.com/",
	"toolresults": "https://toolresults.googleapis.com/",
	"storage":     "https://storage.googleapis.com/",
}

// tokenFor is how long a token is used; it is valid for at most an hour.
const tokenFor = 20 * time.Minute

// accessToken returns gcloud's token for the account that is logged in.
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
		return "", farmError(doing, "gcloud auth print-access-token printed no token", "gcloud auth login")
	}
	f.token, f.renewAt = token, time.Now().Add(tokenFor)
	return token, nil
}

// address returns the URL of a service's path. It refuses a URL that would send the token
// unencrypted.
func (f *Farm) address(service, path string) (string, error) {
	base := cmp.Or(f.computer.Getenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_"+strings.ToUpper(service)), services[service])
	if err := rest.Safe(service, base); err != nil {
		return "", err
	}
	return strings.TrimSuffix(base, "/") + "/" + path, nil
}

// mostAnswer limits the size of a JSON answer.
const mostAnswer = 8 << 20

// Timeouts for an answer, and for a streamed file.
const (
	answersWithin = time.Minute
	streamsWithin = 10 * time.Minute
)

// call sends a request and decodes the JSON answer.
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

// fetch sends a request and reads at most the given number of bytes. An expired token is
// renewed once.
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

// stream writes a service's answer to w, at most the given number of bytes.
func (f *Farm) stream(ctx context.Context, service, path string, w io.Writer, most int64) error {
	ctx, cancel := context.WithTimeout(ctx, streamsWithin)
	defer cancel()
	request, err := f.request(ctx, http.MethodGet, service, path)
	if err != nil {
		return err
	}
	return rest.Copy(w, rest.Client, request, "the service", most, refusal)
}

// request returns a request with the access token.
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

// refusal returns the message in an error response: google.rpc.Status as JSON.
func refusal(text []byte) string {
	var said struct {
		Error struct{ Status, Message string }
	}
	if json.Unmarshal(bytes.TrimSpace(text), &said) != nil {
		return ""
	}
	return prose.Clip(prose.OneLine(said.Error.Status+" "+said.Error.Message), 300)
}
