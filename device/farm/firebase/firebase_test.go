package firebase

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/simulator/standin/firebase"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// newFarm returns Test Lab with stand-ins for gcloud and its services.
func newFarm(t *testing.T) (*standin.Lab, *Farm) {
	t.Helper()
	l := standin.New(t, standin.Options{WithoutADB: true})
	service := httptest.NewServer(firebase.Service(l.Folder, func(string, string, int) string { return "{}" }))
	t.Cleanup(service.Close)
	c := farm.Computer{
		Getenv: func(name string) string {
			if strings.HasPrefix(name, "CLOUDSDK_API_ENDPOINT_OVERRIDES_") {
				return service.URL
			}
			return ""
		},
		Find:  func(name string) (string, bool) { return filepath.Join(l.Bin, name), true },
		Logs:  l.Path("logs"),
		Pause: func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) },
	}
	for name, value := range l.Variables() {
		c.Env = append(c.Env, name+"="+value)
	}
	return l, New(c, "mail-perf-1234", "")
}

func taken(t *testing.T, l *standin.Lab) *lease.Held {
	t.Helper()
	held, err := lease.Take(l.Path("leases"), Kind, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(held.Leave)
	return held
}

var phone = []farm.Device{{Model: "oriole", Version: "33"}}

// A service that fails for a while is polled again; each progress message is reported once.
func TestAwaitMatrixRetries(t *testing.T) {
	t.Parallel()
	l, f := newFarm(t)
	held := taken(t, l)
	o := farm.Order{App: l.Path("settings.json"), Test: l.Path("settings.json"), Devices: phone, Within: 90 * time.Second}
	l.Breaks(firebase.Unanswered, farm.Unanswered-1)
	l.Breaks(firebase.Endless, 2)
	if err := f.Submit(t.Context(), o, held); err != nil {
		t.Fatal(err)
	}
	var reported []string
	if err := f.Await(t.Context(), o, held.Lease(), func(line string) { reported = append(reported, line) }); err != nil {
		t.Fatal(err)
	}
	if want := "matrix-1standin: 1 running"; len(reported) != 1 || reported[0] != want {
		t.Errorf("reported %q, want %q once", reported, want)
	}
	l.Breaks(firebase.Expired, 1)
	outcomes, err := f.Results(t.Context(), o, held.Lease())
	if err != nil || len(outcomes) != 1 || outcomes[0].Problem != "" || len(outcomes[0].Results) != 1 || outcomes[0].Minutes != 2 || !outcomes[0].Known {
		t.Errorf("%+v, %v; want one file, and two minutes for 74 s and a bit", outcomes, err)
	}
	if asked := strings.Count(strings.Join(l.Called("gcloud"), "\n"), "auth print-access-token"); asked != 2 {
		t.Errorf("the token was asked for %d times, want once more when it was no longer good", asked)
	}
	l.Breaks(firebase.Expired, 2)
	if _, err := f.Results(t.Context(), o, held.Lease()); err == nil || !strings.Contains(err.Error(), "401 UNAUTHENTICATED") {
		t.Errorf("an account that may no longer: %v", err)
	}
	l.Breaks(firebase.Unanswered, farm.Unanswered)
	if err := f.Await(t.Context(), o, held.Lease(), func(string) {}); err == nil || !strings.Contains(err.Error(), "the service answered 503 UNAVAILABLE") {
		t.Errorf("a service that never answers: %v", err)
	}
}

// A cancelled wait for gcloud leaves it unknown whether a matrix was begun; after a refusal by
// the service it is known that none was.
func TestSubmitOfAMatrixThatMayHaveBegun(t *testing.T) {
	t.Parallel()
	l, f := newFarm(t)
	o := farm.Order{App: l.Path("settings.json"), Test: l.Path("settings.json"), Devices: phone, Within: time.Minute}
	l.Breaks(firebase.SlowSubmit, state.Always)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for running, _ := firebase.Running(l.Folder); len(running) == 0 && t.Context().Err() == nil; running, _ = firebase.Running(l.Folder) {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	held := taken(t, l)
	if err := f.Submit(ctx, o, held); !errors.Is(err, farm.ErrUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("while gcloud submits: %v", err)
	}
	if err := l.Mend(firebase.SlowSubmit); err != nil {
		t.Fatal(err)
	}
	if err := f.Stop(t.Context(), held.Lease(), func(string) {}); err != nil {
		t.Error(err)
	}
	l.Breaks(firebase.Quota, 1)
	if err := f.Submit(t.Context(), o, taken(t, l)); err == nil || errors.Is(err, farm.ErrUnknown) {
		t.Errorf("a submission that is refused: %v", err)
	}
}

// Traces are listed, and streamed up to the limit.
func TestTracesAreStreamed(t *testing.T) {
	t.Parallel()
	l, f := newFarm(t)
	large := make([]byte, 1<<20+1)
	service := httptest.NewServer(firebase.ServiceOf(l.Folder, firebase.Leaves{Results: firebase.Starts, Traces: mostTraces + 2, Trace: func(string) []byte { return large }}))
	t.Cleanup(service.Close)
	f.computer.Getenv = func(string) string { return service.URL }
	held := taken(t, l)
	o := farm.Order{App: l.Path("settings.json"), Test: l.Path("settings.json"), Devices: phone, Within: time.Minute}
	if err := errors.Join(f.Submit(t.Context(), o, held), f.Await(t.Context(), o, held.Lease(), func(string) {})); err != nil {
		t.Fatal(err)
	}
	outcomes, err := f.Results(t.Context(), o, held.Lease())
	if err != nil || len(outcomes[0].Traces) != mostTraces || outcomes[0].TracesLeft != 2 || outcomes[0].Traces[0].Bytes != 1000 {
		t.Fatalf("%+v, %v; want %d traces, and 2 that are left", outcomes, err, mostTraces)
	}
	var got bytes.Buffer
	if err := outcomes[0].Traces[0].Fetch(t.Context(), &got); err != nil || got.Len() != len(large) {
		t.Errorf("%d bytes, %v; want %d", got.Len(), err, len(large))
	}
	path := objectPath(firebase.Bucket, strings.TrimPrefix(outcomes[0].Traces[0].Name, "gs://"+firebase.Bucket+"/"))
	if err := f.stream(t.Context(), "storage", path, io.Discard, 1<<20); err == nil || !strings.Contains(err.Error(), "more than 1 MiB") {
		t.Errorf("a larger one than is allowed: %v", err)
	}
}

// If the matrix's state can't be read, it is not reported as cancelled; a matrix that does not
// exist is.
func TestStopMatrixErrors(t *testing.T) {
	t.Parallel()
	l, f := newFarm(t)
	left := lease.Lease{ID: "apkgate-abcd", Detail: map[string]string{noteProject: "mail-perf-1234", noteMatrix: "matrix-9"}}
	if err := f.Stop(t.Context(), left, func(string) {}); err != nil {
		t.Errorf("one that is not there: %v", err)
	}
	l.Breaks(firebase.Unanswered, state.Always)
	if err := f.Stop(t.Context(), left, func(string) {}); err == nil || !strings.Contains(err.Error(), "cancel matrix-9") {
		t.Errorf("one that can't be asked for: %v", err)
	}
}

// gcloud's lists are separated by commas, or by a delimiter that precedes them.
func TestListed(t *testing.T) {
	for want, variables := range map[string]map[string]string{
		"a=1,b=2":       {"b": "2", "a": "1"},
		"^;^a=1,2;b=x|": {"a": "1,2", "b": "x|"},
		"^|^a=1,2;3":    {"a": "1,2;3"},
	} {
		if got, err := listed(variables); got != want || err != nil {
			t.Errorf("%v: %q, %v, want %q", variables, got, err, want)
		}
	}
	if got, err := listed(map[string]string{"a": ",;|#@"}); err == nil {
		t.Errorf("%q, want an error", got)
	}
}

// The token is never sent to another computer unencrypted.
func TestTokenIsSentOverHTTPSOnly(t *testing.T) {
	for base, ok := range map[string]bool{
		"": true, "https://testing.example.org/": true, "http://127.0.0.1:1/": true, "http://[::1]:1": true,
		"http://testing.example.org/": false, "http://localhost.example.org": false, "ftp://127.0.0.1": false, ":": false,
	} {
		f := New(farm.Computer{Getenv: func(string) string { return base }}, "p", "")
		if at, err := f.address("testing", "v1/x"); (err == nil) != ok {
			t.Errorf("%q: %q, %v", base, at, err)
		}
	}
}

// Whatever gcloud and the service answer, a matrix's number is safe in a URL.
func FuzzMatrixIn(f *testing.F) {
	f.Add("Test [matrix-1kozhsv2imkru] has been created in the Google Cloud.\n")
	f.Add("Test [matrix-../x] has been created in the Google Cloud.")
	f.Fuzz(func(t *testing.T, said string) {
		if id := matrixIn(said); strings.ContainsAny(id, "/?#%: \n") {
			t.Errorf("%q of %q", id, said)
		}
	})
}
