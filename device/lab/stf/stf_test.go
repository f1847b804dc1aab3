package stf

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/boot/boottest"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/simulator"
)

const token = "sesame-4711-token"

// server is a stand-in for STF's API v1, with the answers of its
// lib/units/api/controllers/user.js.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	phones []phone           // free if Owner is "", the user's if it is "me"
	owner  map[string]string // by serial
	at     map[string]string // their addresses for adb
	asked  []string          // "POST user/devices"
	rude   func(w http.ResponseWriter, call string, n int) bool
}

func newServer(t *testing.T, phones ...phone) *server {
	t.Helper()
	s := &server{phones: phones, owner: map[string]string{}, at: map[string]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	path, in := strings.CutPrefix(r.URL.Path, "/api/v1/")
	call := r.Method + " " + path
	s.mu.Lock()
	s.asked = append(s.asked, call)
	n, rude := len(s.asked), s.rude
	s.mu.Unlock()
	if rude != nil && rude(w, call, n) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := func(status int, description string, more map[string]any) {
		out := map[string]any{"success": status == http.StatusOK, "description": description}
		maps.Copy(out, more)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(out)
	}
	serial, connect := strings.CutSuffix(strings.TrimPrefix(path, "user/devices/"), "/remoteConnect")
	mine := s.owner[serial] == "me"
	switch {
	case !in, r.Header.Get("Authorization") != "Bearer "+token:
		answer(http.StatusForbidden, "Forbidden", nil)
	case call == "GET user":
		answer(http.StatusOK, "", map[string]any{"user": map[string]any{"email": "ci@example.org"}})
	case call == "GET devices", call == "GET user/devices":
		answer(http.StatusOK, "", map[string]any{"devices": s.list(call == "GET user/devices")})
	case call == "POST user/devices":
		var body struct {
			Serial  string
			Timeout int
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if s.owner[body.Serial] != "" || body.Timeout != 15*60_000 {
			answer(http.StatusForbidden, "Device is being used or not available", nil)
			return
		}
		s.owner[body.Serial] = "me"
		answer(http.StatusOK, "Device successfully added", nil)
	case !mine:
		answer(http.StatusForbidden, "Device is not owned by you or is not available", nil)
	case r.Method == http.MethodPost && connect:
		answer(http.StatusOK, "", map[string]any{"remoteConnectUrl": s.at[serial]})
	case r.Method == http.MethodDelete && !connect:
		delete(s.owner, serial)
		answer(http.StatusOK, "Device successfully removed", nil)
	}
}

func (s *server) list(mine bool) []map[string]any {
	out := []map[string]any{}
	for _, p := range s.phones {
		owner := s.owner[p.Serial]
		if mine && owner != "me" {
			continue
		}
		row := map[string]any{"serial": p.Serial, "name": p.Name, "model": p.Model, "manufacturer": p.Manufacturer, "version": p.Version,
			"present": p.Present, "ready": p.Ready, "using": owner == "me", "owner": nil}
		if owner != "" {
			row["owner"] = map[string]any{"email": owner}
		}
		out = append(out, row)
	}
	return out
}

func (s *server) has(owner string) (serials []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for serial, o := range s.owner {
		if o == owner {
			serials = append(serials, serial)
		}
	}
	slices.Sort(serials)
	return serials
}

func (s *server) lend(serial, owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owner[serial] = owner
}

// count returns how often a call was made.
func (s *server) count(call string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.asked {
		if c == call {
			n++
		}
	}
	return n
}

// pixel returns a free phone.
func pixel(serial string) phone {
	return phone{Serial: serial, Name: "Pixel 6", Model: "oriole", Manufacturer: "Google", Version: "13", Present: true, Ready: true}
}

var wanted = boot.Spec{Name: "pixel #1", Kind: Kind, Model: "pixel 6", Android: "13", Minutes: 15}

// bench is a lab with a server, and the phones that the adb server had to disconnect from.
type bench struct {
	*Lab
	*boottest.Bench
	forgot []string
}

func newBench(address, leases string) *bench {
	b := &bench{Bench: &boottest.Bench{Kind: Kind, Leases: leases}}
	b.Lab = New(Computer{
		Getenv: func(name string) string {
			return map[string]string{addressVariable: address, tokenVariable: token}[name]
		},
		Reach: func(ctx context.Context, b *boot.Booted) (device.Device, error) {
			return adb.Dial(ctx, b.Address, adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }})
		},
		Forget: func(_ context.Context, serial string) { b.forgot = append(b.forgot, serial) },
	})
	b.lookEvery, b.waits, b.stopsOver = 5*time.Millisecond, 20*time.Millisecond, time.Minute
	return b
}

// phoneAt adds a simulated phone to the server.
func (s *server) phoneAt(t *testing.T, serial string, seed uint64) {
	t.Helper()
	sim, err := simulator.Start("optimus-l3-android-4.1.1", seed, simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Close() })
	s.at[serial] = sim.Address()
}

func (b *bench) release(t *testing.T, l lease.Lease) {
	t.Helper()
	if err := b.Stop(t.Context(), l, b.Tell); err != nil {
		t.Error(err)
	}
}

// Boot borrows an unused phone that fits, and Stop gives that phone back.
func TestBootAndStop(t *testing.T) {
	t.Parallel()
	absent, old, used := pixel("absent"), pixel("old"), pixel("used")
	absent.Present, old.Version = false, "12"
	s := newServer(t, absent, old, used, pixel("free"), phone{Serial: "other", Model: "SM-G991B", Version: "13", Present: true, Ready: true})
	s.phoneAt(t, "free", 1)
	s.lend("used", "ann@example.org")
	s.lend("other", "me") // in a browser
	b := newBench(s.URL, t.TempDir())
	held := b.Take(t)
	booted, err := b.Boot(t.Context(), wanted, held, b.Tell)
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.computer.Reach(t.Context(), booted)
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Exec(t.Context(), "getprop sys.boot_completed")
	_ = d.Close()
	if err != nil || strings.TrimSpace(string(out.Stdout)) != "1" || booted.Serial != s.at["free"] {
		t.Errorf("the phone at %s says %q, %v", booted.Serial, out.Stdout, err)
	}
	if has := s.has("me"); !slices.Equal(has, []string{"free", "other"}) || held.Lease().Name != "pixel #1" {
		t.Errorf("the user has %q, the lease says %+v", has, held.Lease())
	}
	b.release(t, held.Lease())
	b.release(t, held.Lease()) // a second time there is nothing to do
	if has := s.has("me"); !slices.Equal(has, []string{"other"}) || s.count("DELETE user/devices/free") != 1 || b.forgot[0] != booted.Serial {
		t.Errorf("the user has %q, adb forgot %q", has, b.forgot)
	}
}

// Two boots of a process never request the same phone: the server could not distinguish them.
func TestConcurrentBoots(t *testing.T) {
	t.Parallel()
	s := newServer(t, pixel("a"), pixel("b"), pixel("c"))
	for i, serial := range []string{"a", "b", "c"} {
		s.phoneAt(t, serial, uint64(i))
	}
	b := newBench(s.URL, t.TempDir())
	var all sync.WaitGroup
	leases := make([]*lease.Held, 3)
	for i := range leases {
		leases[i] = b.Take(t)
		all.Go(func() {
			if _, err := b.Boot(t.Context(), wanted, leases[i], b.Tell); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if has := s.has("me"); len(has) != 3 || s.count("POST user/devices") != 3 {
		t.Errorf("the user has %q, after %d questions", has, s.count("POST user/devices"))
	}
	for _, held := range leases {
		b.release(t, held.Lease())
	}
	if has := s.has("me"); len(has) > 0 {
		t.Errorf("the user still has %q", has)
	}
}

// Another phone is tried if another user was faster, and a phone that becomes free is waited
// for.
func TestBootWaitsForAPhone(t *testing.T) {
	t.Parallel()
	s := newServer(t, pixel("a"), pixel("b"))
	s.phoneAt(t, "a", 1)
	s.lend("b", "ann@example.org")
	lists := 0
	s.rude = func(_ http.ResponseWriter, call string, _ int) bool {
		switch call {
		case "POST user/devices":
			if lists == 1 {
				s.lend("a", "bob@example.org") // a moment before
			}
		case "GET devices":
			if lists++; lists == 3 {
				s.lend("a", "")
			}
		}
		return false
	}
	b := newBench(s.URL, t.TempDir())
	b.waits = time.Minute
	held := b.Take(t)
	if _, err := b.Boot(t.Context(), wanted, held, b.Tell); err != nil {
		t.Fatal(err)
	}
	if !b.Heard("STF has 2 phones that fit, and none is free: waiting up to 1m") || held.Lease().Detail[noteLent] != "a" {
		t.Errorf("reported %q, the lease says %+v", b.Told(), held.Lease())
	}
	b.release(t, held.Lease())
}

// A phone is chosen by its serial, its model or its name, in any case, and by a prefix of its
// Android version.
func TestFits(t *testing.T) {
	t.Parallel()
	p := pixel("R58M")
	p.Version = "6.0.1"
	for _, c := range []struct {
		spec boot.Spec
		want bool
	}{
		{boot.Spec{Existing: "R58M"}, true}, {boot.Spec{Existing: "r58m"}, false}, {boot.Spec{Existing: "R58M", Model: "Nexus"}, false},
		{boot.Spec{Model: "PIXEL 6"}, true}, {boot.Spec{Model: "Oriole"}, true}, {boot.Spec{Model: "google oriole"}, true}, {boot.Spec{Model: "Pixel"}, false},
		{boot.Spec{Model: "oriole", Android: "6"}, true}, {boot.Spec{Model: "oriole", Android: "6.0"}, true}, {boot.Spec{Model: "oriole", Android: "6.0.1"}, true},
		{boot.Spec{Model: "oriole", Android: "6.1"}, false}, {boot.Spec{Model: "oriole", Android: "60"}, false},
	} {
		if got := p.fits(c.spec); got != c.want {
			t.Errorf("%+v fits %v, want %v", c.spec, got, c.want)
		}
	}
	if (phone{Model: "oriole"}).fits(boot.Spec{Model: "oriole"}) {
		t.Error("a phone without a serial can be asked for")
	}
}

// A failed boot has a hint, shows no token, and leaves no phone with the user.
func TestBootsThatFail(t *testing.T) {
	t.Parallel()
	answers := func(call string, status int, text string) func(http.ResponseWriter, string, int) bool {
		return func(w http.ResponseWriter, c string, _ int) bool {
			if c == call {
				w.Header().Set("Location", "http://127.0.0.1:1/"+token)
				w.WriteHeader(status)
				_, _ = w.Write([]byte(text))
			}
			return c == call
		}
	}
	const connect = "POST user/devices/a/remoteConnect"
	for name, c := range map[string]struct {
		address, at  string
		spec         boot.Spec
		rude         func(http.ResponseWriter, string, int) bool
		what, advice string
		retry        bool
	}{
		"no address":         {address: "-", what: "does not say where the server is", advice: "set STF_URL"},
		"in the clear":       {address: "http://stf.example.org", what: `want one that begins with https://`, advice: "set STF_URL"},
		"a user in it":       {address: "https://u:" + token + "@stf.example.org", what: "without a user", advice: "set STF_URL"},
		"nobody there":       {address: "http://127.0.0.1:1", what: "ask the server: ", advice: "see that this computer reaches http://127.0.0.1:1", retry: true},
		"a bad token":        {rude: answers("GET devices", 401, `{"success":false,"description":"Bad credentials"}`), what: "the server answered 401 Bad credentials", advice: "set STF_TOKEN"},
		"a bad token for it": {rude: answers("GET devices", 403, `{"success":false,"description":"Forbidden"}`), what: "the server answered 403 Forbidden", advice: "set STF_TOKEN"},
		"a login page":       {rude: answers("GET devices", 302, "\n<html>"), what: "the server answered 302", advice: "set STF_TOKEN"},
		"a page":             {rude: answers("GET devices", 200, "<html>\x1b[2J"), what: "want the JSON of STF's API v1"},
		"JSON of others":     {rude: answers("GET devices", 200, `[1]`), what: "want the JSON of STF's API v1"},
		"without success":    {rude: answers("GET devices", 200, `{"devices":[]}`), what: "want the JSON of STF's API v1"},
		"a refusal with 200": {rude: answers("GET devices", 200, `{"success":false,"description":"no\nmore"}`), what: "the server refused: no more"},
		"too long":           {rude: answers("GET devices", 200, strings.Repeat(" ", mostAnswer+1)), what: "has more than 8 MiB"},
		"out of order":       {rude: answers("GET devices", 503, "<html>"), what: "the server answered 503", retry: true},
		"no such model":      {spec: boot.Spec{Model: "Pixel 9"}, what: "(Pixel 9): the server has no such phone", advice: "it has oriole (Android 13)"},
		"no such Android":    {spec: boot.Spec{Model: "oriole", Android: "1"}, what: "no such phone", advice: "it has oriole"},
		"no such serial":     {spec: boot.Spec{Existing: "b"}, what: "(b): the server has no such phone", advice: "it has oriole"},
		"never free":         {rude: answers("POST user/devices", 403, "{}"), what: "none of the 1 that fit became free within", advice: "see who uses them"},
		"a deaf phone":       {rude: answers("POST user/devices", 504, `{"success":false,"description":"Device is not responding"}`), what: "504 Device is not responding", retry: true},
		"not for adb":        {rude: answers(connect, 504, `{"success":false,"description":"Device is not responding"}`), what: "have STF offer a to adb: the server answered 504", retry: true},
		"lost meanwhile":     {rude: answers(connect, 403, `{}`), what: "the server answered 403"},
		"a bad port":         {at: "10.0.0.1:port; rm -rf", what: `it is at "10.0.0.1:port; rm -rf", want HOST:PORT`, advice: "--connect-url-pattern"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, pixel("a"))
			s.at["a"], s.rude = c.at, c.rude
			address := s.URL
			if c.address != "" {
				address = strings.TrimPrefix(c.address, "-")
			}
			b := newBench(address, t.TempDir())
			held := b.Take(t)
			spec := wanted
			if c.spec != (boot.Spec{}) {
				spec = c.spec
				spec.Minutes = 15
			}
			_, err := b.Boot(t.Context(), spec, held, b.Tell)
			var failed *boot.Error
			if !errors.As(err, &failed) || !strings.Contains(err.Error(), c.what) || !strings.HasPrefix(err.Error(), "STF: ") || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%v, want %q", err, c.what)
			}
			if page := strings.Contains(err.Error(), "<html>"); page != (name == "a page") {
				t.Errorf("a page of HTML is shown: %v", err)
			}
			if !strings.Contains(failed.Hint(), c.advice) || (failed.Hint() == "") != (c.advice == "") || failed.Retry != c.retry || strings.Contains(err.Error()+failed.Hint(), token) {
				t.Errorf("%v: hint %q, retry %v; want %q, %v", err, failed.Hint(), failed.Retry, c.advice, c.retry)
			}
			b.release(t, held.Lease())
			if has := s.has("me"); len(has) > 0 {
				t.Errorf("the user still has %q", has)
			}
		})
	}
}

// A phone that does not answer STF is skipped.
func TestBootSkipsAPhoneThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := newServer(t, pixel("deaf"), pixel("good"))
	s.phoneAt(t, "good", 1)
	posts := 0
	s.rude = func(w http.ResponseWriter, call string, _ int) bool {
		if call != "POST user/devices" {
			return false
		}
		if posts++; posts > 1 {
			return false
		}
		w.WriteHeader(http.StatusGatewayTimeout)
		_, _ = w.Write([]byte(`{"success":false,"description":"Device is not responding"}`))
		return true
	}
	b := newBench(s.URL, t.TempDir())
	held := b.Take(t)
	if _, err := b.Boot(t.Context(), wanted, held, b.Tell); err != nil || held.Lease().Detail[noteLent] != "good" || !b.Heard("deaf: STF: ") {
		t.Errorf("%v, %+v, reported %q", err, held.Lease(), b.Told())
	}
	b.release(t, held.Lease())
}

// Stop retries until the server reports that the phone was given back, and otherwise reports
// what to do by hand.
func TestStopRetries(t *testing.T) {
	t.Parallel()
	s := newServer(t, pixel("a"))
	s.phoneAt(t, "a", 1)
	b := newBench(s.URL, t.TempDir())
	held := b.Take(t)
	if _, err := b.Boot(t.Context(), wanted, held, b.Tell); err != nil {
		t.Fatal(err)
	}
	refusals := 0
	refuse := func(status, times int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		refusals = 0
		s.rude = func(w http.ResponseWriter, call string, _ int) bool {
			if refusals++; refusals > times || strings.HasPrefix(call, "GET") && (status == http.StatusForbidden || status == http.StatusNotFound) {
				return false
			}
			w.WriteHeader(status)
			return true
		}
	}
	var failed *boot.Error
	refuse(http.StatusUnauthorized, 1)
	if err := b.Stop(t.Context(), held.Lease(), b.Tell); !errors.As(err, &failed) || !strings.Contains(failed.Hint(), "set STF_TOKEN") || !strings.Contains(failed.Hint(), "then apkgate devices clean, or stop using a in STF") {
		t.Errorf("without a token: %v", err)
	}
	refuse(http.StatusBadGateway, 1<<30)
	b.stopsOver = 30 * time.Millisecond
	if err := b.Stop(t.Context(), held.Lease(), b.Tell); !errors.As(err, &failed) || !failed.Retry || !strings.Contains(failed.Hint(), "devices clean") {
		t.Errorf("out of order: %v", err)
	}
	b.stopsOver = time.Minute
	refuse(http.StatusGatewayTimeout, 3)
	b.release(t, held.Lease())
	if has := s.has("me"); len(has) > 0 {
		t.Errorf("the user still has %q", has)
	}
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound} { // it belongs to another user by then
		s.lend("a", "me")
		refuse(status, 2)
		b.release(t, held.Lease())
	}
}

func TestMain(m *testing.M) {
	boottest.Child(Kind, func(its *boottest.Bench, held *lease.Held) error {
		_, err := newBench(os.Getenv("STF_TEST_SERVER"), its.Leases).Boot(context.Background(), wanted, held, its.Tell)
		return err
	})
	os.Exit(m.Run())
}

// Killed at any call, apkgate leaves a lease by which the phone is given back, except for the
// call that lends it, after which the server takes it back by itself.
func TestAKilledBoot(t *testing.T) {
	t.Parallel()
	lent := 0
	for _, point := range []string{"GET devices", "POST user/devices", "POST user/devices/a/remoteConnect", ""} {
		s := newServer(t, pixel("a"))
		s.phoneAt(t, "a", 1)
		reached, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		s.rude = func(_ http.ResponseWriter, call string, _ int) bool {
			if call == point {
				once.Do(func() { close(reached); <-release })
			}
			return false
		}
		b := newBench(s.URL, t.TempDir())
		var await func()
		if point != "" {
			await = func() { <-reached }
		}
		b.Kill(t, append(os.Environ(), "STF_TEST_SERVER="+s.URL), await)
		close(release)
		if point == "POST user/devices" { // the server completes a request whose client is gone
			for len(s.has("me")) == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		lent += len(s.has("me"))
		files, err := filepath.Glob(filepath.Join(b.Leases, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), token) {
				t.Errorf("%s: %v\n%s", file, err, text)
			}
		}
		if n := b.Clean(t, func(l lease.Lease) { b.release(t, l) }); n != 1 {
			t.Errorf("%q: %d leases", point, n)
		}
		if has := s.has("me"); len(has) > 0 != (point == "POST user/devices") || len(has) > 0 && !b.Heard("STF may have lent a and never said so") {
			t.Errorf("%q: the user still has %q, reported %q", point, has, b.Told())
		}
	}
	if lent != 3 {
		t.Errorf("%d of the killed processes had a phone, want 3: the test tests little", lent)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	s := newServer(t, pixel("a"), pixel("b"), pixel("c"))
	s.lend("a", "ann@example.org")
	b := newBench(s.URL, t.TempDir())
	got := b.Check(t.Context())
	if len(got) != 2 || !got[0].OK || got[0].Detail != "knows the token as ci@example.org" || !got[1].OK || got[1].Detail != "2 of 3 free" {
		t.Errorf("%+v", got)
	}
	bare := New(Computer{Getenv: func(string) string { return "" }})
	if got := bare.Check(t.Context()); len(got) != 1 || got[0].OK || !strings.Contains(got[0].Hint, "set STF_URL") {
		t.Errorf("without an address: %+v", got)
	}
}

// The server's texts are untrusted.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"success":true,"devices":[{"serial":"a","model":"b","version":"13","present":true,"ready":true,"owner":null}],"remoteConnectUrl":"10.0.0.1:7401"}`))
	f.Add([]byte(`{"success":false,"description":"no\u001b[2J"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var a answer
		if err := read(text, &a); err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q", err)
		}
		for _, p := range a.Devices {
			if p.fits(wanted) && (p.Serial == "" || !strings.HasPrefix(p.Version, "13")) {
				t.Errorf("%+v fits", p)
			}
			p.free()
		}
		if names := modelsOf(a.Devices) + refusal(text); strings.ContainsAny(names, "\n\x1b") || len(names) > 2000 {
			t.Errorf("%q", names)
		}
	})
}
