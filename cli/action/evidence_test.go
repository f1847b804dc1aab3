package action_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

// keepingConfig measures on a phone that has Perfetto, and keeps every trace.
var keepingConfig = strings.NewReplacer("repetitions: 3", "repetitions: 1",
	"%s.apk", "demo-good.apk").Replace(actionConfig) + "evidence: {keep: all}\n"

// found are the files of a pattern in the workspace.
func (w *workspace) found(pattern string) []string {
	w.t.Helper()
	names, err := filepath.Glob(filepath.Join(w.dir, pattern))
	if err != nil {
		w.t.Fatal(err)
	}
	return names
}

// A reviewer finds the trace in the artifact, from the report and from the comment; a user of the
// runner finds it next to the history.
func TestActionKeepsTraces(t *testing.T) {
	w := newWorkspace(t)
	w.write("apkgate.yml", keepingConfig)
	w.want(w.apkgate("action", "run"), exit.StatusPass)
	traces := w.found("apkgate-report/evidence/*.pftrace")
	if len(traces) != 1 {
		t.Fatalf("the artifact has the traces %q, want one", traces)
	}
	contains(t, "the report", w.read("apkgate-report/report.html"), `<a href="evidence/`+filepath.Base(traces[0])+`"`)
	contains(t, "the comment", w.Comments(7)[0].Body, "Kept with the runs", "](https://github.example/octo/app/actions/runs/100/attempts/1#artifacts)")
	if kept := w.found(".apkgate/history.db.evidence/files/*/*"); len(kept) != 1 {
		t.Errorf("beside the history are %q, want one trace", kept)
	}
}

// Files of a fork are not stored next to a history of the repository. The second workflow, with a
// token that may write, posts the report and leaves the traces alone.
func TestActionKeepsAForksTracesInItsArtifact(t *testing.T) {
	w := newWorkspace(t)
	w.write("apkgate.yml", keepingConfig)
	w.SetPull(githubtest.Pull{Number: 9, Repository: "mallory/app", Branch: "patch", SHA: headSHA, Base: "main"})
	w.event(map[string]any{"pull_request": map[string]any{
		"number": 9,
		"head":   map[string]any{"sha": headSHA, "ref": "patch", "repo": map[string]any{"full_name": "mallory/app"}},
		"base":   map[string]any{"ref": "main", "repo": map[string]any{"full_name": "octo/app"}},
	}})
	w.ReadOnly(true)
	w.want(w.apkgate("action", "run"), exit.StatusPass)
	if traces := w.found("apkgate-report/evidence/*.pftrace"); len(traces) != 1 {
		t.Errorf("the artifact has the traces %q, want one", traces)
	}
	if kept := w.found(".apkgate/*evidence*"); len(kept) != 0 {
		t.Errorf("beside the history is %q, want nothing", kept)
	}

	w.ReadOnly(false)
	w.env["GITHUB_EVENT_NAME"], w.env["GITHUB_RUN_ID"] = "workflow_run", "300"
	w.event(map[string]any{
		"repository": map[string]any{"id": 1, "full_name": "octo/app"},
		"workflow_run": map[string]any{
			"id": 100, "run_number": 10, "run_attempt": 1, "event": "pull_request", "head_sha": headSHA, "head_branch": "patch",
			"head_repository": map[string]any{"full_name": "mallory/app", "owner": map[string]any{"login": "mallory"}}, "pull_requests": []any{},
		},
	})
	w.want(w.apkgate("action", "comment"), exit.StatusPass)
	if n := len(w.Comments(9)); n != 1 {
		t.Errorf("%d comments, want one", n)
	}
}

// A shared history has only runs: for a pull request the artifact is the only place.
func TestActionKeepsTracesOfASharedHistory(t *testing.T) {
	w := newWorkspace(t)
	remote := filepath.Join(t.TempDir(), "remote.git")
	if out, err := exec.CommandContext(t.Context(), "git", "init", "--bare", remote).CombinedOutput(); err != nil {
		t.Fatalf("git: %v\n%s", err, out)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	w.write("apkgate.yml", keepingConfig)
	w.env["INPUT_STORE"] = "branch:" + remote
	w.want(w.apkgate("action", "run"), exit.StatusPass)
	if traces := w.found("apkgate-report/evidence/*.pftrace"); len(traces) != 1 {
		t.Errorf("the artifact has the traces %q, want one", traces)
	}
	if kept := w.found(".apkgate/*evidence*"); len(kept) != 0 {
		t.Errorf("on the runner is %q, want nothing", kept)
	}
}

// If the artifact is the only place for traces, it has those of an interrupted measurement, or
// their loss is reported.
func TestActionReportsTracesOfAnInterruptedRun(t *testing.T) {
	w := newWorkspace(t)
	remote := filepath.Join(t.TempDir(), "remote.git")
	if out, err := exec.CommandContext(t.Context(), "git", "init", "--bare", remote).CombinedOutput(); err != nil {
		t.Fatalf("git: %v\n%s", err, out)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	w.write("apkgate.yml", strings.Replace(keepingConfig, "evidence:", "  - address: 127.0.0.1:1\nevidence:", 1))
	w.env["INPUT_STORE"], w.env["INPUT_RESUME"] = "branch:"+remote, "true"
	w.want(w.apkgate("action", "run"), exit.StatusInfrastructure) // one device is missing
	const warned = "not all files that were kept with the run of read-mail are in the report folder"
	again := w.apkgate("action", "run")
	w.want(again, exit.StatusInfrastructure)
	if !strings.Contains(again.Stderr, "1 of 2 runs are measured already") || strings.Contains(again.Stderr, warned) || len(w.found("apkgate-report/evidence/*.pftrace")) != 1 {
		t.Fatalf("with its trace in the report folder:\n%s", again.Stderr)
	}
	if err := os.RemoveAll("apkgate-report"); err != nil {
		t.Fatal(err)
	}
	again = w.apkgate("action", "run")
	w.want(again, exit.StatusInfrastructure)
	contains(t, "the log", again.Stderr, warned)
}
