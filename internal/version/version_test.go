package version

import (
	"runtime/debug"
	"testing"
)

func TestFacts(t *testing.T) {
	t.Parallel()
	got := factsOf(&debug.BuildInfo{
		Main:     debug.Module{Version: "v1.2.3"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "4b1c"}, {Key: "vcs.time", Value: "2026-11-27T19:00:00Z"}, {Key: "vcs.modified", Value: "true"}},
	})
	if got.Version != "v1.2.3" || got.Commit != "4b1c" || got.Time != "2026-11-27T19:00:00Z" || !got.Modified || got.Go == "" || got.Platform == "" {
		t.Errorf("%+v", got)
	}
	if got := factsOf(nil); got.Version != "(unknown version)" || got.Commit != "" {
		t.Errorf("without build information: %+v", got)
	}
}
