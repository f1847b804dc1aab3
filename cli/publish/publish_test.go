package publish_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/forges/forgetest"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// with runs a command line in an environment.
func with(env map[string]string, args ...string) clitest.Result {
	var stdout, stderr bytes.Buffer
	status := cli.Main(terminal.Console{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now,
		Getenv: func(name string) string { return env[name] },
		Pause:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}, args)
	return clitest.Result{Status: status, Stdout: stdout.String(), Stderr: stderr.String()}
}

// One job measures without a token and leaves its report, and another one shows it on each server:
// the comment with the verdict, the command and the base build's commit with its day, and the status.
func TestPublish(t *testing.T) {
	t.Parallel()
	dir := clitest.SimulatedBuilds(t, "pixel-7-android-14")
	at := func(name string) string { return filepath.Join(dir, name) }
	report := at("apkgate-report")
	measured := clitest.Run(t, nil, "run", "--config", at("apkgate.yml"), "--apk", at("demo-worse.apk"), "--base", at("demo-good.apk"),
		"--base-commit", forgetest.Base, "--commit", forgetest.Head, "--why", "0", "--report", report, "--codequality", at("gl-code-quality-report.json"))
	if measured.Status != exit.StatusRegression {
		t.Fatalf("run: status %d\n%s%s", measured.Status, measured.Stdout, measured.Stderr)
	}
	if text := clitest.ReadFile(t, at("gl-code-quality-report.json")); !strings.Contains(text, `"check_name"`) || !strings.Contains(text, `"apkgate.yml"`) {
		t.Errorf("the code quality report is\n%s", text)
	}
	gitlab, gitea := forgetest.GitLab(t), forgetest.Gitea(t)
	for _, c := range []struct {
		server *forgetest.Server
		env    map[string]string
		args   []string
		state  string
	}{
		{gitlab, map[string]string{
			"APKGATE_TOKEN": forgetest.Token, "CI_API_V4_URL": gitlab.URL + "/api/v4", "CI_PROJECT_PATH": forgetest.Repository, "CI_MERGE_REQUEST_IID": "7",
			"CI_COMMIT_SHA": forgetest.Head, "CI_PIPELINE_ID": fmt.Sprint(forgetest.Pipeline), "CI_PIPELINE_URL": gitlab.URL + "/p/1",
		}, []string{"publish", "gitlab", "--report", report}, "failed"},
		{gitea, map[string]string{"GITEA_TOKEN": forgetest.Token},
			[]string{"publish", "gitea", "--report", report, "--server", gitea.URL, "--repository", forgetest.Flat, "--pull", "7", "--commit", forgetest.Head}, "failure"},
	} {
		name := c.args[1]
		got := with(c.env, c.args...)
		if got.Status != exit.StatusPass || got.Stdout != "" {
			t.Fatalf("publish %s: status %d\n%s%s", name, got.Status, got.Stdout, got.Stderr)
		}
		ours, statuses := c.server.Ours(), c.server.Statuses()
		if len(ours) != 1 || len(statuses) != 1 || statuses[0].State != c.state || statuses[0].Name != "apkgate" {
			t.Fatalf("%s: the comments are %+v, the statuses %+v", name, ours, statuses)
		}
		for _, part := range []string{"### ❌ Regression: ", "read-mail", "commit bbbbbbbbbb of 2026-03-01", "reproduce: with both builds and a device: `apkgate compare --base demo-good.apk --head demo-worse.apk`", "if intended: "} {
			if !strings.Contains(ours[0].Body, part) {
				t.Errorf("%s: the comment lacks %q:\n%s", name, part, ours[0].Body)
			}
		}
		c.server.Scopes("read_api", "read:user")
		refused := with(c.env, c.args...)
		if refused.Status != exit.StatusInfrastructure || !strings.Contains(refused.Stderr, "answered 403") || !strings.Contains(refused.Stderr, "hint: ") || !strings.Contains(refused.Stderr, "set the status of commit aaaaaaaaaa") {
			t.Errorf("%s refuses: status %d\n%s", name, refused.Status, refused.Stderr)
		}
		for _, text := range []string{got.Stderr, refused.Stderr} {
			if strings.Contains(text, forgetest.Token) {
				t.Errorf("%s: the token is printed:\n%s", name, text)
			}
		}
	}
	clitest.WriteFile(t, filepath.Join(report, "x.sh"), "#!/bin/sh")
	gitea.Scopes()
	if got := with(map[string]string{"GITEA_TOKEN": forgetest.Token}, "publish", "gitea", "--report", report, "--server", gitea.URL, "--repository", forgetest.Flat, "--commit", forgetest.Head); got.Status != exit.StatusUsage {
		t.Errorf("of another folder: status %d\n%s", got.Status, got.Stderr)
	}
	failed := clitest.Run(t, nil, "run", "--config", at("absent.yml"), "--report", report)
	got := with(map[string]string{"GITEA_TOKEN": forgetest.Token}, "publish", "gitea", "--report", report, "--server", gitea.URL, "--repository", forgetest.Flat, "--commit", forgetest.Head)
	all := gitea.Statuses()
	if last := all[len(all)-1]; failed.Status != exit.StatusUsage || got.Status != exit.StatusPass || last.State != "failure" || !strings.HasPrefix(last.Description, "no verdict: the job that measures left no report") {
		t.Errorf("after a run that measured nothing: status %d\n%spublish: status %d, %+v", failed.Status, failed.Stderr, got.Status, last)
	}
}

// Wrong calls are refused before anything is sent.
func TestPublishRefuses(t *testing.T) {
	t.Parallel()
	token := map[string]string{"APKGATE_TOKEN": forgetest.Token}
	for _, c := range []struct {
		env  map[string]string
		args []string
		want string
	}{
		{nil, []string{"gitlab"}, "there is no token to publish with: set APKGATE_TOKEN"},
		{map[string]string{"CI_JOB_TOKEN": "x"}, []string{"gitlab"}, "CI_JOB_TOKEN can't write notes"},
		{nil, []string{"gitea"}, "set APKGATE_TOKEN or GITEA_TOKEN or FORGEJO_TOKEN or GITHUB_TOKEN"},
		{token, []string{"gitlab"}, "the server is unknown: CI_API_V4_URL is not set"},
		{token, []string{"gitea", "--server", "https://git.example"}, `the repository is "", want owner/name`},
		{token, []string{"gitea", "--server", "https://git.example", "--repository", "o/n", "--commit", "main"}, `the commit is "main", want its full hexadecimal id`},
		{token, []string{"gitlab", "--comment", "sometimes"}, `--comment is "sometimes"`},
		{token, []string{"gitlab", "--report-url", "javascript:alert(1)"}, "--report-url is"},
		{token, []string{"gitlab", "--name", "x\ny"}, "the configuration's name is"},
		{token, []string{"gitlab", "extra"}, "extra"},
	} {
		got := with(c.env, append([]string{"publish"}, c.args...)...)
		clitest.Refuses(t, got, c.want)
	}
}
