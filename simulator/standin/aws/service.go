package aws

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

const addressFile = "devicefarm-address.json"

// Serve serves the storage, and the service for a real aws command, until the test ends.
// results returns the files that a test leaves, by the contents of the APK, the phone, and the
// number of the APK's run (from 0).
func Serve(t testing.TB, folder state.Folder, results func(app, phone string, number int) string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{$}", func(w http.ResponseWriter, r *http.Request) { serve(folder, w, r) })
	mux.HandleFunc("PUT /uploads/{id}", func(w http.ResponseWriter, r *http.Request) { store(folder, w, r) })
	mux.HandleFunc("GET /artifacts/{id}", func(w http.ResponseWriter, r *http.Request) { give(folder, w, r, results) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	if err := folder.Save(addressFile, server.URL); err != nil {
		t.Fatal(err)
	}
	return server
}

// signed returns a signed URL of the storage.
func signed(folder state.Folder, path string) (string, error) {
	var base string
	if err := folder.Load(addressFile, &base); err != nil {
		return "", err
	}
	return base + "/" + path + "?X-Amz-Algorithm=AWS4-HMAC-SHA256&" + Signature, nil
}

// lastOf returns the end of a job's ARN, in one word.
func lastOf(name string) string {
	_, id, _ := strings.Cut(name, "/")
	return strings.ReplaceAll(id, "/", "-")
}

// serve implements the protocol of the service, AWS JSON 1.1.
func serve(folder state.Folder, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		body, err = answer(folder, strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "DeviceFarm_20150623."), body)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if err != nil {
		refused := &refusal{"InternalFailure", err.Error()}
		errors.As(err, &refused)
		w.WriteHeader(http.StatusBadRequest)
		body, _ = json.Marshal(object{"__type": refused.name, "message": refused.message})
	}
	_, _ = w.Write(body)
}

// opens reports whether a URL is signed and still valid.
func opens(folder state.Folder, w http.ResponseWriter, r *http.Request) bool {
	if strings.Contains(r.URL.RawQuery, Signature) && !folder.Fails(Expired) {
		return true
	}
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>`)
	return false
}

func store(folder state.Folder, w http.ResponseWriter, r *http.Request) {
	if !opens(folder, w, r) {
		return
	}
	content, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Type") != "application/octet-stream" {
		http.Error(w, "what was signed is of another type", http.StatusForbidden)
		return
	}
	hold(folder, SlowUpload)
	err = change(folder, func(a *account) error {
		u, err := a.upload(nameOf("upload", r.PathValue("id")))
		if err == nil {
			u.Content = string(content)
		}
		return err
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
	}
}

// give returns the files that the test spec names, packed by the farm.
func give(folder state.Folder, w http.ResponseWriter, r *http.Request, results func(app, phone string, number int) string) {
	if !opens(folder, w, r) {
		return
	}
	runs, _ := Runs(folder)
	number := map[string]int{}
	for _, run := range runs {
		at := slices.IndexFunc(run.Jobs, func(j Job) bool { return lastOf(j.ARN) == r.PathValue("id") })
		if at < 0 {
			number[run.App]++
			continue
		}
		const folder = "Host_Machine_Files/$DEVICEFARM_LOG_DIR/"
		files := map[string]string{folder + "apkgate.sh": "#!/bin/sh\n"}
		if run.Jobs[at].Results {
			files[folder+"apkgate/com.example.benchmark-benchmarkData.json"] = results(run.App, run.Jobs[at].Phone.Name, number[run.App])
		}
		archive := zip.NewWriter(w)
		for name, text := range files {
			if entry, err := archive.Create(name); err == nil {
				_, _ = io.WriteString(entry, text)
			}
		}
		_ = archive.Close()
		return
	}
	http.NotFound(w, r)
}
