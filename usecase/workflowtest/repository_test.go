package workflowtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

const (
	owner, name = "acme", "mail"
	token       = "test-token-7c1f"
)

// beforeTheChange is the tag of the commit that a pull request is merged into.
const beforeTheChange = "before-the-change"

// repository is a user's repository with apkgate.yml and the examples as its workflows, the runner
// that act emulates on this machine, and the GitHub that both talk to. Its phones are simulated.
type repository struct {
	t         *testing.T
	dir       string // the checkout
	head      string // its commit
	home      string // act's own files
	bin       string // programs that take precedence
	action    string // apkgate, as a workflow would use it
	artifacts string // uploaded artifacts
	cache     string // saved for later jobs
	github    *githubtest.Server
	api       string
	releases  string          // the released binaries
	interrupt <-chan struct{} // when the job is to be cancelled; nil: never
	lab       *standin.Lab    // what boots devices on the runner; nil: nothing
}

// phones are those that the repository's gate measures on; one would be enough for most tests.
var phones = []string{"pixel-6-android-16", "galaxy-a54-android-15"}

// newRepository is a repository whose app is the build mail-good or mail-worse, on two simulated
// phones, with a history of accepted runs of mail-good on others. The commit before is of
// mail-good.
func newRepository(t *testing.T, build string) *repository {
	t.Helper()
	tool(t, "act")
	r := &repository{
		t: t, dir: t.TempDir(), home: t.TempDir(), bin: t.TempDir(), artifacts: t.TempDir(), cache: t.TempDir(),
		github: githubtest.New(owner, name, token),
	}
	api := httptest.NewServer(r.github)
	t.Cleanup(api.Close)
	r.api = api.URL
	r.fillCheckout(build)
	r.fillRunner()
	r.releaseAction()
	return r
}

// fillCheckout creates the user's files: those of apkgate's demo, a gradlew that "builds" the app
// by copying it, and the examples.
func (r *repository) fillCheckout(build string) {
	demo := demo(r.t)
	history := filepath.Join(r.home, "history.db")
	r.copy(filepath.Join(demo, "history.db"), history)
	r.write(filepath.Join(r.dir, "apkgate.yml"), configuration("app/build/outputs/apk/release/app-release.apk", "app/build/outputs/apk/test.apk", history, phones))
	r.copy(filepath.Join(demo, "mail-good.apk"), filepath.Join(r.dir, "app.simapp"))
	r.copy(filepath.Join(demo, "demo-test.apk"), filepath.Join(r.dir, "test.simapp"))
	r.script(filepath.Join(r.dir, "gradlew"), `
mkdir -p app/build/outputs/apk/release
cp app.simapp app/build/outputs/apk/release/app-release.apk
cp test.simapp app/build/outputs/apk/test.apk
`)
	for _, example := range files(r.t, "../../examples") {
		if filepath.Ext(example) == ".yml" {
			r.copy(filepath.Join("../../examples", example), filepath.Join(r.dir, ".github/workflows", example))
		}
	}
	r.commit("build mail-good")
	r.git("tag", beforeTheChange)
	r.copy(filepath.Join(demo, build+".apk"), filepath.Join(r.dir, "app.simapp"))
	r.commit("build "+build, "--allow-empty")
}

// fillRunner creates what a hosted runner has and this machine must not be asked for: the right to
// change its devices.
func (r *repository) fillRunner() {
	r.script(filepath.Join(r.bin, "sudo"), "[ -t 0 ] || cat >/dev/null\n")
	r.write(filepath.Join(r.home, "config/act/actrc"), "")
}

// releaseAction creates a folder as GitHub hands the action out, and a server with the binary that
// its release.sha256 names.
func (r *repository) releaseAction() {
	r.action = r.t.TempDir()
	for _, file := range []string{"action.yml", "go.mod", "scripts/fetch-release", "scripts/build-action", "scripts/sources-digest"} {
		r.copy(filepath.Join("../..", file), filepath.Join(r.action, file))
	}
	makeOnce(r.t)
	asset := "apkgate_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH
	digest, err := exec.Command("bash", filepath.Join(r.action, "scripts/sources-digest")).Output()
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(filepath.Join(r.action, "release.sha256"), fmt.Sprintf("version %s\nsources %s%x  %s\n", version, digest, made.sum, asset))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/"+version+"/"+asset {
			http.NotFound(w, q)
			return
		}
		w.Write(made.binary)
	}))
	r.t.Cleanup(server.Close)
	r.releases = server.URL
}

// environment is the runner's environment except for the event.
func (r *repository) environment() []string {
	env := []string{
		"GITHUB_API_URL=" + r.api, "GITHUB_GRAPHQL_URL=" + r.api + "/graphql", "GITHUB_REPOSITORY=" + owner + "/" + name,
		"APKGATE_RELEASES=" + r.releases, "TEST_ARTIFACTS=" + r.artifacts, "TEST_CACHE=" + r.cache, "TEST_REPOSITORY=" + r.dir,
	}
	if r.lab == nil {
		return env
	}
	for name, value := range r.lab.Variables() {
		if name != "PATH" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// commit commits all files as a new commit of the current branch.
func (r *repository) commit(message string, options ...string) {
	r.t.Helper()
	if _, err := os.Stat(filepath.Join(r.dir, ".git")); os.IsNotExist(err) {
		r.git("init", "--quiet", "--initial-branch=main")
		r.git("remote", "add", "origin", "https://github.com/"+owner+"/"+name)
	}
	r.git("add", "--all")
	r.git(append([]string{"-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "--quiet", "--message", message}, options...)...)
	r.head = r.git("rev-parse", "HEAD")
}

// git runs git without the user's configuration, and not on the repository in whose hook the tests
// may run.
func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command(tool(r.t, "git"), args...)
	cmd.Dir = r.dir
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GIT_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repository) read(file string) string {
	r.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

func (r *repository) write(file, text string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repository) copy(from, to string) { r.t.Helper(); r.write(to, r.read(from)) }

func (r *repository) script(file, text string) {
	r.t.Helper()
	r.write(file, "#!/bin/sh\nset -e\n"+text)
	if err := os.Chmod(file, 0o755); err != nil {
		r.t.Fatal(err)
	}
}

// configuration measures a build on simulated phones.
func configuration(apk, test, history string, phones []string) string {
	return fmt.Sprintf(`app:
  package: com.example.demo
  apk: %s
  test-apk: %s
scenarios:
  - name: read-mail
    workload:
      instrumentation:
        test-package: com.example.demo.test
        class: com.example.demo.ReadMailTest#readsMail
    repetitions: 5
    timeout: 1m
store:
  sqlite: %s
networks: [wifi]
devices:
  - simulated: %s
`, apk, test, history, strings.Join(phones, "\n  - simulated: "))
}

// made is what is made once for all tests: the program with its checksum, and a folder with the
// builds of its demo and a history of one of them.
var made struct {
	sync.Once
	dir    string
	binary []byte
	sum    [sha256.Size]byte
	err    error
}

func makeOnce(t *testing.T) string {
	t.Helper()
	made.Do(func() {
		if made.dir, made.err = os.MkdirTemp("", "apkgate-acttest-"); made.err != nil {
			return
		}
		if made.err = errors.Join(buildProgram(made.dir), makeHistory(made.dir)); made.err == nil {
			made.binary, made.err = os.ReadFile(filepath.Join(made.dir, "apkgate"))
			made.sum = sha256.Sum256(made.binary)
		}
	})
	if made.err != nil {
		t.Fatal(made.err)
	}
	return made.dir
}

// buildProgram builds it without symbols: each job downloads it, and checks its sum.
func buildProgram(dir string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(dir, "apkgate"), "../../cmd/apkgate")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly") // as build-action: what one compiles, the other need not
	return ran(cmd)
}

// makeHistory writes the builds of the demo, and history.db with runs of mail-good on phones with
// older Androids than those of the gate.
func makeHistory(dir string) error {
	demo := filepath.Join(dir, "demo")
	if err := os.Mkdir(demo, 0o755); err != nil {
		return err
	}
	for _, build := range []string{"mail-good", "mail-worse", "demo-test"} {
		text, err := simapp.Open(build)
		if err == nil {
			err = os.WriteFile(filepath.Join(demo, build+".apk"), calm(text), 0o644)
		}
		if err != nil {
			return err
		}
	}
	lab, err := profile.Lab("today-lab")
	if err != nil {
		return err
	}
	var phones []string
	for _, p := range lab {
		phones = append(phones, p.Name)
	}
	text := configuration("mail-good.apk", "demo-test.apk", "history.db", phones)
	if err := os.WriteFile(filepath.Join(demo, "apkgate.yml"), []byte(text), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"collect", "--output", "history.jsonl"}, {"baseline", "import", "--store", "history.db", "history.jsonl"}} {
		cmd := exec.Command(filepath.Join(dir, "apkgate"), args...)
		cmd.Dir = demo
		if err := ran(cmd); err != nil {
			return err
		}
	}
	return nil
}

func ran(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%q: %w\n%s", cmd.Args, err, out)
	}
	return nil
}

// calm reduces the noise of a build's phones: these tests are of workflows, and not of how many
// rounds a noisy phone takes.
func calm(build []byte) []byte {
	return regexp.MustCompile(`(?m)^noise .*`).ReplaceAll(build, []byte("noise session 0.5% repetition 1% phone x0.2 frame 14% tail 0.4%x3"))
}

func program(t *testing.T) string { return filepath.Join(makeOnce(t), "apkgate") }
func demo(t *testing.T) string    { return filepath.Join(makeOnce(t), "demo") }

func TestMain(m *testing.M) {
	status := m.Run()
	if made.dir != "" {
		os.RemoveAll(made.dir)
	}
	os.Exit(status)
}
