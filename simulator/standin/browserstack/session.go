package browserstack

import (
	"io"
	"net/http"
	"strings"
)

// session answers with the tests on a device.
func (s service) session(w http.ResponseWriter, r *http.Request) {
	b, ok := s.find(w, r, func(*Build) {})
	if s.folder.Fails(Unanswered) {
		edge(w, http.StatusBadGateway)
		return
	}
	at := int(r.PathValue("session")[len(r.PathValue("session"))-1] - '0')
	if !ok || at >= len(b.Devices) {
		return
	}
	told := s.told(b, at)
	told["testcases"] = map[string]any{"count": 1, "data": []any{map[string]any{
		"class": "StartBenchmark", "testcases": []any{map[string]any{
			"name": "start", "status": b.Devices[at].Status, "duration": "61.057", "id": r.PathValue("session"),
			"instrumentation_log": "http://" + r.Host + "/app-automate/espresso/builds/" + b.ID + "/sessions/tests/" + r.PathValue("session") + "/instrumentationlogs",
		}},
	}}}
	answer(w, 200, told)
}

// log answers with the output of a test.
func (s service) log(w http.ResponseWriter, r *http.Request) {
	if s.folder.Fails(Unanswered) {
		edge(w, http.StatusBadGateway)
		return
	}
	all, _ := Builds(s.folder)
	number := map[string]int{}
	for _, b := range all {
		if b.ID != r.PathValue("build") {
			number[b.App]++
			continue
		}
		d := b.Devices[r.PathValue("session")[len(r.PathValue("session"))-1]-'0']
		text := s.printed(b.App, d.Name, number[b.App])
		switch d.Log {
		case NoResults:
			text = "INSTRUMENTATION_STATUS: class=com.example.Other\nINSTRUMENTATION_STATUS: test=works\nINSTRUMENTATION_STATUS_CODE: 0\n"
		case CutLog:
			text = text[:strings.Index(text, "_median=")+len("_median=")+1]
		case LargeLog:
			text += strings.Repeat("com.example.StartBenchmark: and so on\n", 17<<20/37)
		}
		_, _ = io.WriteString(w, text)
	}
}
