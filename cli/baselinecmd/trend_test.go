package baselinecmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/reporttest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// nightly writes a history of so many nights of two phones into a file: frames take 10 ms, and 20 %
// more from a night on, in which that is accepted as the new level.
func nightly(t *testing.T, nights, slower int, scenario string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "history.db")
	c := terminal.Console{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Getenv: func(string) string { return "" }, Now: time.Now}
	store, err := openstore.Open(t.Context(), c, file)
	if err != nil {
		t.Fatal(err)
	}
	for night := range nights {
		var runs []run.Run
		ms := 10 * (1 + 0.01*float64(night%2))
		if night >= slower {
			ms *= 1.2
		}
		for i, model := range []string{"Pixel 6", "Pixel 9"} {
			runs = append(runs, run.Run{
				Format: run.Format, ID: fmt.Sprintf("run-%03d-%d", night, i), Started: time.Date(2026, 1, 1+night, 2, i, 0, 0, time.UTC),
				App: run.App{Package: "com.example.mail", Version: "2.1"}, Source: run.Source{Commit: fmt.Sprintf("%040x", night+1)},
				Scenario: scenario, Session: fmt.Sprint("night ", night), Status: run.Complete, Warnings: []run.Warning{},
				Context:    map[string]string{"manufacturer": "Google", "model": model, "sdk": "34"},
				Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": 600, "frames.duration_ms": ms * float64(i+1)}, Events: []run.Bucket{{Name: "tap", Metrics: map[string]float64{"frames.count": 300, "frames.duration_ms": ms}}}}},
			})
		}
		ids, err := store.Add(t.Context(), runs...)
		if err == nil {
			mark := runstore.Mark{State: runstore.Accepted}
			if night == slower {
				mark = runstore.Mark{State: runstore.Rebaselined, Note: "larger <b>previews</b>, #12"}
			}
			err = store.Mark(t.Context(), ids, mark)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// trended runs apkgate baseline trend.
func trended(t *testing.T, file string, width int, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	c := terminal.Console{Stdout: &out, Stderr: &bytes.Buffer{}, Width: width, Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }}
	cmd := Command(c)
	cmd.SetArgs(append([]string{"trend", "--store", file}, args...))
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err = cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// The step is reported with its size, its day, its commits and the reason why it was accepted,
// within the width of the terminal.
func TestTrendOnTerminal(t *testing.T) {
	t.Parallel()
	file := nightly(t, 40, 25, "read-mail")
	for _, width := range []int{60, 80, 120} {
		got, err := trended(t, file, width)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Steady:", "as accepted", "+20", "26 Jan 2026", "▁", "█", "larger"} {
			if !strings.Contains(strings.ReplaceAll(got, "\u00a0", " "), want) {
				t.Errorf("%d columns: no %q in\n%s", width, want, got)
			}
		}
		for line := range strings.Lines(got) {
			if w := twwidth.Width(strings.TrimRight(line, "\n")); w > width {
				t.Errorf("%d columns: a line has %d: %q", width, w, line)
			}
		}
	}
}

// The JSON has the night of the change and the levels of √(10·10.1) and 1.2 times that for the
// first phone.
func TestTrendAsJSON(t *testing.T) {
	t.Parallel()
	got, err := trended(t, nightly(t, 40, 25, "read-mail"), 80, "--format", "json")
	if err != nil {
		t.Fatal(err)
	}
	type number struct {
		Event, Metric string
		Devices       []struct {
			Changes []struct {
				First         int
				Before, After float64
				Direction     string
				Decision      struct{ Note string }
			}
		}
	}
	var found struct {
		Format    string
		Scenarios []struct {
			Nights  []struct{ Commit string }
			Numbers []number
		}
	}
	if err := json.Unmarshal([]byte(got), &found); err != nil {
		t.Fatal(err)
	}
	s := found.Scenarios[0]
	n := s.Numbers[slices.IndexFunc(s.Numbers, func(n number) bool { return n.Metric == "frames.duration_ms" && n.Event == "" })]
	c := n.Devices[0].Changes[0]
	near := func(got, want float64) bool { return got > want*0.999 && got < want*1.001 }
	if found.Format != "apkgate.trend/1" || c.First != 25 || s.Nights[25].Commit != fmt.Sprintf("%040x", 26) || c.Direction != "regression" ||
		c.Decision.Note != "larger <b>previews</b>, #12" || !near(c.Before, 10.0499) || !near(c.After, 12.0599) {
		t.Errorf("%+v", c)
	}
}

// The site has an index that leads to each scenario, nothing of a hostile name acts in it, and pages
// that are there stay when the history has lost their scenario.
func TestTrendSite(t *testing.T) {
	t.Parallel()
	site := t.TempDir()
	hostile := reporttest.Hostile[0]
	if _, err := trended(t, nightly(t, 8, 99, hostile), 80, "--site", site); err != nil {
		t.Fatal(err)
	}
	first, err := filepath.Glob(filepath.Join(site, "scenarios", "*.html"))
	if err != nil || len(first) != 1 {
		t.Fatalf("%v, %v: want one page", first, err)
	}
	if _, err := trended(t, nightly(t, 40, 25, "read-mail"), 80, "--site", site); err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(site, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	pages, _ := filepath.Glob(filepath.Join(site, "scenarios", "*.html"))
	if len(pages) != 2 || !strings.Contains(string(index), `<a href="scenarios/read-mail-`) {
		t.Errorf("pages %v; the index has no link to the new one", pages)
	}
	found, _ := filepath.Glob(filepath.Join(site, "scenarios", "read-mail-*.html"))
	if text, err := os.ReadFile(found[0]); err != nil || !strings.Contains(string(text), `<a href="#p-p0">time per frame</a>`) || !strings.Contains(string(text), `<figure id="p-p0">`) {
		t.Errorf("%v: the row of a number does not lead to its picture", err)
	}
	for _, page := range append(pages, filepath.Join(site, "index.html")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"<script", "<b>previews", " src=", "https://"} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s has %q", page, bad)
			}
		}
		if strings.Count(string(text), "<svg") != strings.Count(string(text), "<desc") {
			t.Errorf("%s: not each picture has a text", page)
		}
	}
	if m, _ := metric.Default().Lookup("frames.duration_ms"); !strings.Contains(string(index), m.Title) {
		t.Error("the index has no row for the time per frame")
	}
	left, _ := filepath.Glob(filepath.Join(site, ".*"))
	if len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

// The report of a regression is rendered anew for the site, and stays linked in later nights; a pass
// has no page. A list of reports that leads out of the folder is refused.
func TestTrendSiteKeepsReports(t *testing.T) {
	t.Parallel()
	file, site := nightly(t, 8, 99, "read-mail"), t.TempDir()
	for verdict, pages := range map[string]int{"pass": 0, "regression": 1} {
		saved := filepath.Join(t.TempDir(), "verdict.json")
		text := fmt.Sprintf(`{"format":"apkgate.refresh/1","verdict":%q,"accepted":[],"refused":[{"id":"x1","verdict":%q,"reason":"<script>slower</script>"}],"drift":[],"warnings":[]}`, verdict, verdict)
		if err := os.WriteFile(saved, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		kept := filepath.Join(site, verdict)
		for _, args := range [][]string{{"--report", saved}, {"--report", saved}, nil} {
			if _, err := trended(t, file, 80, append([]string{"--site", kept}, args...)...); err != nil {
				t.Fatal(err)
			}
			found, _ := filepath.Glob(filepath.Join(kept, "runs", "*.html"))
			index, err := os.ReadFile(filepath.Join(kept, "index.html"))
			if err != nil || len(found) != pages || strings.Count(string(index), `href="runs/`) != pages {
				t.Fatalf("%s, %v: pages %v, %d links (%v)", verdict, args, found, strings.Count(string(index), `href="runs/`), err)
			}
			for _, page := range found {
				if text, err := os.ReadFile(page); err != nil || strings.Contains(string(text), "<script") || !strings.Contains(string(text), "slower") {
					t.Errorf("%s: %v, want the reason as text", page, err)
				}
			}
		}
	}
	list := filepath.Join(site, "regression", "runs", "reports.json")
	if err := os.WriteFile(list, []byte(`{"format":"apkgate.trend-reports/1","reports":[{"file":"../../x.html"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := trended(t, file, 80, "--site", filepath.Join(site, "regression")); err == nil || !strings.Contains(err.Error(), "want the name of a page") {
		t.Errorf("a list that leads out of the folder: %v", err)
	}
}

// pull adds the run of a pull request that takes half more, which the gate refused.
func pull(t *testing.T, file string, night int, scenario string) {
	t.Helper()
	c := terminal.Console{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Getenv: func(string) string { return "" }, Now: time.Now}
	store, err := openstore.Open(t.Context(), c, file)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	r := run.Run{
		Format: run.Format, ID: "pull-7", Started: time.Date(2026, 1, 1+night, 15, 0, 0, 0, time.UTC), App: run.App{Package: "com.example.mail", Version: "2.2"},
		Source: run.Source{Commit: strings.Repeat("f", 40), Ref: "refs/pull/7/merge"}, Scenario: scenario, Session: "pull 7", Status: run.Complete, Warnings: []run.Warning{},
		Context:    map[string]string{"manufacturer": "Google", "model": "Pixel 9", "sdk": "34"},
		Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": 600, "frames.duration_ms": 30}}},
	}
	if _, err := store.Add(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := store.Judge(t.Context(), map[string]run.Judged{"pull-7": {Outcome: "regression"}}); err != nil {
		t.Fatal(err)
	}
}

// links returns the targets of the links in all pages of a folder, as files; fragments are left out.
func links(t *testing.T, site string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(site, func(page string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(page) != ".html" {
			return err
		}
		text, err := os.ReadFile(page)
		for _, found := range regexp.MustCompile(`href="([^"#]+)"`).FindAllStringSubmatch(string(text), -1) {
			out[filepath.Join(filepath.Dir(page), found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Of eighty nights with one step, the newest thirty and both sides of the step have a page of their
// own, and so has a pull request. What earlier days left stays linked, up to 300 pages, and no link
// of the site leads nowhere, whatever the history has lost since.
func TestTrendSiteKeepsRuns(t *testing.T) {
	t.Parallel()
	file, site := nightly(t, 80, 25, "read-mail"), t.TempDir()
	pull(t, file, 60, "read-mail")
	if _, err := trended(t, file, 80, "--site", site); err != nil {
		t.Fatal(err)
	}
	pages, _ := filepath.Glob(filepath.Join(site, "measured", "*", "*.html"))
	if len(pages) != 30+2+1 {
		t.Fatalf("%d pages of runs, want those of 32 nights and a pull request: %v", len(pages), pages)
	}
	for day, wants := range map[string][]string{
		"2026-01-26": {"Accepted on purpose", "+20", "larger &lt;b&gt;previews&lt;/b&gt;, #12", "apkgate baseline show run-025-0", "Pixel 9", "26 Jan 2026 02:00 UTC"},
		"2026-03-02": {"No number changed its level", "Not accepted", "Pull request 7, commit ffffffffff was judged as regression", "refs/pull/7/merge", "version 2.2"},
	} {
		found, _ := filepath.Glob(filepath.Join(site, "measured", "*", day+"-*.html"))
		all := ""
		for _, page := range found {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			all += strings.ReplaceAll(string(text), "\u00a0", " ")
		}
		for _, want := range wants {
			if !strings.Contains(all, want) {
				t.Errorf("%s: %d pages, none with %q", day, len(found), want)
			}
		}
	}
	scenario, err := filepath.Glob(filepath.Join(site, "scenarios", "*.html"))
	if err != nil || len(scenario) != 1 {
		t.Fatalf("%v, %v", scenario, err)
	}
	if text, err := os.ReadFile(scenario[0]); err != nil || !regexp.MustCompile(`<a href="\.\./measured/[^"]+/2026-01-26-[0-9a-f]+\.html"><text [^>]+>▲ \+20`).Match(text) {
		t.Errorf("%v: the step in the picture does not lead to its night", err)
	}
	folder := filepath.Dir(pages[0])
	for day := range 310 {
		name := time.Date(2024, 1, 1+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) + "-00000000.html"
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "mine.html"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, next := range []string{nightly(t, 90, 25, "read-mail"), nightly(t, 8, 99, "send-mail")} {
		if _, err := trended(t, next, 80, "--site", site); err != nil {
			t.Fatal(err)
		}
		for target := range links(t, site) {
			if _, err := os.Stat(target); err != nil {
				t.Errorf("a link leads nowhere: %v", err)
			}
		}
	}
	left, _ := filepath.Glob(filepath.Join(folder, "2024-*.html"))
	if _, err := os.Stat(filepath.Join(folder, "mine.html")); err != nil || len(left) != 300-11 || len(left) > 0 && filepath.Base(left[0]) != "2024-01-22-00000000.html" {
		t.Errorf("%d old pages from %v on (%v), want the newest 289: 11 of the first night's 33 are not written anew", len(left), left[:1], err)
	}
}

// A pull request changes no level of a trend, and is shown as what it is.
func TestTrendShowsPullRequests(t *testing.T) {
	t.Parallel()
	file := nightly(t, 20, 99, "read-mail")
	pull(t, file, 12, "read-mail")
	got, err := trended(t, file, 80)
	if got = strings.ReplaceAll(got, "\u00a0", " "); err != nil || !strings.Contains(got, "Steady:") {
		t.Fatalf("%v\n%s", err, got)
	}
	for _, want := range []string{"Judged, not accepted", "pull request 7", "regression"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	page := filepath.Join(t.TempDir(), "trend.html")
	if _, err := trended(t, file, 80, "--html", page); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), `class="ring worse"`) || !strings.Contains(string(text), "1 build not accepted, the newest") {
		t.Errorf("%v: the pictures have no ring for the pull request", err)
	}
}

func TestTrendMistakes(t *testing.T) {
	t.Parallel()
	file := nightly(t, 3, 99, "read-mail")
	for want, args := range map[string][]string{
		"without --site":  {"--report", "verdict.json"},
		"no accepted run": {"--scenario", "other"},
		"has no findings": {"--sarif", filepath.Join(t.TempDir(), "x.sarif")},
		"want NAME=VALUE": {"--where", "model"},
		"want one of":     {"--format", "x"},
	} {
		if _, err := trended(t, file, 80, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
	if got, err := trended(t, file, 80); err != nil || !strings.Contains(got, "Too short: 3 nights so far") {
		t.Errorf("of three nights: %v\n%s", err, got)
	}
}
