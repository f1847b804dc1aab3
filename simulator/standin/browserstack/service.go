package browserstack

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

// Service returns the simulated service. printed returns a benchmark's output, by the contents
// of the APK, the device, and the number of the APK's build (from 0).
func Service(folder state.Folder, printed func(app, device string, number int) string) http.Handler {
	s := service{folder, printed}
	const v2 = "/app-automate/espresso/v2/"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /app-automate/plan.json", s.plan)
	mux.HandleFunc("GET /app-automate/devices.json", s.devices)
	mux.HandleFunc("POST "+v2+"app", func(w http.ResponseWriter, r *http.Request) { s.upload(w, r, "app") })
	mux.HandleFunc("POST "+v2+"test-suite", func(w http.ResponseWriter, r *http.Request) { s.upload(w, r, "test_suite") })
	mux.HandleFunc("POST "+v2+"build", s.begin)
	mux.HandleFunc("GET "+v2+"builds", s.list)
	mux.HandleFunc("GET "+v2+"builds/{build}", s.get)
	mux.HandleFunc(v2+"builds/{build}/stop", s.stop)
	mux.HandleFunc("GET "+v2+"builds/{build}/sessions/{session}", s.session)
	mux.HandleFunc("GET /app-automate/espresso/builds/{build}/sessions/tests/{session}/instrumentationlogs", s.log)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = folder.Note(state.Call{Program: "browserstack", Args: []string{r.Method, r.URL.Path}})
		if user, key, _ := r.BasicAuth(); user != User || key != Key || folder.Fails(LoggedOut) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, "HTTP Basic: Access denied.\n")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

type service struct {
	folder  state.Folder
	printed func(app, device string, number int) string
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// edge answers like the proxies in front of the service, whatever the request.
func edge(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<html>\n<head><title>%d %s</title></head>\n</html>\n", status, http.StatusText(status))
}

// hold waits until the failure is mended, or the client disconnects.
func (s service) hold(r *http.Request, word string) {
	for s.folder.Fails(word) && !s.folder.Gone() && r.Context().Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
}

func (s service) plan(w http.ResponseWriter, _ *http.Request) {
	answer(w, 200, map[string]any{
		"automate_plan": "App Automate", "parallel_sessions_running": 0, "team_parallel_sessions_max_allowed": 5,
		"parallel_sessions_max_allowed": 10, "queued_sessions": 0, "queued_sessions_max_allowed": 5,
	})
}

func (s service) devices(w http.ResponseWriter, _ *http.Request) {
	list := []map[string]any{{"os": "ios", "os_version": "16", "device": "iPhone 14", "realMobile": true}}
	for _, d := range []Device{{Name: "Google Pixel 7", Version: "13.0"}, {Name: "Samsung Galaxy S23", Version: "13.0"}, {Name: "Samsung Galaxy S23", Version: "14.0"}} {
		list = append(list, map[string]any{"os": "android", "os_version": d.Version, "device": d.Name, "realMobile": true})
	}
	answer(w, 200, list)
}

// upload stores a file from a form.
func (s service) upload(w http.ResponseWriter, r *http.Request, kind string) {
	if s.folder.Fails(TooMany) {
		answer(w, http.StatusTooManyRequests, map[string]any{"error": "Too Many Requests"})
		return
	}
	part, header, err := r.FormFile("file")
	if err != nil {
		answer(w, http.StatusUnprocessableEntity, map[string]any{"error": "[BROWSERSTACK_FILE_MISSING] file is missing"})
		return
	}
	text, err := io.ReadAll(part)
	if err != nil {
		edge(w, http.StatusBadRequest)
		return
	}
	s.hold(r, SlowUpload)
	id := ""
	_, _ = change(s.folder, func(k *known) {
		id = fmt.Sprintf("%040x", len(k.Uploads)+1)
		k.Uploads["bs://"+id] = strings.TrimPrefix(string(text), "PK")
	})
	answer(w, 200, map[string]any{
		kind + "_name": header.Filename, kind + "_url": "bs://" + id, kind + "_id": id, "uploaded_at": "2026-11-20 15:35:00 UTC", "expiry": "2026-12-20 15:35:00 UTC",
	})
}

// begin starts a build.
func (s service) begin(w http.ResponseWriter, r *http.Request) {
	var asked map[string]any
	if json.NewDecoder(r.Body).Decode(&asked) != nil {
		edge(w, http.StatusBadRequest)
		return
	}
	switch {
	case s.folder.Fails(InUse):
		answer(w, http.StatusUnprocessableEntity, map[string]any{"message": "All parallel tests are currently in use, including the queued tests. Please wait to finish or upgrade your plan to add more sessions."})
		return
	case s.folder.Fails(Expired):
		answer(w, http.StatusUnprocessableEntity, map[string]any{"error": map[string]any{"app": "[BROWSERSTACK_INVALID_APP_URL] the app has expired"}})
		return
	}
	b := Build{Asked: asked, Status: "running", Devices: s.devicesOf(asked), Endless: s.folder.Fails(Endless)}
	_, err := change(s.folder, func(k *known) {
		b.App = k.Uploads[fmt.Sprint(asked["app"])]
		b.ID = fmt.Sprintf("%036xbeef", len(k.Builds)+1)
		k.Builds = append(k.Builds, b)
	})
	s.hold(r, SlowBuild)
	if err != nil || s.folder.Fails(Lost) {
		edge(w, http.StatusBadGateway)
		return
	}
	answer(w, 200, map[string]any{"message": "Success", "build_id": b.ID})
}

// devicesOf returns the requested devices, NAME-VERSION, with the results of their tests.
func (s service) devicesOf(asked map[string]any) (out []Device) {
	list, _ := asked["devices"].([]any)
	for _, text := range list {
		name, version, _ := strings.Cut(fmt.Sprint(text), "-")
		out = append(out, Device{Name: name, Version: version, Status: "passed"})
	}
	if len(out) == 0 {
		return nil
	}
	last := &out[len(out)-1]
	for word, status := range map[string]string{Fails: "failed", Infrastructure: "error", TimedOut: "timedout", Skipped: "skipped"} {
		if s.folder.Fails(word) {
			last.Status = status
		}
	}
	for _, word := range []string{NoResults, CutLog, LargeLog} {
		if s.folder.Fails(word) {
			last.Log = word
		}
	}
	return out
}

// newest is how many builds are listed.
const newest = 20

// list lists the newest builds of a project.
func (s service) list(w http.ResponseWriter, r *http.Request) {
	all, _ := Builds(s.folder)
	slices.Reverse(all)
	list := []any{}
	for _, b := range all {
		if b.Asked["project"] == r.URL.Query().Get("project") && len(list) < newest {
			list = append(list, map[string]any{"build_id": b.ID, "start_time": "2026-11-27 13:07:45 UTC"})
		}
	}
	answer(w, 200, map[string]any{"builds": list})
}

// find changes a build, and answers with an error if there is none.
func (s service) find(w http.ResponseWriter, r *http.Request, edit func(*Build)) (found Build, ok bool) {
	_, err := change(s.folder, func(k *known) {
		at := slices.IndexFunc(k.Builds, func(b Build) bool { return b.ID == r.PathValue("build") })
		if at >= 0 {
			edit(&k.Builds[at])
			found, ok = k.Builds[at], true
		}
	})
	if err != nil || !ok {
		answer(w, http.StatusNotFound, map[string]any{"error": "Build not found"})
		return found, false
	}
	return found, true
}

// get answers with the state: a build ends when it is polled.
func (s service) get(w http.ResponseWriter, r *http.Request) {
	if s.folder.Fails(Unanswered) {
		edge(w, http.StatusBadGateway)
		return
	}
	b, ok := s.find(w, r, func(b *Build) {
		switch {
		case b.Status != "running" && b.Status != "queued":
		case s.folder.Fails(Queued):
			b.Status = "queued"
		case b.Endless || b.Status == "queued":
			b.Status = "running"
		default:
			b.Status = "passed"
			if slices.ContainsFunc(b.Devices, func(d Device) bool { return d.Status != "passed" }) {
				b.Status = "failed"
			}
		}
	})
	if !ok {
		return
	}
	var devices []any
	for i, d := range b.Devices {
		devices = append(devices, map[string]any{"device": d.Name, "os": "android", "os_version": d.Version, "sharding": false, "sessions": []any{s.told(b, i)}})
	}
	answer(w, 200, map[string]any{
		"id": b.ID, "framework": "espresso", "duration": 83, "status": b.Status, "input_capabilities": b.Asked, "start_time": "2026-11-27 13:07:45 UTC", "devices": devices,
	})
}

// told returns a session: each test takes slightly more than 74 s.
func (s service) told(b Build, at int) map[string]any {
	status, duration := b.Status, any(0)
	if status != "running" && status != "queued" {
		duration = 75
		if status != "timedout" {
			status = b.Devices[at].Status
		}
		if status == "skipped" {
			duration = nil
		}
	}
	return map[string]any{
		"id": fmt.Sprintf("%sface%d", b.ID[:8], at), "status": status, "start_time": "2026-11-27 13:08:07 +0000", "duration": duration,
		"testcases": map[string]any{"count": 1, "status": map[string]any{status: 1}},
	}
}

// stop stops a build.
func (s service) stop(w http.ResponseWriter, r *http.Request) {
	if want := map[bool]string{false: http.MethodPut, true: http.MethodPost}[s.folder.Fails(ByPost)]; r.Method != want {
		edge(w, http.StatusNotFound)
		return
	}
	if _, ok := s.find(w, r, func(b *Build) {
		if b.Status == "running" || b.Status == "queued" {
			b.Status = "timedout"
		}
	}); ok {
		answer(w, 200, map[string]any{"message": "Success"})
	}
}
