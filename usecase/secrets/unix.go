//go:build unix

package secrets

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// startAgain replaces this process by the same command line, with this environment, and with the
// data readable from the descriptor that it names.
func startAgain(environment []string, data []byte) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	_ = w.SetWriteDeadline(time.Now().Add(time.Second)) // nobody reads yet: what is not taken at once never is
	_, err = w.Write(data)
	if closeErr := w.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	inherited, err := syscall.Dup(int(r.Fd())) // without close-on-exec
	if err != nil {
		return err
	}
	err = syscall.Exec(self, os.Args, append(environment, handedOver+"="+strconv.Itoa(inherited)))
	_ = syscall.Close(inherited)
	return err
}

func readSecrets(descriptor string) (map[string]string, error) {
	fd, err := strconv.ParseUint(descriptor, 10, 16)
	if err != nil || fd <= 2 {
		return nil, fmt.Errorf("%s is %q, want a file descriptor", handedOver, prose.Short(descriptor))
	}
	f := os.NewFile(uintptr(fd), "secrets")
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSecrets))
	if err != nil {
		return nil, err
	}
	secrets := map[string]string{}
	err = json.Unmarshal(data, &secrets)
	return secrets, err
}
