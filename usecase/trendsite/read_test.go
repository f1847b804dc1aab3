package trendsite

import (
	"testing"

	"github.com/apkgate/apkgate/gate/trend"
	"github.com/apkgate/apkgate/runstore"
)

// Only what somebody decided is shown: not the notes of commands that accept runs by themselves.
func TestDecisionOf(t *testing.T) {
	for note, want := range map[string]string{
		"": "", "imported": "", "run --accept": "", "baseline refresh": "", "demo": "",
		"baseline refresh, accepted by kim: larger previews": "accepted by kim: larger previews",
		"larger previews": "larger previews",
	} {
		if got := decisionOf(runstore.Mark{State: runstore.Accepted, Note: note}); got != (trend.Decision{Note: want}) {
			t.Errorf("%q: %+v, want %q", note, got, want)
		}
	}
	if !decisionOf(runstore.Mark{State: runstore.Rebaselined}).NewLevel {
		t.Error("a rebaselined run begins no level")
	}
}
