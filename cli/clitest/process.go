package clitest

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli"
)

// CommandLine is the variable by which a test that needs apkgate as a process starts its own binary
// as apkgate: with a command line in it, one word a line.
const CommandLine = "APKGATE_TEST_COMMAND_LINE"

// AsApkgate is the first argument by which a test starts its own binary as apkgate, with the command
// line after it. A command of the action needs it: it executes itself again without unknown
// variables.
const AsApkgate = "as-apkgate"

func init() {
	if len(os.Args) > 1 && os.Args[1] == AsApkgate {
		os.Exit(cli.Main(cli.Process(), os.Args[2:]))
	}
	if words := os.Getenv(CommandLine); words != "" {
		os.Unsetenv(CommandLine) // its children are something else
		os.Exit(cli.Main(cli.Process(), strings.Split(words, "\n")))
	}
}

// Start starts apkgate as a process, and returns its standard error.
func Start(t *testing.T, args ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{AsApkgate}, args...)...)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, said
}
