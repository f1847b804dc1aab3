package hostiletesthostile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

func utf16LE(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func TestBadRuns(t *testing.T) {
	seventh := strings.SplitAfter(clitest.Sound(9), "\n")
	seventh[6] = `{"format":"apkgate.run/1","id":"H6",` + "\n"
	for name, tc := range map[string]struct {
		content string
		want    []string
	}{
		"truncated":        {clitest.Record("T", "", `{"frames.count":1}`)[:90], []string{"line 1", "ends too early"}},
		"truncated, lines": {"{\n \"format\":\"apkgate.run/1\",\n \"app\":{\"package\":", []string{"ends too early"}},
		"not JSON":         {"frames: 12\n", []string{"line 1", "want a JSON object", "hint: runs are read from", "apkgate inspect"}},
		"wrong format":     {`{"format":"apkgate.run/9","app":{"package":"a"},"scenario":"s"}`, []string{`format is "apkgate.run/9", want "apkgate.run/1"`}},
		"a verdict":        {`{"format":"apkgate.verdict/1","verdict":"pass","runs":[]}`, []string{`format is "apkgate.verdict/1", want "apkgate.run/1"`}},
		"no format":        {`{"app":{"package":"a"},"scenario":"s","iterations":[{"metrics":{"frames.count":1}}]}`, []string{`format is "", want "apkgate.run/1"`}},
		"no package":       {`{"format":"apkgate.run/1","app":{},"scenario":"s","iterations":[{}]}`, []string{"app.package is empty"}},
		"no iterations":    {`{"format":"apkgate.run/1","app":{"package":"a"},"scenario":"s"}`, []string{"iterations is empty"}},
		"wrong status":     {clitest.Record("S", `"status":"great",`, `{"frames.count":1}`), []string{`status is "great"`, "complete", "partial", "failed"}},
		"NaN":              {clitest.Record("N", "", `{"frames.count":NaN}`), []string{"line 1", "not valid JSON", "'N'"}},
		"infinite":         {clitest.Record("I", "", `{"frames.count":1e999}`), []string{"1e999"}},
		"text for number":  {clitest.Record("X", "", `{"frames.count":"many"}`), []string{"iterations.metrics", "string"}},
		"context number":   {`{"format":"apkgate.run/1","app":{"package":"a"},"scenario":"s","context":{"api":16},"iterations":[{}]}`, []string{"context", "number", "string"}},
		"broken line 7":    {strings.Join(seventh, ""), []string{"line 7"}},
		"depth":            {`{"format":"apkgate.run/1","x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}", []string{"nested deeper than 12"}},
		"depth, list":      {strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), nil},
		"unclosed depth":   {strings.Repeat("[", 100_000), nil},
		"unclosed objects": {strings.Repeat(`{"a":`, 100_000), []string{"nested deeper than 12"}},
		"another table":    {"metric,result\nsearch,31\n", []string{`line 1 is "metric,result", want the header name,unit,value of a table, or a line of name=value such as search=31ms`, "hint: runs are read from"}},
		"no value":         {"search=fast\n", []string{`line 1 is "search=fast", want the header`}},
		"binary":           {"\x7fELF\x02\x01\x01\x00\x00\x00\x1b[31m\x00\xff\xfe\xfd", []string{"line 1", "want a JSON object"}},
		"zeros":            {strings.Repeat("\x00", 5000), []string{"line 1", "want a JSON object"}},
		"UTF-16":           {utf16LE(clitest.Record("U", "", `{"frames.count":1}`)), []string{"UTF-16"}},
		"not UTF-8":        {clitest.Record("L", "", `{"frames.count":1}`)[:30] + "\xe9\xe8" + clitest.Record("L", "", `{"frames.count":1}`)[30:], []string{"UTF-8"}},
		"gzip bomb":        {clitest.Gzipped(t, "{\"format\":\"apkgate.run/1\",\n"+strings.Repeat(" ", 90<<20)), []string{"larger than 64 MiB"}},
		"gzip cut off":     {clitest.Gzipped(t, clitest.Sound(500))[:300], []string{"unexpected EOF"}},
		"gzip garbage":     {"\x1f\x8b" + strings.Repeat("x", 100), []string{"gzip"}},
		"same id, other content": {
			clitest.Record("twin", "", `{"frames.count":1}`) + clitest.Record("twin", "", `{"frames.count":2}`),
			[]string{`"twin"`, "content"}},
		"empty list":        {"[]", []string{"the list has 0 entries"}},
		"list of numbers":   {"[1,2,3]", nil},
		"list, no value":    {`[{"name":"a","unit":"ms"}]`, []string{"[0].value is missing, want a number"}},
		"list, null value":  {`[{"name":"a","unit":"ms","value":null}]`, []string{"[0].value"}},
		"list, text value":  {`[{"name":"a","unit":"ms","value":"fast"}]`, []string{"[0].", "want a finite number"}},
		"list, wrong unit":  {`[{"name":"frames.duration_ms","unit":"s","value":1}]`, []string{`unit is "s"`, `"ms"`}},
		"benchmarks, cut":   {`{"context":{"build":{}},"benchmarks":[{"name":"x",`, []string{"JSON"}},
		"no benchmarks":     {`{"context":{"build":{}},"benchmarks":[]}`, []string{"benchmarks"}},
		"negative frames":   {`{"format":"apkgate.run/1","app":{"package":"a"},"scenario":"s","iterations":[{"metrics":{},"frames":[[-5,0]]}]}`, []string{"frames[0]", "0 ms or more"}},
		"bucket of nothing": {`{"format":"apkgate.run/1","app":{"package":"a"},"scenario":"s","iterations":[{"metrics":{},"frames":[[5,99]]}]}`, []string{"frames[0]", "index of a bucket"}},
		"long name":         {`{"format":"apkgate.run/1","app":{"package":"` + strings.Repeat("a", 5000) + `"},"scenario":"s","iterations":[{}]}`, []string{"app.package has 5000 bytes, at most 4096"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			good, bad := clitest.WriteFile(t, filepath.Join(dir, "good.jsonl"), clitest.Sound(6)), clitest.WriteFile(t, filepath.Join(dir, "bad.json"), tc.content)
			checked := clitest.Run(t, nil, "check", "--history", good, "--run", bad, "--store", filepath.Join(dir, "none.db"))
			clitest.Refuses(t, checked, append(tc.want, "bad.json")...)
			clitest.Refuses(t, clitest.Run(t, nil, "check", "--history", bad, "--run", good), append(tc.want, "bad.json")...)
			imported := clitest.Run(t, nil, "baseline", "import", "--store", filepath.Join(dir, "h.db"), bad)
			if name != "broken line 7" {
				clitest.Refuses(t, imported, tc.want...)
			} else if imported.Status != exit.StatusInfrastructure || !strings.Contains(imported.Stdout, "8 runs read, 8 new") || !strings.Contains(imported.Stderr, "line 7: ") {
				t.Errorf("exit status %d; %q, %q, want the sound lines kept and the other named", imported.Status, imported.Stdout, imported.Stderr)
			}
		})
	}
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	good, empty := clitest.WriteFile(t, in("good.jsonl"), clitest.Sound(6)), clitest.WriteFile(t, in("empty.json"), "")
	blank := clitest.WriteFile(t, in("blank.json"), "\n\n  \n")
	one := clitest.WriteFile(t, in("one.json"), clitest.Record("one", "", `{"frames.count":1}`))
	capture := clitest.WriteFile(t, in("capture.txt"), "")
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"missing run":       {[]string{"check", "--history", good, "--run", in("no.json")}, []string{"read " + in("no.json") + ": no such file"}},
		"missing history":   {[]string{"check", "--history", in("no.json"), "--run", good}, []string{"read " + in("no.json") + ": no such file"}},
		"missing import":    {[]string{"baseline", "import", "--store", in("m.db"), in("no.json")}, []string{"read " + in("no.json") + ": no such file"}},
		"missing capture":   {[]string{"inspect", "gfxinfo", in("no.txt")}, []string{"read " + in("no.txt") + ": no such file"}},
		"missing verdict":   {[]string{"report", in("no.json")}, []string{"read " + in("no.json") + ": no such file"}},
		"missing config":    {[]string{"check", "--config", in("no.yml"), "--run", good}, []string{in("no.yml"), "no such file", "hint: apkgate init writes one"}},
		"folder run":        {[]string{"check", "--history", good, "--run", dir}, []string{"it is a folder, want a file", "hint: "}},
		"folder import":     {[]string{"baseline", "import", "--store", in("m.db"), dir}, []string{"it is a folder, want a file"}},
		"folder capture":    {[]string{"inspect", "logcat", dir}, []string{"it is a folder, want a file"}},
		"folder config":     {[]string{"check", "--config", dir, "--run", good}, []string{"not a regular file"}},
		"empty run":         {[]string{"check", "--history", good, "--run", empty}, []string{"nothing to check: no run in " + empty}},
		"blank run":         {[]string{"check", "--history", good, "--run", blank}, []string{"nothing to check: no run in " + blank}},
		"empty verdict":     {[]string{"report", empty}, []string{empty + ": read the report", "the file is empty"}},
		"run as verdict":    {[]string{"report", one}, []string{one, `format is "apkgate.run/1"`, "apkgate.verdict/1"}},
		"nothing on stdin":  {[]string{"check", "--history", good, "--run", "-"}, []string{"nothing to check: no run in -"}},
		"no history":        {[]string{"check", "--store", in("none.db"), "--run", good}, []string{"there is no history at " + in("none.db"), "hint: "}},
		"store is a folder": {[]string{"check", "--store", dir, "--run", good}, []string{dir, "folder"}},
		"store is JSON":     {[]string{"check", "--store", good, "--run", good}, []string{good, "not a history of apkgate", "hint: "}},
		"store is empty":    {[]string{"baseline", "list", "--store", in("none.db")}, []string{"there is no history"}},
		"init over a file":  {[]string{"init", "-o", good}, []string{"exists already", "hint: --force"}},
		"init in no folder": {[]string{"init", "-o", in("no/such/apkgate.yml")}, []string{"no such file or directory"}},
		"init bad package":  {[]string{"init", "-o", "-", "--package", "not a package!"}, []string{"not a package!"}},
	} {
		t.Run(name, func(t *testing.T) { clitest.Refuses(t, clitest.Run(t, nil, tc.args...), tc.want...) })
	}
	if _, err := os.Stat(in("m.db")); err == nil {
		t.Error("an import that read nothing left a history behind")
	}
	if got := clitest.Run(t, nil, "inspect", "gfxinfo", capture); got.Status != exit.StatusUsage || !strings.Contains(got.Stdout, "warning: ") || !strings.Contains(got.Stderr, "gfxinfo reads dumpsys gfxinfo") {
		t.Errorf("an empty capture: %+v, want status 2, a warning and what is read", got)
	}
}

// If a report can't be written the verdict is printed anyway, and the status is that of a failed
// infrastructure; a folder in a report's place is found before anything is checked.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	good := clitest.WriteFile(t, filepath.Join(dir, "good.jsonl"), clitest.Sound(6))
	new := clitest.WriteFile(t, filepath.Join(dir, "new.json"), clitest.Record("new", "", `{"memory.pss_kb":603}`))
	below := filepath.Join(good, "r.html") // a file is no folder
	got := clitest.Run(t, nil, "check", "--history", good, "--run", new, "--html", below)
	clitest.Fails(t, got, exit.StatusInfrastructure, "write the report to "+below, "not a directory")
	if !strings.Contains(got.Stdout, "Pass") {
		t.Errorf("stdout %q, want the verdict", got.Stdout)
	}
	clitest.Fails(t, clitest.Run(t, nil, "check", "--history", good, "--run", new, "--json", dir), exit.StatusUsage, "write the json report to "+dir, "it is a folder")
	clitest.Fails(t, clitest.Run(t, nil, "baseline", "import", "--store", below, good), exit.StatusInfrastructure, "history", "not a directory")
	store := filepath.Join(dir, "h.db")
	if got := clitest.Run(t, nil, "baseline", "import", "--store", store, good); got.Status != 0 {
		t.Fatalf("%+v", got)
	}
	clitest.Fails(t, clitest.Run(t, nil, "baseline", "export", "--store", store, "-o", below), exit.StatusInfrastructure, below, "not a directory")
	clitest.Fails(t, clitest.Run(t, nil, "baseline", "copy", "--store", store, "--to", below), exit.StatusInfrastructure, "not a directory")
	damaged := clitest.WriteFile(t, filepath.Join(dir, "damaged.db"), "SQLite format 3\x00"+strings.Repeat("\xff", 8192))
	got = clitest.Run(t, nil, "baseline", "list", "--store", damaged)
	if got.Status != exit.StatusInfrastructure && got.Status != exit.StatusUsage {
		t.Errorf("a damaged history: status %d", got.Status)
	}
	clitest.Fails(t, got, got.Status, damaged)
}

func TestManyProblemsOfOneConfiguration(t *testing.T) {
	dir := t.TempDir()
	good := clitest.WriteFile(t, filepath.Join(dir, "good.jsonl"), clitest.Sound(6))
	// A problem on each of lines 1 to 10.
	bad := clitest.WriteFile(t, filepath.Join(dir, "apkgate.yml"), `colour: red
app: {pakage: com.example.app}
scenarios: 7
networks: {wifi: yes}
gate: {preset: dun, outlier-factor: 0, min-support: 200%, min-history: -1, fail-on: sometimes}
store: {sqlite: 5}
report: {html: [1]}
metrics: nothing
context: {use: sdk}
devices: phone
`)
	got := clitest.Run(t, nil, "check", "--config", bad, "--history", good, "--run", good)
	if got.Status != exit.StatusUsage || got.Stdout != "" {
		t.Fatalf("%+v", got)
	}
	for line := 1; line <= 10; line++ {
		if where := fmt.Sprintf("%s:%d:", bad, line); !strings.Contains(got.Stderr, where) {
			t.Errorf("nothing is said of line %d:\n%s", line, got.Stderr)
		}
	}
	for _, allowed := range []string{"default, dune", "never, regression, inconclusive", "0.1 to 100"} {
		if !strings.Contains(got.Stderr, allowed) {
			t.Errorf("%q is not told to be allowed:\n%s", allowed, got.Stderr)
		}
	}
}

// A file of runs without checksums is read, with a note on their number; one that apkgate has
// written has no note, and a changed digit in it is rejected with its line.
func TestChecksumsOfFilesOfRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	older := clitest.WriteFile(t, filepath.Join(dir, "older.jsonl"), clitest.Sound(6))
	store := filepath.Join(dir, "h.db")
	got := clitest.Run(t, nil, "baseline", "import", older, "--store", store)
	if want := "note: " + older + ": 6 of 6 runs have no checksum, so that a changed digit would not be noticed; apkgate baseline export writes them"; got.Status != exit.StatusPass || len(got.Unchecked) != 1 || got.Unchecked[0] != want {
		t.Errorf("%+v, want the note %q", got, want)
	}
	written := filepath.Join(dir, "written.jsonl")
	if got := clitest.Run(t, nil, "baseline", "export", "--store", store, "-o", written); got.Status != exit.StatusPass {
		t.Fatalf("%+v", got)
	}
	if got := clitest.Run(t, nil, "check", "--history", written, "--run", older); len(got.Unchecked) != 1 || !strings.Contains(got.Unchecked[0], "older.jsonl") {
		t.Errorf("%+v, want one note, of the older file", got)
	}
	text, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[2] = strings.Replace(lines[2], `"memory.pss_kb":`, `"memory.pss_kb":1`, 1)
	damaged := clitest.WriteFile(t, filepath.Join(dir, "damaged.jsonl"), strings.Join(lines, ""))
	got = clitest.Run(t, nil, "check", "--history", damaged, "--run", older)
	if message, _ := clitest.Complaint(t, got); got.Status != exit.StatusUsage || !strings.Contains(message, "line 3: the record's checksum") {
		t.Errorf("%+v, want that line 3 is not what was written", got)
	}
}
