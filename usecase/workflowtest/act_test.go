package workflowtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pins are the versions of other people's actions in the workflows, by the stand-in's name.
var pins = map[string]string{
	"checkout":                "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1",
	"cache":                   "actions/cache@27d5ce7f107fe9357f9df03efb73ab90386fccae",
	"setup-java":              "actions/setup-java@b6effb05e454b25005698d916606bdc6ffcbf961",
	"setup-go":                "actions/setup-go@b7ad1dad31e06c5925ef5d2fc7ad053ef454303e",
	"upload-artifact":         "actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f",
	"download-artifact":       "actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c",
	"upload-pages-artifact":   "actions/upload-pages-artifact@7b1f4a764d45c48632c6b24a0339c27f5614fb0b",
	"deploy-pages":            "actions/deploy-pages@d6db90164ac5ed86f2b6aed7e0febac5b3c0c03e",
	"auth":                    "google-github-actions/auth@7c6bc770dae815cd3e89ee6cdf493a5fab2cc093",
	"setup-gcloud":            "google-github-actions/setup-gcloud@aa5489c8933f4cc7a4f7d45035b3b1440c9c10db",
	"android-emulator-runner": "reactivecircus/android-emulator-runner@b530d96654c385303d652368551fb075bc2f0b6b",
}

// ours is the version of apkgate in the examples.
const (
	ours    = "apkgate/apkgate@" + version
	version = "v0.1.0"
)

// job is the result of a workflow, from act's log.
type job struct {
	failed  bool
	outputs map[string]string // of all steps
	summary string            // of all steps
	log     string            // every line that was printed
}

// run runs one workflow of the repository on an event.
func (r *repository) run(workflow, event string, payload any, env ...string) job {
	r.t.Helper()
	eventFile := filepath.Join(r.t.TempDir(), "event.json")
	r.write(eventFile, marshal(r.t, payload))
	args := []string{
		event, "--json", "--workflows", filepath.Join(r.dir, ".github/workflows", workflow), "--directory", r.dir,
		"--eventpath", eventFile, "--secret", "GITHUB_TOKEN=" + token, "--secret", "GENYMOTION_API_TOKEN=" + token, "--no-cache-server", "--rm",
		"--platform", "ubuntu-latest=-self-hosted", "--platform", "self-hosted=-self-hosted", "--platform", "android=-self-hosted",
		"--local-repository", ours + "=" + r.action,
	}
	for name, action := range pins {
		args = append(args, "--local-repository", action+"="+filepath.Join(standins(r.t), name))
	}
	for _, e := range append(r.environment(), env...) {
		args = append(args, "--env", e)
	}
	cmd := exec.Command(tool(r.t, "act"), args...)
	cmd.Dir = r.dir
	// act keeps all its files below these, and asks nothing if it has a configuration. Go's cache
	// stays where it is.
	path := r.bin + string(os.PathListSeparator) + os.Getenv("PATH")
	if r.lab != nil {
		path = r.lab.Bin + string(os.PathListSeparator) + path
	}
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(r.home, "cache"), "XDG_CONFIG_HOME="+filepath.Join(r.home, "config"),
		"PATH="+path, "GITHUB_TOKEN=", "GITHUB_ACTIONS=", "GOCACHE="+goCache(r.t))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Start()
	if err == nil {
		go func() {
			<-r.interrupt // never, if it is nil
			_ = cmd.Process.Signal(os.Interrupt)
		}()
		err = cmd.Wait()
	}
	out := stdout.Bytes()
	j := readLog(out)
	j.failed = err != nil
	if j.failed && !strings.Contains(j.log, "Job failed") {
		r.t.Fatalf("act ran no job: %v\n%s%s", err, stderr.Bytes(), out)
	}
	r.t.Cleanup(func() {
		if r.t.Failed() {
			r.t.Logf("%s on %s:\n%s", workflow, event, j.log)
		}
	})
	return j
}

// readLog reads act's log, a JSON object a line.
func readLog(out []byte) job {
	j := job{outputs: map[string]string{}}
	var log strings.Builder
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var line struct{ Command, Name, Arg, Content, Msg string }
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			fmt.Fprintln(&log, lines.Text())
			continue
		}
		switch line.Command {
		case "set-output":
			if line.Arg != "" { // another job's step may have it
				j.outputs[line.Name] = line.Arg
			}
		case "summary":
			j.summary += line.Content
		}
		fmt.Fprintln(&log, strings.TrimRight(line.Msg, "\n"))
	}
	j.log = log.String()
	return j
}

// tool finds a program, or skips the test.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not on the PATH; scripts/test installs it", name)
	}
	return path
}

func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(tool(t, "go"), "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func standins(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("testdata/standins")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// contains fails the test if a text is not in another.
func contains(t *testing.T, what, text string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q:\n%s", what, w, text)
		}
	}
}

// files are the names in a folder, sorted; none without a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	slices.Sort(out)
	return out
}
