//go:build unix

package action_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// interrupting is standard error that interrupts the process as a runner does, once a text is
// written.
type interrupting struct {
	bytes.Buffer
	on string
}

func (i *interrupting) Write(p []byte) (int, error) {
	if i.on != "" && bytes.Contains(p, []byte(i.on)) {
		i.on = ""
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	}
	return i.Buffer.Write(p)
}

// The job is cancelled while the explanation is recorded: the verdict is on the pull request
// already, and stays.
func TestActionCancelledWhileExplaining(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	w.changed("demo-slow", waiting)
	w.build("demo-slow")
	w.env["INPUT_BASE_APK"] = "demo-good.apk"
	said := &interrupting{on: "recording 4 rounds"}
	c := terminal.Console{
		Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: said, Now: time.Now,
		Getenv: func(name string) string { return w.env[name] },
		Pause:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	if status := cli.Main(c, []string{"action", "run"}); status != exit.StatusRegression || said.on != "" {
		t.Errorf("status %d\n%s", status, said)
	}
	if c := w.Checks()[0]; c.Conclusion != "failure" || len(c.Annotations) == 0 {
		t.Errorf("the check run is %+v", c)
	}
	contains(t, "the comment", plainly(w.Comments(7)[0].Body), "❌ Regression", "No round of both builds of read-mail", "it was interrupted")
	contains(t, "the outputs", w.read("output"), "regression")
}
