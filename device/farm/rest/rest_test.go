package rest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/device/farm"
)

// The answer is limited, and an error says whether to retry.
func TestAsk(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := map[string]int{"/made": 201, "/busy": 429, "/none": 404, "/down": 503, "/away": 302}[r.URL.Path]
		if status == 0 {
			status = 200
		}
		w.Header().Set("Location", "/none")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("12345"))
	}))
	t.Cleanup(service.Close)
	for path, want := range map[string]struct {
		most   int64
		status int
		said   string
		final  bool
	}{
		"/":     {5, 0, "", false},
		"/made": {5, 0, "", false},
		"/more": {4, 0, "the answer of it has more than", true},
		"/busy": {5, 429, "it answered 429 said 12345", false},
		"/none": {5, 404, "it answered 404 said 12345", true},
		"/down": {5, 503, "it answered 503 said 12345", false},
		"/away": {5, 302, "it answered 302 said 12345", true},
	} {
		request, err := http.NewRequest(http.MethodGet, service.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		text, err := Ask(Client, request, "it", want.most, func(text []byte) string { return "said " + string(text) })
		switch {
		case want.said == "" && (err != nil || string(text) != "12345"), want.said != "" && (err == nil || !strings.Contains(err.Error(), want.said)),
			StatusOf(err) != want.status, errors.Is(err, farm.ErrRefused) != want.final:
			t.Errorf("%s: %q, %v; want %+v", path, text, err, want)
		}
	}
	service.Close()
	request, _ := http.NewRequest(http.MethodGet, service.URL+"/secret", http.NoBody)
	if _, err := Ask(Client, request, "it", 1, nil); err == nil || strings.Contains(err.Error(), "/secret") || errors.Is(err, farm.ErrRefused) {
		t.Errorf("no answer: %v", err)
	}
}

// A secret is sent unencrypted to no public host, and with InHouse only within a private
// network.
func TestSafeAndInHouse(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]struct{ safe, inHouse bool }{
		"https://stf.example.org":      {true, true},
		"http://stf.example.org":       {false, false},
		"http://127.0.0.1:7100":        {true, true},
		"http://10.1.2.3:7100/stf":     {false, true},
		"http://192.168.0.7":           {false, true},
		"http://8.8.8.8":               {false, false},
		"http://stf:7100":              {false, true},
		"http://stf.lab.lan":           {false, true},
		"http://stf.lan.example.org":   {false, false},
		"https://user:secret@stf":      {true, false},
		"http://user:secret@10.1.2.3/": {false, false},
		"ftp://10.1.2.3":               {false, false},
		"http://":                      {false, false},
		"https://":                     {true, false},
		"stf.example.org":              {false, false},
		"http://[::1":                  {false, false},
	} {
		safe, inHouse := Safe("X", address), InHouse("X", address)
		if (safe == nil) != want.safe || (inHouse == nil) != want.inHouse {
			t.Errorf("%s: safe %v, in house %v", address, safe, inHouse)
		}
		for _, err := range []error{safe, inHouse} {
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: the password is shown: %v", address, err)
			}
		}
	}
}
