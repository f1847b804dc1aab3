package demo

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/usecase/terminal"
)

// The commands that the demo suggests can be pasted into a shell, wherever its files are.
func TestFarewellIsSafeToPaste(t *testing.T) {
	var out strings.Builder
	demo{Console: terminal.Console{Stdout: &out}, dir: "/home/a user/it's mine"}.farewell(true, time.Second)
	if want := `cd '/home/a user/it'\''s mine'` + "\n"; !strings.Contains(out.String(), want) {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
}
