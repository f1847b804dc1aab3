package measurement

import (
	"strings"
	"testing"
)

// The command that shows a profile can be pasted into a shell, wherever it is.
func TestProfileCommandIsSafeToPaste(t *testing.T) {
	var out strings.Builder
	p := &profileFiles{dir: "my profiles", wrote: []string{"my profiles/a;b.pb.gz"}}
	if err := p.PrintSummary(&out); err != nil {
		t.Fatal(err)
	}
	if want := "1 profile of methods in my profiles; to look at one: go tool pprof -http=: 'my profiles/a;b.pb.gz'\n"; out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
}
