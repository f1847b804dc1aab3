package firebase

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

// Service returns the simulated services. results returns the files that a test leaves, by the
// contents of the APK, the device, and the number of the APK's matrix (from 0).
func Service(folder state.Folder, results func(app, model string, number int) string) http.Handler {
	return ServiceOf(folder, Leaves{Results: results})
}

// Leaves is what a test leaves: its results (see Service), and a number of identical traces.
type Leaves struct {
	Results func(app, model string, number int) string
	Traces  int
	Trace   func(app string) []byte
}

// ServiceOf is Service for a test that also leaves traces.
func ServiceOf(folder state.Folder, leaves Leaves) http.Handler {
	s := service{folder, leaves}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/projects/{project}/testMatrices/{matrix}", s.get)
	mux.HandleFunc("POST /v1/projects/{project}/testMatrices/{matrix}", s.cancel)
	mux.HandleFunc("GET /toolresults/v1beta3/projects/{project}/histories/{history}/executions/{matrix}/steps/{step}", s.step)
	mux.HandleFunc("GET /storage/v1/b/{bucket}/o", s.list)
	mux.HandleFunc("GET /storage/v1/b/{bucket}/o/{object}", s.object)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+Token || folder.Fails(Expired) {
			refuse(w, http.StatusUnauthorized, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

type service struct {
	folder state.Folder
	leaves Leaves
}

func refuse(w http.ResponseWriter, status int, name, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": status, "message": message, "status": name}})
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

// get answers with the state: a matrix ends when it is polled.
func (s service) get(w http.ResponseWriter, r *http.Request) {
	if s.folder.Fails(Unanswered) {
		refuse(w, http.StatusServiceUnavailable, "UNAVAILABLE", "The service is currently unavailable.")
		return
	}
	m, ok := s.find(w, r, func(m *Matrix) {
		if m.State == "RUNNING" && !s.folder.Fails(Endless) {
			m.State = "FINISHED"
		}
	})
	if !ok {
		return
	}
	var executions []any
	for i, d := range m.Devices {
		at := d.State
		if m.State != "FINISHED" {
			at = m.State
		}
		executions = append(executions, map[string]any{
			"id": fmt.Sprintf("%s_execution-%d", m.ID, i), "matrixId": m.ID, "projectId": m.Project, "state": at,
			"environment": map[string]any{"androidDevice": map[string]any{
				"androidModelId": d.Model, "androidVersionId": d.Version, "locale": d.Locale, "orientation": d.Orientation,
			}},
			"toolResultsStep": map[string]any{"projectId": m.Project, "historyId": "bh.1", "executionId": m.ID, "stepId": "bs." + strconv.Itoa(i)},
		})
	}
	answer(w, map[string]any{
		"testMatrixId": m.ID, "projectId": m.Project, "state": m.State, "testExecutions": executions,
		"resultStorage": map[string]any{"googleCloudStorage": map[string]any{"gcsPath": "gs://" + Bucket + "/" + m.Dir + "/"}},
	})
}

func (s service) cancel(w http.ResponseWriter, r *http.Request) {
	id, ok := strings.CutSuffix(r.PathValue("matrix"), ":cancel")
	if !ok {
		refuse(w, http.StatusNotFound, "NOT_FOUND", "Method not found.")
		return
	}
	r.SetPathValue("matrix", id)
	if m, ok := s.find(w, r, func(m *Matrix) {
		if m.State == "RUNNING" {
			m.State = "CANCELLED"
		}
	}); ok {
		answer(w, map[string]any{"testState": m.State})
	}
}

// find changes a matrix, and answers with an error if there is none.
func (s service) find(w http.ResponseWriter, r *http.Request, edit func(*Matrix)) (found Matrix, ok bool) {
	err := change(s.folder, func(list []Matrix) ([]Matrix, error) {
		at := slices.IndexFunc(list, func(m Matrix) bool {
			return m.ID == r.PathValue("matrix") && m.Project == r.PathValue("project")
		})
		if at >= 0 {
			edit(&list[at])
			found, ok = list[at], true
		}
		return list, nil
	})
	if err != nil || !ok {
		refuse(w, http.StatusNotFound, "NOT_FOUND", "Test matrix not found.")
		return found, false
	}
	return found, true
}

// step answers with the step of a device: each test takes 75 s.
func (s service) step(w http.ResponseWriter, r *http.Request) {
	m, ok := s.find(w, r, func(*Matrix) {})
	at, err := strconv.Atoi(strings.TrimPrefix(r.PathValue("step"), "bs."))
	if !ok || err != nil || at >= len(m.Devices) {
		return
	}
	answer(w, map[string]any{
		"stepId": r.PathValue("step"), "outcome": map[string]any{"summary": m.Devices[at].Outcome},
		"testExecutionStep": map[string]any{"testTiming": map[string]any{"testProcessDuration": map[string]any{"seconds": "74", "nanos": 1}}},
	})
}

const resultName = "/artifacts/sdcard/Download/com.example.benchmark-benchmarkData.json"

// traceName returns androidx.benchmark's name for the trace of an iteration
// (benchmark/benchmark-macro/…/Macrobenchmark.kt).
func traceName(iteration int) string {
	return fmt.Sprintf("/artifacts/sdcard/Download/ListBenchmark_scroll_iter%03d_2026-11-27-10-15-00.perfetto-trace", iteration)
}

// list answers with the files of a device.
func (s service) list(w http.ResponseWriter, r *http.Request) {
	prefix := r.URL.Query().Get("prefix")
	all, _ := Matrices(s.folder)
	items := []any{}
	for _, m := range all {
		for _, d := range m.Devices {
			dir := m.Dir + "/" + strings.Join([]string{d.Model, d.Version, d.Locale, d.Orientation}, "-")
			names := []string{dir + resultName}
			for i := range s.leaves.Traces {
				names = append(names, dir+traceName(i))
			}
			for _, name := range names {
				if strings.HasPrefix(name, prefix) && d.Results {
					items = append(items, map[string]any{"name": name, "size": "1000"})
				}
			}
		}
	}
	answer(w, map[string]any{"items": items})
}

// object answers with a file of results.
func (s service) object(w http.ResponseWriter, r *http.Request) {
	name, err := url.PathUnescape(r.PathValue("object"))
	all, _ := Matrices(s.folder)
	number := map[string]int{}
	for _, m := range all {
		for _, d := range m.Devices {
			file, its := strings.CutPrefix(name, m.Dir+"/"+strings.Join([]string{d.Model, d.Version, d.Locale, d.Orientation}, "-"))
			switch {
			case err != nil || !its:
			case file == resultName:
				fmt.Fprint(w, s.leaves.Results(m.App, d.Model, number[m.App]))
				return
			case strings.HasSuffix(file, ".perfetto-trace") && !s.folder.Fails(LostTraces):
				_, _ = w.Write(s.leaves.Trace(m.App))
				return
			}
		}
		number[m.App]++
	}
	refuse(w, http.StatusNotFound, "notFound", "No such object: "+name)
}
