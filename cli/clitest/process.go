package clitest

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/usecase/secrets"
)

// CommandLine is the variable by which a test that needs apkgate as a process starts its own binary
// as apkgate: with a command line in it, one word a line.
const CommandLine = "APKGATE_TEST_COMMAND_LINE"

func init() {
	if words := os.Getenv(CommandLine); words != "" {
		args := strings.Split(words, "\n")
		if args[0] != "action" || os.Getenv(secrets.HandedOver) != "" { // it is not about to execute itself again
			os.Unsetenv(CommandLine) // its children are something else
		}
		os.Exit(cli.Main(cli.Process(), args))
	}
}

// Start starts apkgate as a process, and returns its standard error.
func Start(t *testing.T, args ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), CommandLine+"="+strings.Join(args, "\n"))
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, said
}
