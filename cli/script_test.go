package cli_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/simulator/simapp"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"apkgate": func() { os.Exit(cli.Main(cli.Process(), os.Args[1:])) },
	})
}

// The transcripts drive apkgate as a user does: a process with files, streams and an exit status.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) < 10 {
		t.Fatalf("%d transcripts: %v", len(scripts), err)
	}
	if testing.Short() {
		t.Skip("the other tests do what these do, without a process for each command")
	}
	testscript.Run(t, testscript.Params{
		Files:               scripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"refused": refused,
			"json":    jsonIs,
			"gzip":    gzipFile,
			"lab":     writeLab,
			"rules":   rulesAre,
			"app":     writeApp,
			"spoil":   spoilRecord,
		},
	})
}

// writeApp writes simulated apps as APK files: app NAME ….
func writeApp(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: app NAME …")
	}
	for _, name := range args {
		text, err := simapp.Open(name)
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(name+".apk"), text, 0o644))
	}
}

// spoilRecord makes the record of a run unreadable, as a bad disk does, or, for the id "summaries",
// changes the numbers of one: spoil FILE ID.
func spoilRecord(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: spoil FILE ID")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	if args[1] == "summaries" {
		_, err = db.Exec("UPDATE summaries SET median = (SELECT s.median FROM summaries s WHERE s.id = 'f') WHERE id = 'e'")
		ts.Check(err)
		return
	}
	_, err = db.Exec("UPDATE records SET data = x'28b52ffd' WHERE run = (SELECT number FROM runs WHERE id = ?)", args[1])
	ts.Check(err)
}

// exits runs a command and asserts its exit status: exits 1 apkgate check …
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARG …]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		got = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// refused is exits for input that is refused: it also asserts an empty standard output, and on the
// standard error one line with the error and at most one with a hint.
func refused(ts *testscript.TestScript, neg bool, args []string) {
	exits(ts, neg, args)
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("the standard output is not empty")
	}
	if err := clitest.OneClearLine(ts.ReadFile("stderr")); err != nil {
		ts.Fatalf("%v", err)
	}
}

// jsonIs asserts a value in a JSON file: json FILE PATH VALUE, where PATH is keys and indices
// joined by dots ("runs.0.id"), and ends with length for that of a list. A number is compared to as
// many decimals as VALUE has. VALUE "absent" asserts that there is nothing. A key may contain dots
// itself.
func jsonIs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: json FILE PATH VALUE")
	}
	var root any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &root))
	want := strings.Join(args[2:], " ")
	got, found := at(root, strings.Split(args[1], "."))
	if !found {
		got = "absent"
	}
	if text := asWritten(got, want); text != want {
		ts.Fatalf("%s: %s is %s, want %s", args[0], args[1], text, want)
	}
}

// at finds the value at a path; the longest matching key is taken.
func at(v any, path []string) (any, bool) {
	if len(path) == 0 {
		return v, true
	}
	switch v := v.(type) {
	case map[string]any:
		for n := len(path); n > 0; n-- {
			if child, ok := v[strings.Join(path[:n], ".")]; ok {
				return at(child, path[n:])
			}
		}
	case []any:
		if path[0] == "length" {
			return float64(len(v)), true
		}
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(v) {
			return at(v[i], path[1:])
		}
	}
	return nil, false
}

func asWritten(v any, want string) string {
	switch v := v.(type) {
	case float64:
		_, decimals, _ := strings.Cut(want, ".")
		return strconv.FormatFloat(v, 'f', len(decimals), 64)
	case string:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// rulesAre asserts which rules a verdict contains, each by its only condition and in any order:
// rules FILE NAME=VALUE …
func rulesAre(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: rules FILE [NAME=VALUE …]")
	}
	var verdict struct {
		Rules []struct{ If map[string]string }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &verdict))
	got := []string{}
	for _, rule := range verdict.Rules {
		var conditions []string
		for name, value := range rule.If {
			conditions = append(conditions, name+"="+value)
		}
		slices.Sort(conditions)
		got = append(got, strings.Join(conditions, " and "))
	}
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(args[1:])); !slices.Equal(got, want) {
		ts.Fatalf("rules %q, want %q", got, want)
	}
}

// gzipFile writes a compressed copy: gzip FILE FILE.gz
func gzipFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: gzip FILE FILE.gz")
	}
	out, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	z := gzip.NewWriter(out)
	_, err = z.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(errors.Join(err, z.Close(), out.Close()))
}

// writeLab writes the runs of the small lab into a folder: lab DIR
func writeLab(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lab DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	history, upgraded := smallLab()
	files := map[string][]labRun{
		"history.jsonl": history, "upgraded.jsonl": upgraded,
		"good.jsonl": {good([2]string{"HTC", "One"}, [2]string{"4.4.4", "19"}, "3g", 5)},
	}
	for name, runs := range files {
		var lines strings.Builder
		for _, r := range runs {
			lines.WriteString(r.line())
		}
		ts.Check(os.WriteFile(filepath.Join(dir, name), []byte(lines.String()), 0o644))
	}
}
