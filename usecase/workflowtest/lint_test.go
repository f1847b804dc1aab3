package workflowtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// actionFile is what these tests read of action.yml.
type actionFile struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Description, Value string }
	Runs    struct{ Steps []step }
}

type step struct {
	ID, Name, Uses, Run string
	Env, With           map[string]string
	ContinueOnError     bool `yaml:"continue-on-error"`
}

type workflowFile struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Permissions map[string]string
		Steps       []step
	}
	Concurrency struct{ Group string }
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func readAction(t *testing.T) actionFile {
	var a actionFile
	readYAML(t, "../../action.yml", &a)
	return a
}

// workflows are the files of the examples and of the project's own workflows.
func workflows(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"../../examples/*.yml", "../../.github/workflows/*.yml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no workflows match %s (%v)", pattern, err)
		}
		out = append(out, found...)
	}
	return out
}

// steps are all steps of all workflows and of the action, by file.
func steps(t *testing.T) map[string][]step {
	out := map[string][]step{"../../action.yml": readAction(t).Runs.Steps}
	for _, file := range workflows(t) {
		var w workflowFile
		readYAML(t, file, &w)
		for _, j := range w.Jobs {
			out[file] = append(out[file], j.Steps...)
		}
	}
	return out
}

func TestWorkflowsPassActionlint(t *testing.T) {
	args := append([]string{"-no-color", "-config-file", "../../.github/actionlint.yaml"}, workflows(t)...)
	if out, err := exec.Command(tool(t, "actionlint"), args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

var pinned = regexp.MustCompile(`uses: ([\w.-]+(?:/[\w.-]+)+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+\n`)

// folder matches an action in a folder of its repository.
var folder = regexp.MustCompile(`^([\w.-]+/[\w.-]+)/[\w./-]+@`)

// Somebody else's tag can be moved; a commit can't.
func TestActionsArePinned(t *testing.T) {
	seen := map[string]bool{}
	for file, all := range steps(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		commits := map[string]bool{}
		for _, m := range pinned.FindAllStringSubmatch(string(data), -1) {
			commits[m[1]+"@"+m[2]] = true
		}
		for _, s := range all {
			switch {
			case s.Uses == "" || s.Uses == ours:
			case !commits[s.Uses]:
				t.Errorf("%s uses %s, want a commit of 40 digits, with the version behind it: # v1.2.3", file, s.Uses)
			}
			seen[s.Uses], seen[folder.ReplaceAllString(s.Uses, "$1@")] = true, true
		}
	}
	for name, action := range pins {
		if !seen[action] {
			t.Errorf("nothing uses %s: the stand-in %s is for another version than the workflows'", action, name)
		}
	}
}

// Untrusted text must not become part of a script: it is passed through the environment.
func TestScriptsContainNoExpressions(t *testing.T) {
	for file, all := range steps(t) {
		for _, s := range all {
			if strings.Contains(s.Run, "${{") {
				t.Errorf("%s: the script of step %q has an expression in it: pass it by env", file, s.Name)
			}
		}
	}
}

// mayWrite are jobs that write and build all the same, with the reason that excuses them.
var mayWrite = map[string]string{
	"compare.yml compare": "somebody with write access chooses what is compared",
	"nightly.yml refresh": "it builds the main branch alone, and pushes what it accepts",
}

// A job that runs a pull request's code can only read, and finds no token in its checkout: another
// one, which checks out nothing, shows the verdict.
func TestExamplesHaveLeastPrivilege(t *testing.T) {
	excused := map[string]bool{}
	files, err := filepath.Glob("../../examples/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples (%v)", err)
	}
	for _, file := range files {
		var w workflowFile
		readYAML(t, file, &w)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if w.Permissions == nil {
			t.Errorf("%s: the workflow states no permissions, and has the repository's default", file)
		}
		for name, job := range w.Jobs {
			permissions, runs := job.Permissions, false
			if permissions == nil {
				permissions = w.Permissions
			}
			for _, s := range job.Steps {
				checkout := strings.HasPrefix(s.Uses, "actions/checkout@")
				runs = runs || checkout || strings.Contains(s.Run, "gradlew")
				if checkout && s.With["persist-credentials"] != "false" && !strings.Contains(string(text), "persist-credentials: true # ") {
					t.Errorf("%s: a checkout of the job %s keeps its token for what the build runs, and doesn't say why", file, name)
				}
			}
			key := filepath.Base(file) + " " + name
			for scope, may := range permissions {
				if may == "write" && runs && scope != "id-token" {
					if mayWrite[key] == "" {
						t.Errorf("%s: the job %s may write %s, and runs code that it checks out", file, name, scope)
					}
					excused[key] = true
				}
			}
		}
		for scope, may := range w.Permissions {
			if may != "read" {
				t.Errorf("%s: every job may %s %s; only one needs it", file, may, scope)
			}
		}
	}
	for key := range mayWrite {
		if !excused[key] {
			t.Errorf("%s needs no excuse", key)
		}
	}
	if text, err := os.ReadFile("../../examples/genymotion-saas.yml"); err != nil || !regexp.MustCompile(`pipx install gmsaas==[\d.]+\n`).Match(text) {
		t.Errorf("gmsaas, which gets a token, is not installed in one exact version (%v)", err)
	}
}

// An entry of a merge queue has no pull request: without its ref, all entries would be in one
// group, and cancel each other.
func TestMergeQueueGroups(t *testing.T) {
	found := 0
	for _, file := range workflows(t) {
		var w workflowFile
		readYAML(t, file, &w)
		if strings.Contains(w.Concurrency.Group, "github.event.pull_request.number") {
			found++
			if !strings.Contains(w.Concurrency.Group, "github.event.pull_request.number || github.ref") {
				t.Errorf("%s has the group %s", file, w.Concurrency.Group)
			}
		}
	}
	if found == 0 {
		t.Error("no workflow has a group for each pull request")
	}
}

// notFlags are inputs that concern only the action.
var notFlags = []string{"upload", "github-token"}

func TestEachInputReachesTheGate(t *testing.T) {
	a := readAction(t)
	run := a.Runs.Steps[slices.IndexFunc(a.Runs.Steps, func(s step) bool { return s.ID == "run" })]
	help, err := exec.Command(program(t), "action", "run", "--help").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, help)
	}
	for input := range a.Inputs {
		variable := "INPUT_" + strings.ToUpper(strings.ReplaceAll(input, "-", "_"))
		want := "${{ inputs." + input + " }}"
		switch input {
		case "leg":
			want = "${{ inputs.leg || toJSON(matrix) }}"
		case "legs":
			want = "${{ inputs.legs || strategy.job-total }}"
		}
		if run.Env[variable] != want && input != "upload" {
			t.Errorf("the gate's step has %s = %q, want %q", variable, run.Env[variable], want)
		}
		if !strings.Contains(string(help), "--"+input+" ") && !slices.Contains(notFlags, input) {
			t.Errorf("apkgate action run has no flag --%s, so that the input %s has no effect", input, input)
		}
	}
}

// tableOf returns the first two cells of each row of the table below a heading, unquoted.
func tableOf(t *testing.T, file, heading string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(data), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", file, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	out := map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) > 3 && strings.HasPrefix(cells[1], " `") {
			out[strings.Trim(cells[1], " `")] = strings.Trim(cells[2], " `")
		}
	}
	return out
}

func TestInputsAndOutputsAreDocumented(t *testing.T) {
	a := readAction(t)
	inputs, outputs := tableOf(t, "../../docs/action.md", "Inputs"), tableOf(t, "../../docs/action.md", "Outputs")
	for name, input := range a.Inputs {
		if value, ok := inputs[name]; !ok || value != input.Default {
			t.Errorf("docs/action.md gives the input %s the default %q (%v), action.yml %q", name, value, ok, input.Default)
		}
		delete(inputs, name)
	}
	for name := range a.Outputs {
		if _, ok := outputs[name]; !ok {
			t.Errorf("docs/action.md does not tell of the output %s", name)
		}
		delete(outputs, name)
	}
	if len(inputs)+len(outputs) > 0 {
		t.Errorf("docs/action.md tells of inputs %v and outputs %v, which action.yml does not have", inputs, outputs)
	}
}
