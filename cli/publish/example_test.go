package publish_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/apkgate/apkgate/cli/clitest"
)

// pipeline is the part of a .gitlab-ci.yml that matters here.
type pipeline map[string]struct {
	Script      []string
	Environment struct{ Name string }
	Cache       struct {
		Key   string
		Paths []string
	}
	Variables map[string]string
	Artifacts struct {
		When    string
		Paths   []string
		Reports map[string]string
	}
	Needs []struct{ Job string }
	Rules []struct{ If, When string }
}

// gitlabJobs reads the jobs of the example.
func gitlabJobs(t *testing.T) pipeline {
	t.Helper()
	var all map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(clitest.ReadFile(t, "../../examples/gitlab/gitlab-ci.yml")), &all); err != nil {
		t.Fatal(err)
	}
	jobs := pipeline{}
	for name, node := range all {
		if name == "stages" || name == "variables" || name == "default" {
			continue
		}
		job := jobs[name]
		if err := node.Decode(&job); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		jobs[name] = job
	}
	return jobs
}

// In the example for GitLab, the job that runs the merge request's code has no token, and the one that
// has it checks nothing out, runs whatever the gate came to, and not for a fork. What one leaves, the
// other shows. No job has the status's name, which GitLab would refuse.
func TestGitLabExample(t *testing.T) {
	jobs := gitlabJobs(t)
	gate, publish := jobs["gate"], jobs["publish"]
	if len(jobs) != 3 || len(gate.Script) == 0 || publish.Variables["GIT_STRATEGY"] != "none" || publish.Environment.Name == "" || jobs["apkgate"].Script != nil {
		t.Errorf("the jobs are %+v", jobs)
	}
	for name, job := range jobs {
		text := strings.Join(job.Script, "\n")
		if runs := strings.Contains(text, "gradlew"); runs == (name == "publish") || runs && (job.Environment.Name != "" || strings.Contains(text, "TOKEN")) {
			t.Errorf("%s runs the project's code, or has its token:\n%s", name, text)
		}
		if bash, err := exec.LookPath("bash"); err == nil {
			if out, err := exec.Command(bash, "-n", "-c", text).CombinedOutput(); err != nil {
				t.Errorf("%s: %s", name, out)
			}
		}
	}
	rule := publish.Rules[0]
	if rule.When != "always" || !strings.Contains(rule.If, "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID") || publish.Needs[0].Job != "gate" {
		t.Errorf("it publishes %+v, after %v", publish.Rules, publish.Needs)
	}
	text := strings.Join(gate.Script, "\n")
	if a := gate.Artifacts; a.When != "always" || len(a.Paths) != 1 || !strings.Contains(text, "--report "+a.Paths[0]+" ") || a.Paths[0] != "apkgate-report" ||
		!strings.HasSuffix(text, "--codequality "+a.Reports["codequality"]) {
		t.Errorf("the artifacts are %+v of\n%s", a, text)
	}
}

// The base build that one merge request's job has cached is found by its own later jobs, and by no
// other merge request's, which may start from the same commit: that code could have put anything there.
func TestGitLabExampleSharesNoBase(t *testing.T) {
	caches := 0
	for name, job := range gitlabJobs(t) {
		if job.Cache.Key == "" {
			if len(job.Cache.Paths) > 0 {
				t.Errorf("%s: the cache has no key, all jobs share it", name)
			}
			continue
		}
		caches++
		of := func(request, base string) string {
			return os.Expand(job.Cache.Key, func(name string) string {
				return map[string]string{"CI_MERGE_REQUEST_IID": request, "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}[name]
			})
		}
		if of("7", "aaaa") == of("8", "aaaa") || of("7", "aaaa") == of("7", "bbbb") {
			t.Errorf("%s: two merge requests, or two bases of one, share the cache %s", name, job.Cache.Key)
		}
	}
	if caches != 1 {
		t.Errorf("%d jobs have a cache, want that of the gate", caches)
	}
}

var (
	command  = regexp.MustCompile(`\./apkgate ((?:[^\n]|\\\n)+)`)
	variable = regexp.MustCompile(`"\$\w+"`)
)

// The commands of both examples have flags that exist.
func TestCommandsOfExamples(t *testing.T) {
	lines := 0
	texts := []string{}
	for _, job := range gitlabJobs(t) {
		texts = append(texts, job.Script...)
	}
	gitea, err := os.ReadFile("../../examples/gitea.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(texts, string(gitea)) {
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			lines++
			args := append(strings.Fields(variable.ReplaceAllString(m[1], "x")), "--help")
			if got := clitest.Run(t, nil, args...); got.Status != 0 {
				t.Errorf("apkgate %s: status %d\n%s", m[1], got.Status, got.Stderr)
			}
		}
	}
	if lines != 5 { // two on Gitea, three on GitLab
		t.Errorf("there are %d commands", lines)
	}
}
