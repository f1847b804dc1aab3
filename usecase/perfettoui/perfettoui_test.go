package perfettoui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/pftrace"
)

const content = "a trace"

// serving starts a server on a free port; the channel receives how it ended.
func serving(t *testing.T) (*Server, <-chan error, context.CancelFunc) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(l.Addr().String(), "open.pftrace", func() (io.ReadCloser, int64, error) {
		return io.NopCloser(strings.NewReader(content)), int64(len(content)), nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	return s, ended, cancel
}

func ask(t *testing.T, method, address string, header http.Header) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	r.Host = header.Get("Host")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

func TestServe(t *testing.T) {
	s, ended, _ := serving(t)
	link, err := url.Parse(Link(s.URL(), View{}))
	if err != nil || link.Scheme+"://"+link.Host != "https://ui.perfetto.dev" {
		t.Fatalf("the link is %v, %v", link, err)
	}
	asked, err := url.ParseQuery(strings.TrimPrefix(link.Fragment, "!/?"))
	if err != nil {
		t.Fatal(err)
	}
	from := http.Header{"Origin": {"https://ui.perfetto.dev"}}
	answer, _ := ask(t, http.MethodOptions, asked.Get("url"), from)
	if answer.Header.Get("Access-Control-Allow-Private-Network") != "true" {
		t.Errorf("asked first, it answers %v", answer.Header)
	}
	answer, body := ask(t, http.MethodGet, asked.Get("url"), from)
	if body != content || answer.Header.Get("Access-Control-Allow-Origin") != "https://ui.perfetto.dev" {
		t.Errorf("it answers %q, %v", body, answer.Header)
	}
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// Other clients get nothing: another page, another name for this computer, another path.
func TestServeRefusesOthers(t *testing.T) {
	s, ended, cancel := serving(t)
	for name, c := range map[string]struct {
		method, address string
		header          http.Header
		want            int
	}{
		"another page":      {http.MethodGet, s.URL(), http.Header{"Origin": {"https://evil.example"}}, http.StatusForbidden},
		"another name":      {http.MethodGet, s.URL(), http.Header{"Host": {"evil.example:9001"}}, http.StatusForbidden},
		"a guess":           {http.MethodGet, "http://" + s.address + "/open.pftrace", http.Header{}, http.StatusNotFound},
		"a path upwards":    {http.MethodGet, "http://" + s.address + "/../../etc/passwd", http.Header{}, http.StatusNotFound},
		"something to post": {http.MethodPost, s.URL(), http.Header{}, http.StatusMethodNotAllowed},
	} {
		answer, body := ask(t, c.method, c.address, c.header)
		if answer.StatusCode != c.want || strings.Contains(body, content) {
			t.Errorf("%s: %d %q, want %d", name, answer.StatusCode, body, c.want)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v, want the context's error", err)
	}
}

func TestLink(t *testing.T) {
	link := Link("http://127.0.0.1:9001/x/a b.pftrace", View{3 * time.Second, 4 * time.Second})
	if want := "https://ui.perfetto.dev/#!/?url=http%3A%2F%2F127.0.0.1%3A9001%2Fx%2Fa+b.pftrace&visStart=3000000000&visEnd=4000000000"; link != want {
		t.Errorf("%s, want %s", link, want)
	}
}

// A trace without clock snapshots is shown whole.
func TestViewOfATraceWithoutClocks(t *testing.T) {
	v, err := ViewOf(bytes.NewReader(nil), time.Second, 2*time.Second)
	if err != nil || v != (View{}) {
		t.Errorf("%+v, %v; want none", v, err)
	}
}

// A phone that slept since it was started: the trace's own clock, CLOCK_BOOTTIME, is 40 s ahead of
// CLOCK_MONOTONIC.
func TestViewOf(t *testing.T) {
	w := pftrace.New(1)
	w.Snapshot(pftrace.Clocks{Boottime: 100 * time.Second, Monotonic: 60 * time.Second, Realtime: 1_800_000_000 * time.Second})
	v, err := ViewOf(bytes.NewReader(w.Bytes()), 61*time.Second, 62*time.Second)
	if want := (View{101*time.Second - margin, 102*time.Second + margin}); err != nil || v != want {
		t.Errorf("%+v, %v; want %+v", v, err, want)
	}
}
