package browserstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/simulator/standin"
	standsin "github.com/apkgate/apkgate/simulator/standin/browserstack"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

const printed = `INSTRUMENTATION_STATUS: class=com.example.StartBenchmark
INSTRUMENTATION_STATUS: numtests=1
INSTRUMENTATION_STATUS: test=start
INSTRUMENTATION_STATUS_CODE: 1
INSTRUMENTATION_STATUS: android.studio.v2display.benchmark=StartBenchmark_start
INSTRUMENTATION_STATUS: time_to_initial_display_millis_median=312.5
INSTRUMENTATION_STATUS_CODE: 2
`

// newFarm returns BrowserStack with a stand-in for its service, and its environment.
func newFarm(t *testing.T) (l *standin.Lab, f *Farm, env map[string]string) {
	t.Helper()
	l = standin.New(t, standin.Options{WithoutADB: true})
	service := httptest.NewServer(standsin.Service(l.Folder, func(string, string, int) string { return printed }))
	t.Cleanup(service.Close)
	env = map[string]string{userVariable: standsin.User, keyVariable: standsin.Key, addressVariable: service.URL + "/"}
	return l, New(farm.Computer{
		Getenv: func(name string) string { return env[name] },
		Pause:  func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) },
	}), env
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

func orderOf(l *standin.Lab) farm.Order {
	return farm.Order{
		App: l.Path("settings.json"), Test: l.Path("settings.json"), Class: "com.example.StartBenchmark", Args: map[string]string{"androidx.benchmark.dryRunMode.enable": "false"},
		Devices: []farm.Device{{Model: "Google Pixel 7", Version: "13.0"}}, Within: 90 * time.Second,
	}
}

// calls counts the requests of a kind.
func calls(l *standin.Lab, of string) (n int) {
	for _, line := range l.Called("browserstack") {
		if strings.HasPrefix(line, of) {
			n++
		}
	}
	return n
}

// The request respects the documented limits, and turns off what would disturb a measurement.
func TestOrder(t *testing.T) {
	t.Parallel()
	l, f, _ := newFarm(t)
	held := taken(t, l)
	if err := f.Submit(t.Context(), orderOf(l), held); err != nil {
		t.Fatal(err)
	}
	all, err := standsin.Builds(l.Folder)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	want := map[string]any{
		"app": "bs://" + fmt.Sprintf("%040d", 1), "testSuite": "bs://" + fmt.Sprintf("%040d", 2), "devices": []any{"Google Pixel 7-13.0"},
		"class": []any{"com.example.StartBenchmark"}, "project": "apkgate", "buildTag": held.ID(), "singleRunnerInvocation": true, "clearPackageData": true,
		"video": false, "deviceLogs": false, "networkLogs": false, "idleTimeout": 90.0,
		"instrumentationOptions": map[string]any{"androidx.benchmark.enabledRules": "Macrobenchmark", "androidx.benchmark.dryRunMode.enable": "false"},
	}
	for _, key := range slices.Sorted(maps.Keys(all[0].Asked)) {
		if got := fmt.Sprint(all[0].Asked[key]); got != fmt.Sprint(want[key]) {
			t.Errorf("%s is %s, want %v", key, got, want[key])
		}
	}
	if len(all[0].Asked) != len(want) {
		t.Errorf("%v, want %v", all[0].Asked, want)
	}
	for name, edit := range map[string]func(*farm.Order){
		"takes the test runner that the test's APK names": func(o *farm.Order) { o.Runner = "com.example.Runner" },
		"takes 5 arguments": func(o *farm.Order) { o.Args = map[string]string{"a": "1", "b": "1", "c": "1", "d": "1", "e": "1"} },
		"does not accept the value of the argument suppress: want l": func(o *farm.Order) { o.Args = map[string]string{"suppress": "a=b"} },
	} {
		o := orderOf(l)
		edit(&o)
		if err := f.Submit(t.Context(), o, taken(t, l)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
	for within, want := range map[time.Duration]int{time.Second: 60, 10 * time.Minute: 600, 45 * time.Minute: 900} {
		if got := idle(within); got != want {
			t.Errorf("a test of %v is idle for %d s, want %d", within, got, want)
		}
	}
}

// A service that fails for a while is polled again; each progress message is reported once.
func TestAwaitBuildRetries(t *testing.T) {
	t.Parallel()
	l, f, _ := newFarm(t)
	held, o := taken(t, l), orderOf(l)
	if err := f.Submit(t.Context(), o, held); err != nil {
		t.Fatal(err)
	}
	l.Breaks(standsin.Unanswered, farm.Unanswered-1)
	l.Breaks(standsin.Queued, 2)
	var reported []string
	if err := f.Await(t.Context(), o, held.Lease(), func(line string) { reported = append(reported, line) }); err != nil {
		t.Fatal(err)
	}
	id := held.Lease().Detail[noteBuild]
	if want := []string{"build https://app-automate.browserstack.com/dashboard/v2/builds/" + id, "1 queued", "1 running"}; !slices.Equal(reported, want) {
		t.Errorf("reported %q, want %q", reported, want)
	}
	l.Breaks(standsin.Unanswered, tries-1)
	outcomes, err := f.Results(t.Context(), o, held.Lease())
	if err != nil || len(outcomes) != 1 || outcomes[0].Problem != "" || len(outcomes[0].Results) != 1 || outcomes[0].Minutes != 2 || !outcomes[0].Known {
		t.Errorf("%+v, %v; want one log, and two minutes for 75 s", outcomes, err)
	}
	l.Breaks(standsin.LoggedOut, 1)
	if _, err := f.Results(t.Context(), o, held.Lease()); err == nil || !strings.Contains(err.Error(), "the service answered 401 HTTP Basic: Access denied.") {
		t.Errorf("a key that may no longer: %v", err)
	}
	l.Breaks(standsin.Unanswered, farm.Unanswered)
	if err := f.Await(t.Context(), o, held.Lease(), func(string) {}); err == nil || !strings.Contains(err.Error(), "the service answered 502") || strings.Contains(err.Error(), "<") {
		t.Errorf("a service that never answers: %v", err)
	}
}

// A test that exceeds its time limit is stopped, by whichever verb the service accepts.
func TestAwaitStopsASlowTest(t *testing.T) {
	t.Parallel()
	l, f, _ := newFarm(t)
	held, o := taken(t, l), orderOf(l)
	o.Within = time.Nanosecond
	l.Breaks(standsin.Endless, state.Always)
	l.Breaks(standsin.ByPost, 2)
	if err := f.Submit(t.Context(), o, held); err != nil {
		t.Fatal(err)
	}
	if err := f.Await(t.Context(), o, held.Lease(), func(string) {}); err != nil {
		t.Fatal(err)
	}
	outcomes, err := f.Results(t.Context(), o, held.Lease())
	if err != nil || outcomes[0].Problem != "the test printed nothing for too long, or exceeded its time limit" || !outcomes[0].Known || outcomes[0].Minutes != 2 {
		t.Errorf("%+v, %v", outcomes, err)
	}
}

// A temporary refusal is retried: five uploads are accepted a minute, and tests wait for those
// of others. An expired app is uploaded again, and a build whose number was not reported is
// searched for.
func TestSubmitRetries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breaks          string
		times           int
		uploads, builds int // of the second order
		said            string
		uploadedBefore  bool
	}{
		"nothing":              {"", 0, 0, 1, "", true},
		"too many uploads":     {standsin.TooMany, 3, 2 + 3, 1, "", false},
		"uploads never":        {standsin.TooMany, state.Always, uploadTries, 0, "upload settings.json: the service answered 429", false},
		"all parallels in use": {standsin.InUse, 4, 0, 1 + 4, "", true},
		"in use for ever":      {standsin.InUse, state.Always, 0, 61, "All parallel tests are currently in use", true},
		"an app that expired":  {standsin.Expired, 1, 2, 2, "", true},
		"that expires always":  {standsin.Expired, state.Always, 2, 2, "the app has expired", true},
		"a lost answer":        {standsin.Lost, 1, 0, 1, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, f, _ := newFarm(t)
			if c.uploadedBefore {
				if err := f.Submit(t.Context(), orderOf(l), taken(t, l)); err != nil {
					t.Fatal(err)
				}
			}
			uploads, builds := calls(l, "POST /app-automate/espresso/v2/app")+calls(l, "POST /app-automate/espresso/v2/test"), calls(l, "POST /app-automate/espresso/v2/build")
			if c.breaks != "" {
				l.Breaks(c.breaks, c.times)
			}
			held := taken(t, l)
			err := f.Submit(t.Context(), orderOf(l), held)
			if c.said == "" && (err != nil || held.Lease().Detail[noteBuild] == "") || c.said != "" && (err == nil || !strings.Contains(err.Error(), c.said)) {
				t.Errorf("%v, %v; want %q", err, held.Lease().Detail, c.said)
			}
			uploads, builds = calls(l, "POST /app-automate/espresso/v2/app")+calls(l, "POST /app-automate/espresso/v2/test")-uploads, calls(l, "POST /app-automate/espresso/v2/build")-builds
			if uploads != c.uploads || builds != c.builds {
				t.Errorf("%d uploads and %d builds were asked for, want %d and %d", uploads, builds, c.uploads, c.builds)
			}
		})
	}
}

// A build that may have begun and is not found is reported as such: it may cost something.
func TestSubmitOfABuildThatMayHaveBegun(t *testing.T) {
	t.Parallel()
	l, f, _ := newFarm(t)
	l.Breaks(standsin.Lost, 1)
	l.Breaks(standsin.Unanswered, 1)
	held := taken(t, l)
	err := f.Submit(t.Context(), orderOf(l), held)
	if want := called + ": submit a build: the service answered 502; " + farm.ErrUnknown.Error(); !errors.Is(err, farm.ErrUnknown) || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
	var reported []string
	if err := f.Stop(t.Context(), held.Lease(), func(line string) { reported = append(reported, line) }); err != nil {
		t.Error(err)
	}
	if running, err := standsin.Running(l.Folder); err != nil || len(running) > 0 {
		t.Errorf("%q go on, %v", running, err)
	}
	l.Breaks(standsin.Expired, state.Always)
	if err := f.Submit(t.Context(), orderOf(l), taken(t, l)); err == nil || errors.Is(err, farm.ErrUnknown) {
		t.Errorf("one that was refused: %v", err)
	}
}

// The log of a test that began before another's is identified by the session.
func TestResultsOfSeveralTests(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/log") {
			fmt.Fprintf(w, "INSTRUMENTATION_STATUS: android.studio.v2display.benchmark=x\nINSTRUMENTATION_STATUS: time_to_initial_display_millis_median=%s\nINSTRUMENTATION_STATUS_CODE: 2\n", r.URL.Query().Get("ms"))
			return
		}
		fmt.Fprintf(w, `{"testcases": {"data": [{"class": "com.x.Start", "testcases": [{"name": "cold", "instrumentation_log": "http://%[1]s/log?ms=300.5"}, {"name": "warm", "instrumentation_log": "http://%[1]s/log?ms=100"}]}]}}`, r.Host)
	}))
	t.Cleanup(service.Close)
	f := New(farm.Computer{Getenv: func(name string) string {
		return map[string]string{userVariable: "me", keyVariable: "secret", addressVariable: service.URL}[name]
	}})
	file, err := f.printed(t.Context(), "9beef", "face")
	if err != nil {
		t.Fatal(err)
	}
	const of = "INSTRUMENTATION_STATUS: class=com.x.Start\nINSTRUMENTATION_STATUS: test=%s\nINSTRUMENTATION_STATUS_CODE: 1\n" +
		"INSTRUMENTATION_STATUS: android.studio.v2display.benchmark=x\nINSTRUMENTATION_STATUS: time_to_initial_display_millis_median=%s\nINSTRUMENTATION_STATUS_CODE: 2\n\n"
	if want := fmt.Sprintf(of+of, "cold", "300.5", "warm", "100"); string(file.Data) != want {
		t.Errorf("got\n%s\nwant\n%s", file.Data, want)
	}
}

// The result of a test is reported, and an incomplete log is not a result.
func TestResults(t *testing.T) {
	t.Parallel()
	for breaks, want := range map[string]struct {
		problem string
		minutes int
	}{
		standsin.Fails:          {"the test failed, or the app crashed", 2},
		standsin.Infrastructure: {"BrowserStack's own infrastructure failed", 2},
		standsin.TimedOut:       {"the test printed nothing for too long, or exceeded its time limit", 2},
		standsin.Skipped:        {"the test was not run: it waited for longer than BrowserStack allows, or the class is not in the test's APK", 0},
		standsin.NoResults:      {"has no results of androidx.benchmark: is it a Macrobenchmark, or was the log cut?", 2},
		standsin.LargeLog:       {"read the instrumentation log of start: the answer of the service has more than 16 MiB", 2},
	} {
		t.Run(breaks, func(t *testing.T) {
			t.Parallel()
			l, f, _ := newFarm(t)
			l.Breaks(breaks, 1)
			held, o := taken(t, l), orderOf(l)
			if err := errors.Join(f.Submit(t.Context(), o, held), f.Await(t.Context(), o, held.Lease(), func(string) {})); err != nil {
				t.Fatal(err)
			}
			outcomes, err := f.Results(t.Context(), o, held.Lease())
			if err != nil || !strings.Contains(outcomes[0].Problem, want.problem) || len(outcomes[0].Results) != 0 || outcomes[0].Minutes != want.minutes || !outcomes[0].Known || outcomes[0].TestFailed != (breaks == standsin.Fails) {
				t.Errorf("%+v, %v; want %q and %d minutes", outcomes, err, want.problem, want.minutes)
			}
		})
	}
}

// If the build's state can't be read, it is not reported as stopped; a build that does not
// exist is; and another account's build is never stopped.
func TestStopErrors(t *testing.T) {
	t.Parallel()
	l, f, env := newFarm(t)
	left := lease.Lease{ID: "apkgate-abcd", Detail: map[string]string{noteAccount: f.account(), noteAsked: "2026-11-27T13:00:00Z", noteBuild: "9beef"}}
	none := func(string) {}
	if err := f.Stop(t.Context(), left, none); err != nil {
		t.Errorf("one that is not there: %v", err)
	}
	delete(left.Detail, noteBuild)
	if err := f.Stop(t.Context(), left, none); err != nil {
		t.Errorf("one that was never begun: %v", err)
	}
	held := taken(t, l)
	l.Breaks(standsin.Endless, state.Always)
	if err := f.Submit(t.Context(), orderOf(l), held); err != nil {
		t.Fatal(err)
	}
	l.Breaks(standsin.LoggedOut, 1)
	if err := f.Stop(t.Context(), held.Lease(), none); err == nil || !strings.Contains(err.Error(), "stop the build "+held.Lease().Detail[noteBuild]) {
		t.Errorf("one that can't be asked for: %v", err)
	}
	env[userVariable] = "somebody"
	if err := f.Stop(t.Context(), held.Lease(), none); err == nil || !strings.Contains(err.Error(), "a different user") || strings.Contains(err.Error(), "somebody") {
		t.Errorf("another account: %v", err)
	}
	env[userVariable] = standsin.User
	l.Breaks(standsin.Unanswered, 3)
	if err := f.Stop(t.Context(), held.Lease(), none); err != nil {
		t.Errorf("one that runs: %v", err)
	}
	if running, err := standsin.Running(l.Folder); err != nil || len(running) != 0 {
		t.Errorf("%q go on, %v", running, err)
	}
}

// If more builds have begun since than are listed, the build is not reported as absent.
func TestStopOfAnUnlistedBuild(t *testing.T) {
	t.Parallel()
	l, f, _ := newFarm(t)
	left := lease.Lease{ID: "apkgate-abcd", Detail: map[string]string{noteAccount: f.account(), noteAsked: time.Now().Add(-2 * time.Minute).Format(time.RFC3339)}}
	for range listedAtOnce {
		if err := f.Submit(t.Context(), orderOf(l), taken(t, l)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Stop(t.Context(), left, func(string) {}); err == nil || !strings.Contains(err.Error(), "it is none of the newest 20") {
		t.Errorf("one that may run: %v", err)
	}
	left.Detail[noteAsked] = time.Now().Add(-3 * time.Hour).Format(time.RFC3339)
	if err := f.Stop(t.Context(), left, func(string) {}); err != nil {
		t.Errorf("one that has ended by itself: %v", err)
	}
}

// The key is sent only to BrowserStack, and never unencrypted.
func TestKeyIsSentToBrowserStackOnly(t *testing.T) {
	t.Parallel()
	got := make(chan string, 9)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization")
		_, _ = io.WriteString(w, "the log")
	}))
	t.Cleanup(other.Close)
	ours := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/signed", http.StatusFound)
	}))
	t.Cleanup(ours.Close)
	f := New(farm.Computer{Getenv: func(name string) string {
		return map[string]string{userVariable: "me", keyVariable: "secret", addressVariable: ours.URL}[name]
	}})
	if text, err := f.log(t.Context(), ours.URL+"/log"); err != nil || string(text) != "the log" {
		t.Errorf("a log that lies elsewhere: %q, %v", text, err)
	}
	if key := <-got; key != "" {
		t.Errorf("the key was sent on: %q", key)
	}
	for _, address := range []string{other.URL + "/log", "http://api.browserstack.com/x", "https://api.browserstack.com.example.org/x", "", ":"} {
		if text, err := f.log(t.Context(), address); err == nil {
			t.Errorf("%q: %q", address, text)
		}
	}
	if len(got) != 0 {
		t.Error("another computer was asked")
	}
	f = New(farm.Computer{Getenv: func(string) string { return "http://browserstack.example.org" }})
	if err := f.call(t.Context(), http.MethodGet, "x", nil, nil); err == nil || !strings.Contains(err.Error(), "want one that begins with https://") {
		t.Errorf("in the clear: %v", err)
	}
}

// Whatever the service answers, the message shown is one line of text, and numbers are safe in
// a URL.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"builds":[{"build_id":"8d3f5"},{"id":"../x"}]}`))
	f.Add([]byte(`[{"id":"8d3f5"}]`))
	f.Add([]byte(`{"error":{"app":"no"}}`))
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if said := refusal(text); strings.ContainsAny(said, "\n\x1b") || len(said) > 1000 {
			t.Errorf("%q", said)
		}
		ids, _ := listed(text)
		for _, id := range ids {
			if strings.ContainsAny(id, "/?#%. \n") || id == "" {
				t.Errorf("%q", id)
			}
		}
	})
}
