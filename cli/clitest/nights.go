package clitest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// NightlyRuns writes a night's runs on three phones, each ms milliseconds a frame times the phone's
// own level and a noise of at most 2 %.
func NightlyRuns(t *testing.T, dir string, n int, ms float64) string {
	t.Helper()
	var b strings.Builder
	for phone := range 3 {
		v := ms * (1 + 0.3*float64(phone)) * (1 + 0.01*float64((n*7+phone*3)%5-2))
		fmt.Fprintf(&b, `{"format":"apkgate.run/1","started":%q,"app":{"package":"a"},"scenario":"s","context":{"model":"phone %d"},"status":"complete","iterations":[{"metrics":{"frames.duration_ms":%g}}]}`+"\n",
			time.Date(2026, 1, 2+n, 3, phone, 0, 0, time.UTC).Format(time.RFC3339), phone, v)
	}
	path := filepath.Join(dir, fmt.Sprintf("night-%d.jsonl", n))
	WriteFile(t, path, b.String())
	return path
}
