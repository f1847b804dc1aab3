package apkgate_test

import (
	"go/ast"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/metric"
)

// Each metric of the catalogue is written by some code, tested by a test, and described in a
// document.
func TestEachMetricIsMeasuredTestedAndDocumented(t *testing.T) {
	written, tested := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		if s.path == "metric/metric.go" || s.path == "metrics_test.go" {
			continue
		}
		into := written
		if s.test {
			into = tested
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil {
					into[text] = true
				}
			}
			return true
		})
	}
	text := ""
	for _, document := range []string{"docs/collection/metrics.md", "docs/collection/energy.md", "docs/work.md", "docs/format/run.md"} {
		page, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		text += string(page)
	}
	for _, m := range metric.Default().All() {
		// The names of percentiles are derived from the metric's name.
		name, _, _ := strings.Cut(m.Name, ".p5")
		name, _, _ = strings.Cut(name, ".p9")
		if !written[name] {
			t.Errorf("nothing writes the metric %s", m.Name)
		}
		if !tested[m.Name] && !tested[name] {
			t.Errorf("no test names the metric %s", m.Name)
		}
		if !strings.Contains(text, "`"+name) {
			t.Errorf("neither docs/collection/metrics.md, docs/collection/energy.md, docs/work.md nor docs/format/run.md says what the metric %s is", m.Name)
		}
	}
}
