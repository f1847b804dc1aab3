package baselinecmd

import (
	"context"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// raced is a history in which somebody marks one of the listed runs before they are removed.
type raced struct{ runstore.Store }

func (raced) Prune(_ context.Context, _ runstore.Retention, each func(runstore.Entry) error) (int, error) {
	for _, id := range []string{"old", "older", "marked"} {
		if err := each(runstore.Entry{Run: run.Run{ID: id}}); err != nil {
			return 0, err
		}
	}
	return 2, nil
}

// What is reported as removed is what was removed, and not what was listed.
func TestPruneReportsWhatItRemoved(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := prune(t.Context(), terminal.Console{Stdout: &out}, raced{}, 1, true); err != nil {
		t.Fatal(err)
	}
	want := "2 runs removed\n1 of those listed was not: another command marked or removed it meanwhile\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("it says\n%s, want at the end\n%s", out.String(), want)
	}
}
