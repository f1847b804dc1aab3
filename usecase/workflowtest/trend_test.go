package workflowtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nightlyEnded is the event of a nightly run of a branch that came to its end.
func nightlyEnded(branch string) map[string]any {
	return map[string]any{
		"action":       "completed",
		"workflow_run": map[string]any{"id": 100, "event": "schedule", "conclusion": "failure", "head_branch": branch},
		"repository":   map[string]any{"id": 1, "full_name": owner + "/" + name, "default_branch": "main", "owner": map[string]any{"login": owner}},
	}
}

// The site of the trend is published with the report of a night that was worse, and keeps that when
// the artifact is gone. Another branch publishes nothing.
func TestTrendIsPublished(t *testing.T) {
	r := newRepository(t, "mail-good")
	night := filepath.Join(r.artifacts, "apkgate-report")
	r.write(filepath.Join(night, "verdict.json"), `{"format":"apkgate.refresh/1","verdict":"regression","accepted":[],"refused":[{"id":"x1","verdict":"regression","reason":"scrolling takes longer"}],"drift":[],"warnings":[]}`)
	if j := r.run("trend.yml", "workflow_run", nightlyEnded("faster")); j.failed || strings.Contains(j.log, "Job succeeded") {
		t.Errorf("a branch publishes:\n%s", j.log)
	}
	pages := filepath.Join(r.artifacts, "github-pages")
	for i, event := range []string{"workflow_run", "workflow_dispatch"} {
		j := r.run("trend.yml", event, nightlyEnded("main"), "GITHUB_RUN_ID="+[]string{"200", "201"}[i])
		if j.failed || j.outputs["page_url"] != "https://acme.example/mail/" {
			t.Fatalf("%s: failed is %v, and published is %q", event, j.failed, j.outputs["page_url"])
		}
		reports, _ := filepath.Glob(filepath.Join(pages, "runs", "*.html"))
		nights, _ := filepath.Glob(filepath.Join(pages, "measured", "*", "*.html"))
		if len(reports) != 1 || len(nights) == 0 {
			t.Fatalf("%s: reports %v and nights %v, want one report", event, reports, nights)
		}
		contains(t, "the index", r.read(filepath.Join(pages, "index.html")), `href="runs/`+filepath.Base(reports[0]), "read-mail", "The devices are simulated")
		contains(t, "the report", r.read(reports[0]), "scrolling takes longer")
		for _, gone := range []string{night, pages, filepath.Join(r.dir, "site"), filepath.Join(r.dir, "apkgate-report")} {
			if err := os.RemoveAll(gone); err != nil {
				t.Fatal(err)
			}
		}
	}
	if kept := files(t, r.cache); strings.Join(kept, " ") != "apkgate-trend-200 apkgate-trend-201" {
		t.Errorf("kept are %q", kept)
	}
}
