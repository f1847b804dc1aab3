package workflowtest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A binary with another checksum ends the job before it is run.
func TestReleasedBinaryWithAnotherChecksum(t *testing.T) {
	r := newRepository(t, "mail-good")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("#!/bin/sh\necho not ours\n"))
	}))
	defer other.Close()
	r.releases = other.URL
	j := r.run("own-devices.yml", "pull_request", r.pullRequest(owner+"/"+name))
	if !j.failed {
		t.Error("the workflow succeeded")
	}
	contains(t, "the log", j.log, "it is not what was released")
	if strings.Contains(j.log, "not ours") || len(r.github.Requests()) != 0 {
		t.Errorf("what was downloaded was run:\n%s", j.log)
	}
}

// Between releases, and if the release is unreachable, the action is built from its own sources.
func TestActionBuildsFromItsSources(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds apkgate again")
	}
	r := newRepository(t, "mail-good")
	if err := os.Remove(filepath.Join(r.action, "release.sha256")); err != nil {
		t.Fatal(err)
	}
	r.copySources()
	j := r.run("own-devices.yml", "pull_request", r.pullRequest(owner+"/"+name), "APKGATE_RELEASES=http://127.0.0.1:1")
	if j.failed || j.outputs["verdict"] == "" {
		t.Errorf("failed is %v and the verdict %q, want one that fails nothing", j.failed, j.outputs["verdict"])
	}
	contains(t, "the log", j.log, "apkgate is built from source: this commit belongs to no release")
}

func TestOtherSourcesThanTheReleases(t *testing.T) {
	r := newRepository(t, "mail-good")
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("it calls itself a runner on Linux, amd64")
	}
	r.write(filepath.Join(r.action, "changed.go"), "package changed\n")
	output := filepath.Join(t.TempDir(), "output")
	cmd := exec.Command("bash", filepath.Join(r.action, "scripts/fetch-release"))
	cmd.Env = append(os.Environ(), "RUNNER_OS=Linux", "RUNNER_ARCH=X64", "RUNNER_TEMP="+t.TempDir(),
		"GITHUB_OUTPUT="+output, "GITHUB_PATH="+output, "APKGATE_RELEASES="+r.releases)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	contains(t, "the log", string(out), "built from source: these are not the sources of "+version)
	if got := r.read(output); got != "found=false\n" {
		t.Errorf("it sets %q, want found=false", got)
	}
}

// copySources copies the tracked sources into the action's folder.
func (r *repository) copySources() {
	r.t.Helper()
	list := exec.Command(tool(r.t, "git"), "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		r.t.Skipf("the sources are not in git: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if info, err := os.Lstat(filepath.Join("../..", name)); err == nil && info.Mode().IsRegular() {
			r.copy(filepath.Join("../..", name), filepath.Join(r.action, name))
		}
	}
}
