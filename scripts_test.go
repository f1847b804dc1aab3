package apkgate_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// stopsReading matches a pipe into a program that may exit before it has read everything.
var stopsReading = regexp.MustCompile(`\|\s*(head\b|grep\s+(-\w+\s+)*-\w*q|sed\s.*\bq\b)`)

// With set -o pipefail, a program whose reader exits early may die of SIGPIPE, and then fails the
// pipe.
func TestNoScriptStopsReadingAPipe(t *testing.T) {
	scripts, err := filepath.Glob("scripts/*")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	for _, script := range append(scripts, ".ci/run") {
		text, err := os.ReadFile(script)
		if err != nil {
			continue // a folder
		}
		if !strings.Contains(string(text), "pipefail") {
			continue
		}
		for n, line := range strings.Split(string(text), "\n") {
			if stopsReading.MatchString(line) {
				t.Errorf("%s:%d: %s", script, n+1, strings.TrimSpace(line))
			}
		}
	}
}
