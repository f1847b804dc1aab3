package exported

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
	"github.com/apkgate/apkgate/runstore/storetest"
)

// history is one of accepted runs, some with ANRs and one that is not whole, and the file of it.
func history(t *testing.T, name string) (*memory.Store, []byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var entries []runstore.Entry
	for i := range 40 {
		r := storetest.LabRun(random, i)
		m := runstore.Mark{State: runstore.Accepted, At: r.Started, Note: "published"}
		if i%9 == 4 {
			r.ANRs = []run.ANR{{Kind: run.ANRInput, Process: r.App.Package, PID: 100, Repetition: 1, Event: "E1", Threads: []run.ANRThread{{Name: "main", Stack: []string{"a.B.c(B.java:1)"}}}}}
		}
		if i == 7 {
			r.Status, m = run.Partial, runstore.Mark{}
		}
		entries = append(entries, runstore.Entry{Run: r, Mark: m})
	}
	s, err := memory.Of(nil, entries...)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	packed, err := runstore.Compress(&out, name)
	if err == nil {
		_, err = runstore.WriteJSONL(packed, runstore.Runs(s.Export(t.Context(), runstore.Filter{})))
	}
	if err = errors.Join(err, packed.Close()); err != nil {
		t.Fatal(err)
	}
	return s, out.Bytes()
}

// all is what a history answers, but for when its runs were added.
func all(t *testing.T, s runstore.Store, list bool) (out []runstore.Entry) {
	t.Helper()
	entries := s.Export(t.Context(), runstore.Filter{})
	if list {
		entries = s.List(t.Context(), runstore.Filter{States: []runstore.State{runstore.Accepted}, Limit: 30})
	}
	for e, err := range entries {
		if err != nil {
			t.Fatal(err)
		}
		e.AddedAt = time.Time{}
		out = append(out, e)
	}
	return out
}

// A history that was published answers as the one of which it was made.
func TestItAnswersAsTheHistoryThatWasPublished(t *testing.T) {
	for _, name := range []string{"history.jsonl", "history.jsonl.gz", "history.jsonl.zst"} {
		want, file := history(t, name)
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), file, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Kind.Open(t.Context(), "runs:"+name, runstore.Opening{ReadOnly: true, WorkDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []bool{false, true} {
			if diff := cmp.Diff(all(t, want, list), all(t, got, list)); diff != "" {
				t.Errorf("%s, listed %v (-want +got):\n%s", name, list, diff)
			}
		}
		q := runstore.Query{Package: "org.example.mail", Scenario: "open-message", Context: storetest.LabContext(7), Limit: 9}
		wanted, err := want.References(t.Context(), q)
		found, foundErr := got.References(t.Context(), q)
		if diff := cmp.Diff(wanted, found, cmp.AllowUnexported(run.Cells{})); err != nil || foundErr != nil || len(found) != 9 || diff != "" {
			t.Errorf("%v, %v, references (-want +got):\n%s", err, foundErr, diff)
		}
		anrs, err := got.ANRs(t.Context(), runstore.ANRQuery{Package: "org.example.mail"})
		if err != nil || len(anrs) != 4 {
			t.Errorf("%d runs have ANRs, %v; want 4", len(anrs), err)
		}
		if damage, err := got.Verify(t.Context()); err != nil || len(damage) > 0 || got.Close() != nil {
			t.Errorf("damaged: %v, %v", damage, err)
		}
	}
}

// Nothing is written into a history that was published; what would be pruned can be asked.
func TestItIsOnlyRead(t *testing.T) {
	_, file := history(t, "")
	path := filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), "runs:"+path, runstore.Opening{})
	if err != nil {
		t.Fatal(err)
	}
	keep := runstore.Retention{Keep: 1}
	_, added := s.Add(t.Context(), run.Run{})
	_, pruned := s.Prune(t.Context(), keep, nil)
	for doing, err := range map[string]error{"add to": added, "prune": pruned,
		"mark in": s.Mark(t.Context(), nil, runstore.Mark{State: runstore.Accepted}), "keep outcomes in": s.Judge(t.Context(), nil)} {
		var hinted *runstore.Error
		if !errors.Is(err, runstore.ErrReadOnly) || !errors.As(err, &hinted) || !strings.HasPrefix(err.Error(), doing+" history runs:") || !strings.Contains(hinted.Hint(), "baseline copy") {
			t.Errorf("%s: %v", doing, err)
		}
	}
	keep.DryRun = true
	if n, err := s.Prune(t.Context(), keep, nil); err != nil || n != 0 { // each of the 40 contexts has one run
		t.Errorf("%d would be pruned, %v", n, err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, file) {
		t.Errorf("the file has changed: %v", err)
	}
}

// A damaged line is done without, and every answer says so.
func TestADamagedLine(t *testing.T) {
	_, file := history(t, "")
	lines := bytes.SplitAfter(file, []byte("\n"))
	lines[3] = bytes.Replace(lines[3], []byte(`"frames.count":2`), []byte(`"frames.count":3`), 1)
	path := filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), "runs:"+path, runstore.Opening{})
	if err != nil {
		t.Fatal(err)
	}
	sound := runstore.SoundOf(s)
	n := 0
	for _, err := range sound.Export(t.Context(), runstore.Filter{}) {
		if n++; err != nil {
			t.Error(err)
		}
	}
	found, total := sound.Damage()
	if n != 39 || total != 1 || !strings.Contains(found[0].String(), "line 4") {
		t.Errorf("%d sound runs, damage %v", n, found)
	}
	var incomplete *runstore.Incomplete
	refs, err := s.References(t.Context(), runstore.Query{Package: "org.example.mail", Scenario: "open-message"})
	if !errors.As(err, &incomplete) || len(refs) != 38 {
		t.Errorf("%d references, %v", len(refs), err)
	}
	if _, err := s.ANRs(t.Context(), runstore.ANRQuery{Package: "org.example.mail"}); !errors.As(err, &incomplete) {
		t.Errorf("ANRs: %v", err)
	}
	if damage, err := s.Verify(t.Context()); err != nil || len(damage) != 1 {
		t.Errorf("%v, %v", damage, err)
	}
}

// server publishes what answer writes; the package's client trusts it for the test.
func server(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewTLSServer(answer)
	before, apart := client.Transport, triesApart
	client.Transport, triesApart = s.Client().Transport, time.Millisecond
	t.Cleanup(func() { client.Transport, triesApart = before, apart; s.Close() })
	return s.URL
}

// A history is fetched, once more where the server has trouble, and its address is shown without
// what is secret in it.
func TestItIsFetched(t *testing.T) {
	_, file := history(t, "history.jsonl.zst")
	asked := 0
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ci" || password != "hunter2" || r.URL.RawQuery != "signature=sesame" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = w.Write(file)
	})
	address := strings.Replace(url, "https://", "https://ci:hunter2@", 1) + "/history.jsonl.zst?signature=sesame"
	var told []string
	s, err := Open(t.Context(), address, runstore.Opening{Waiting: func(what string, why error) { told = append(told, fmt.Sprint(what, ": ", why)) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), all(t, s, false)[0].Run.ID[:8]); err != nil || len(told) != 2 || told[0] != "fetching the history once more: the server answered 502 Bad Gateway" {
		t.Errorf("%v, told %q", err, told)
	}
	if got := Kind.Show(address); got != url+"/history.jsonl.zst" {
		t.Errorf("it is shown as %s", got)
	}
	if err := s.Mark(t.Context(), nil, runstore.Mark{}); strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "sesame") {
		t.Errorf("a secret is shown: %v", err)
	}
}

// What is no history is refused with what it is, and no secret.
func TestWhatIsRefused(t *testing.T) {
	_, file := history(t, "")
	answers := map[string]func(w http.ResponseWriter){
		"/gone": func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) },
		"/down": func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		"/plain": func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://127.0.0.1:1/?key=sesame")
			w.WriteHeader(http.StatusFound)
		},
		"/page": func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>log in")) },
		"/cut": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", fmt.Sprint(len(file)))
			_, _ = w.Write(file[:len(file)/2])
		},
		"/empty": func(http.ResponseWriter) {},
	}
	url := server(t, func(w http.ResponseWriter, r *http.Request) { answers[r.URL.Path](w) })
	for address, want := range map[string]string{
		url + "/gone?key=sesame": "the server answered 404 Not Found",
		url + "/down":            "the server answered 503 Service Unavailable",
		url + "/plain":           "it leads on to http://127.0.0.1:1",
		url + "/page":            "not a history of apkgate: line 1: starts with",
		url + "/cut":             "unexpected EOF",
		"https://":               "it is no address of a file",
		"https://a b/":           "it is no address of a file",
		"runs:":                  "it names no file",
		"runs:" + filepath.Join(t.TempDir(), "none.jsonl"): "there is no file ",
	} {
		_, err := Open(t.Context(), address, runstore.Opening{})
		if err == nil || !strings.HasPrefix(err.Error(), "read history ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	s, err := Open(t.Context(), url+"/empty", runstore.Opening{})
	if err != nil || len(all(t, s, false)) != 0 {
		t.Errorf("of no runs: %v", err)
	}
}

// endless is a file without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A file that is larger than allowed is refused, wherever it comes from.
func TestAFileWithoutAnEnd(t *testing.T) {
	b := &bounded{Reader: endless{}}
	buffer := make([]byte, 16<<20)
	var err error
	for err == nil {
		_, err = b.Read(buffer)
	}
	if b.n != mostBytes+16<<20 || b.failed == nil || !strings.Contains(err.Error(), "more than 1024 MiB") {
		t.Errorf("after %d bytes: %v", b.n, err)
	}
}
