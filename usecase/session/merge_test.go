package session_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/openstore"
)

// shard measures a share of a lab, and returns its file.
func shard(t *testing.T, l clitest.Lab, k, n int, more ...string) string {
	t.Helper()
	path := l.Path(fmt.Sprintf("parts/%d.session", k))
	args := append([]string{"collect", "--config", l.Path("apkgate.yml"), "--shard", fmt.Sprintf("%d/%d", k, n), "--output", path}, more...)
	if got := clitest.Run(t, nil, args...); got.Status != exit.StatusPass {
		t.Fatalf("shard %d/%d: %+v", k, n, got)
	}
	return path
}

// parts is a lab of four phones on two networks, measured by three shards.
func parts(t *testing.T) clitest.Lab {
	t.Helper()
	l := labOf(t, 4)
	for k := range 3 {
		shard(t, l, k+1, 3)
	}
	return l
}

func merge(t *testing.T, l clitest.Lab, more ...string) clitest.Result {
	t.Helper()
	return clitest.Run(t, nil, append([]string{"collect", "--config", l.Path("apkgate.yml"), "--output", l.Path("merged.jsonl"), "--merge"}, more...)...)
}

func change(t *testing.T, path, from, to string) {
	t.Helper()
	text := fileOf(t, path)
	if !strings.Contains(text, from) {
		t.Fatalf("%s has no %q", path, from)
	}
	clitest.WriteFile(t, path, strings.Replace(text, from, to, 1))
}

// Parts that do not belong together are rejected with a message, before anything is written.
func TestMergeRejectsForeignParts(t *testing.T) {
	l := parts(t)
	one, two := l.Path("parts/1.session"), l.Path("parts/2.session")
	was := map[string]string{}
	for _, path := range []string{one, two, l.Path("parts/3.session"), l.Path("apkgate.yml"), l.Path("demo-good.apk"), l.Path("demo-test.apk")} {
		was[path] = fileOf(t, path)
	}
	whole := strings.SplitAfter(was[two], "\n")
	for name, c := range map[string]struct {
		change func()
		args   []string
		want   []string
	}{
		"another plan":    {func() { l.Edit("repetitions: 2", "repetitions: 3") }, nil, []string{"1.session", "another configuration"}},
		"another device":  {func() { l.Edit("phone 4", "phone 5") }, nil, []string{"another configuration"}},
		"another version": {nil, []string{"--app-version", "9"}, []string{"another configuration or other flags"}},
		"another build":   {func() { change(t, l.Path("demo-good.apk"), "cost", "#\ncost") }, nil, []string{"another build"}},
		"builds that differ": {func() {
			at := strings.Index(was[one], `"build":"`) + len(`"build":"`)
			clitest.WriteFile(t, one, was[one][:at]+strings.Repeat("0", 8)+was[one][at+8:])
		}, nil, []string{"1.session", "another build"}},
		"builds that differ, and none here": {func() {
			change(t, two, `"build":"`, `"build":"0`)
			change(t, two, was[two][strings.Index(was[two], `"build":"`)+9:][:64], was[two][strings.Index(was[two], `"build":"`)+9:][:63])
			_ = os.Remove(l.Path("demo-test.apk"))
		}, nil, []string{"2.session: it is of another build than", "1.session"}},
		"another commit": {func() {
			for k := range 3 {
				change(t, l.Path(fmt.Sprintf("parts/%d.session", k+1)), `"started"`, `"commit":"c0ffee","started"`)
			}
		}, []string{"--commit", "deadbeef"}, []string{"it is of the commit c0ffee, and deadbeef is asked for"}},
		"commits that differ": {func() { change(t, two, `"started"`, `"commit":"c0ffee","started"`) }, nil, []string{"it is of the commit c0ffee", "nobody named"}},
		"another matrix":      {func() { change(t, two, `"n":3`, `"n":4`) }, nil, []string{"it is shard 2/4", "is shard 1/3"}},
		"a share twice":       {func() { change(t, two, `"k":2`, `"k":1`) }, nil, []string{"it is shard 1/3, as", "1.session is"}},
		"a unit twice": {func() {
			header, rest, _ := strings.Cut(was[one], "\n")
			own := header[strings.Index(header, `"own"`):]
			change(t, two, whole[0][strings.Index(whole[0], `"own"`):len(whole[0])-1], own)
			clitest.WriteFile(t, two, strings.SplitAfter(fileOf(t, two), "\n")[0]+rest)
		}, nil, []string{"2.session: ", "1.session too"}},
		"a run of another scenario": {func() { change(t, two, `"scenario":"read-mail"`, `"scenario":"sign-in"`) }, nil, []string{"2.session: ", "its run is of the scenario \"sign-in\""}},
		"a run of another app":      {func() { change(t, two, `"package":"com.example.demo"`, `"package":"com.example.other"`) }, nil, []string{"2.session: ", "its run is of the app \"com.example.other\""}},
		"a run of another commit": {func() {
			change(t, two, `"scenario":"read-mail"`, `"source":{"commit":"c0ffee"},"scenario":"read-mail"`)
		}, nil, []string{"2.session: ", "its run is of the commit c0ffee, and line 1 says nobody named"}},
		"no part":         {func() { clitest.WriteFile(t, two, "{}\n") }, nil, []string{"2.session", "line 1: format is"}},
		"a damaged line":  {func() { clitest.WriteFile(t, two, whole[0]+"garbage\n"+strings.Join(whole[1:], "")) }, nil, []string{"2.session", "line 2"}},
		"nothing there":   {nil, []string{l.Path("elsewhere")}, []string{"elsewhere", "no such file"}},
		"an empty folder": {func() { _ = os.Mkdir(l.Path("empty"), 0o755) }, []string{"--merge", l.Path("empty")}, []string{"no file named *.session"}},
		"a file twice":    {nil, []string{"--merge", one}, []string{"1.session: it is named twice"}},
		"what is written": {nil, []string{"--merge", l.Path("merged.jsonl")}, []string{"merged.jsonl", "also an input"}},
		"going on":        {nil, []string{"--resume"}, []string{"--merge and --resume"}},
		"a share too":     {nil, []string{"--shard", "1/2"}, []string{"--merge and --shard"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.change != nil {
				c.change()
			}
			first := []string{l.Path("parts")}
			if name == "nothing there" {
				first = nil
			}
			got := merge(t, l, append(first, c.args...)...)
			_, said, _ := strings.Cut("\n"+got.Stderr, "\nerror: ") // a warning may come before
			got.Stderr = "error: " + said
			clitest.Refuses(t, got, c.want...)
			for path, text := range was {
				clitest.WriteFile(t, path, text)
			}
			if _, err := os.Stat(l.Path("merged.jsonl")); err == nil {
				t.Error("something was written")
			}
		})
	}
}

// Missing units are named, and all others are shown.
func TestMergeListsMissingUnits(t *testing.T) {
	l := parts(t)
	two := l.Path("parts/2.session")
	held := strings.Count(fileOf(t, two), "\n") - 1
	for name, c := range map[string]struct {
		change func()
		runs   int
		want   []string
	}{
		"a share": {func() { _ = os.Remove(two) }, 8 - held, []string{
			"1 of 3 shards are missing: 2/3", fmt.Sprintf("%d runs are missing: read-mail on phone", held), "shard 2/3 is missing",
		}},
		"the end of one": {func() { clitest.WriteFile(t, two, fileOf(t, two)[:len(fileOf(t, two))-10]) }, 7, []string{
			"2.session: the last line is torn", "1 run is missing: read-mail on phone", "shard 2/3 did not come to it",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			was := fileOf(t, two)
			c.change()
			defer clitest.WriteFile(t, two, was)
			got := merge(t, l, l.Path("parts"))
			if got.Status != exit.StatusInfrastructure {
				t.Errorf("exit status %d, want %d", got.Status, exit.StatusInfrastructure)
			}
			for _, want := range append(c.want, "measure the missing shards again") {
				if !strings.Contains(got.Stderr, want) {
					t.Errorf("nothing is said of %q:\n%s", want, got.Stderr)
				}
			}
			if n := len(measuredRuns(t, fileOf(t, l.Path("merged.jsonl")))); n != c.runs {
				t.Errorf("%d runs were written, want %d", n, c.runs)
			}
		})
	}
}

// verdictOf is a verdict without what names its runs.
func verdictOf(t *testing.T, l clitest.Lab, args ...string) map[string]any {
	t.Helper()
	file := l.Path("verdict.json")
	args = append(args, "--config", l.Path("apkgate.yml"), "--store", l.Path("history.db"), "--json", file)
	if got := clitest.Run(t, nil, args...); got.Status != exit.StatusPass {
		t.Fatalf("%q: %+v", args, got)
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(fileOf(t, file)), &v); err != nil {
		t.Fatal(err)
	}
	var forget func(x any)
	forget = func(x any) {
		switch x := x.(type) {
		case map[string]any:
			for _, key := range []string{"id", "session", "started", "hint"} {
				delete(x, key)
			}
			for _, value := range x {
				forget(value)
			}
		case []any:
			for _, value := range x {
				forget(value)
			}
		}
	}
	forget(v)
	return v
}

// The verdict on merged shards equals that of one process, and the history has the runs, under the
// name of the judging command.
func TestMergeJudgesLikeOneProcess(t *testing.T) {
	l := parts(t)
	want := verdictOf(t, l, "run")
	before := l.Export()
	got := verdictOf(t, l, "run", "--merge", l.Path("parts"), "--session", "gathered")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-measured +merged):\n%s", d)
	}
	if n := len(bySession(t, l, before)["gathered"]); n != 8 {
		t.Errorf("the history has %d new runs of the session, want 8", n)
	}
	again := bySession(t, l, nil)
	verdictOf(t, l, "run", "--merge", l.Path("parts"), "--session", "gathered")
	if d := cmp.Diff(again, bySession(t, l, nil)); d != "" {
		t.Errorf("merged once more, the history changed:\n%s", d)
	}
}

// The merging job needs neither the build nor the tests.
func TestMergeNeedsNoBuild(t *testing.T) {
	l := parts(t)
	for _, name := range []string{"demo-good.apk", "demo-test.apk"} {
		if err := os.Remove(l.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
	got := merge(t, l, l.Path("parts"))
	if got.Status != exit.StatusPass || !strings.Contains(got.Stderr, "nothing can be measured alternately here: app.test-apk: find") {
		t.Errorf("%+v", got)
	}
	if n := len(measuredRuns(t, fileOf(t, l.Path("merged.jsonl")))); n != 8 {
		t.Errorf("%d runs were written, want 8", n)
	}
}

func TestInvalidShardsAreRejected(t *testing.T) {
	l := labOf(t, 2)
	collect := func(more ...string) clitest.Result {
		return clitest.Run(t, nil, append([]string{"collect", "--config", l.Path("apkgate.yml")}, more...)...)
	}
	for _, share := range []string{"0/2", "3/2", "2", "a/b", "1/2/3", "-1/2", "1/100000", "/"} {
		clitest.Refuses(t, collect("--shard", share, "--output", l.Path("p.session")), "--shard is", "k/n")
	}
	clitest.Refuses(t, collect("--shard", "2/2"), "--output names none", "part-2.session")
	clitest.Refuses(t, collect("--shard", "2/2", "--output", "-"), "--output names none")
}

// Files kept with the runs of a shard are next to its file, and are merged too. A refresh keeps the
// build with them, so that pull requests have one to measure alternately with.
func TestMergeCopiesKeptFiles(t *testing.T) {
	l := labOf(t, 1)
	l.Edit(simulator.Profiles()[0].Name, "pixel-7-android-14")
	l.Edit("phone 1}", "phone 1}\nevidence: {keep: all, apk: true}")
	part := shard(t, l, 1, 1)
	before := l.Export()
	store := l.Path("history.db")
	if got := clitest.Run(t, nil, "baseline", "refresh", "--config", l.Path("apkgate.yml"), "--store", store, "--merge", part); got.Status != exit.StatusPass || strings.Contains(got.Stderr, "warning") {
		t.Fatalf("%+v", got)
	}
	kept := map[run.EvidenceKind]int{}
	for _, runs := range bySession(t, l, before) {
		for _, r := range runs {
			for _, e := range r.Evidence {
				kept[e.Kind]++
				if _, _, here := openstore.Kept(store).Place(e.Digest); !here {
					t.Errorf("%s of %s is not beside the history", e.Name, r.Scenario)
				}
			}
		}
	}
	if kept[run.Build] != 2 || kept[run.PerfettoTrace] < 2 {
		t.Errorf("two runs have %v, want a build and traces of each", kept)
	}
	if err := os.RemoveAll(part + ".evidence"); err != nil {
		t.Fatal(err)
	}
	got := clitest.Run(t, nil, "run", "--config", l.Path("apkgate.yml"), "--store", l.Path("other.db"), "--merge", part)
	if got.Status != exit.StatusPass || !strings.Contains(got.Stderr, "so that it only names them") {
		t.Errorf("without the files: %+v", got)
	}
}
