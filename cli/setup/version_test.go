package setup

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/internal/version"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	facts := version.Facts{Version: "v1.2.3", Commit: "4b1c", Modified: true, Go: "go1.25", Platform: "linux/amd64"}
	var out bytes.Buffer
	if err := printVersion(terminal.Console{Stdout: &out}, facts, output.FormatText); err != nil {
		t.Fatal(err)
	}
	if want := "apkgate   v1.2.3\ncommit    4b1c with changes\ngo        go1.25\nplatform  linux/amd64\nformats   apkgate.run/1, apkgate.verdict/1\n"; out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
	out.Reset()
	if err := printVersion(terminal.Console{Stdout: &out}, facts, output.FormatJSON); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got["format"] != "apkgate.version/1" || got["version"] != "v1.2.3" || got["modified"] != true {
		t.Errorf("%v, %v", got, err)
	}
	if _, has := got["time"]; has {
		t.Errorf("a time that is not known: %v", got)
	}
}
