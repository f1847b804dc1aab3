package actions_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"

	"github.com/apkgate/apkgate/internal/actions"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func errorf(text string) error { return errors.New(text) }

// A redirect must not carry the token to another host.
func TestTheTokenStaysOnItsHost(t *testing.T) {
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
	c, err := actions.NewClient(actions.Job{Owner: "octo", Repo: "app"}, actions.ClientOptions{API: api.URL, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.Pull(t.Context(), 7)
	if !slices.Equal(sent, []string{""}) {
		t.Errorf("the other host was sent %q, want one request without a token", sent)
	}
}

func TestTheAddressOfGitHubIsChecked(t *testing.T) {
	for _, api := range []string{"api.github.com", "ftp://github.example", "https://", "://"} {
		if _, err := actions.NewClient(actions.Job{}, actions.ClientOptions{API: api, Token: token}); err == nil {
			t.Errorf("%q is taken for the address of GitHub's API", api)
		}
	}
}
