package githubactions_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/restapi"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func errorf(text string) error { return errors.New(text) }

// A redirect must not send the token to another host.
func TestTokenStaysOnItsHost(t *testing.T) {
	var sent []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
		w.Write([]byte("{}"))
	}))
	defer elsewhere.Close()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer api.Close()
	c, err := githubactions.NewClient(githubactions.Job{Owner: "octo", Repo: "app"}, githubactions.ClientOptions{API: api.URL, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.Pull(t.Context(), 7)
	if !slices.Equal(sent, []string{""}) {
		t.Errorf("the other host was sent %q, want one request without a token", sent)
	}
}

func TestNewClientChecksTheAddress(t *testing.T) {
	for _, api := range []string{"api.github.com", "ftp://github.example", "https://", "://"} {
		if _, err := githubactions.NewClient(githubactions.Job{}, githubactions.ClientOptions{API: api, Token: token}); err == nil {
			t.Errorf("%q is taken for the address of GitHub's API", api)
		}
	}
}

// An API that accepts requests and never answers is given up in time, with what it did; the wait is
// reported.
func TestTransportTimesOut(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var said []string
	asked := map[string]int{}
	done := make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Method]++
		mu.Unlock()
		<-done
	}))
	defer api.Close()
	defer close(done)
	const try = 200 * time.Millisecond
	pauses := restapi.Clock{Now: time.Now, Sleep: func(context.Context, time.Duration) error { return nil }}
	c, err := githubactions.NewClient(githubactions.Job{Owner: "octo", Repo: "app"}, githubactions.ClientOptions{API: api.URL, Token: token, Try: try, Clock: pauses, Log: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, text)
	}})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, readErr := c.Pull(t.Context(), 7)
	mu.Lock()
	if asked["GET"] != 5 {
		t.Errorf("asked %d times to read, want 5", asked["GET"])
	}
	mu.Unlock()
	_, writeErr := c.StartCheck(t.Context(), "apkgate", strings.Repeat("1", 40), "", "")
	if took := time.Since(began); took > 100*try {
		t.Errorf("it took %v, where one try takes %v", took, try)
	}
	for what, err := range map[string]error{"reading": readErr, "writing": writeErr} {
		if err == nil || !strings.Contains(err.Error(), "GitHub has not answered for 200ms") {
			t.Errorf("%s: %v, want that GitHub has not answered", what, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if asked["POST"] == 0 {
		t.Error("nothing was written")
	}
	if text := strings.Join(said, "\n"); !strings.Contains(text, "waiting up to 200ms for GitHub to answer GET /") || !strings.Contains(text, "GitHub has not answered for 200ms; trying again in 8s") {
		t.Errorf("it said\n%s", text)
	}
}
