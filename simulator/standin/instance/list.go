package instance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

// List returns the running instances, by name. The files of killed ones are removed.
func List(folder state.Folder) ([]Running, error) {
	files, err := filepath.Glob(folder.Path(fileOf("*")))
	if err != nil {
		return nil, err
	}
	var list []Running
	for _, file := range files {
		r, err := Find(folder, strings.TrimSuffix(filepath.Base(file), ".json"))
		switch {
		case err == nil:
			list = append(list, r)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return list, nil
}

// Find returns the running instance of that name, or fs.ErrNotExist.
func Find(folder state.Folder, name string) (Running, error) {
	var r Running
	if err := folder.Load(fileOf(name), &r); err != nil {
		return r, err
	}
	if !alive(r.PID) {
		_ = os.Remove(folder.Path(fileOf(name)))
		return r, fmt.Errorf("instance %s, whose process %d was killed: %w", name, r.PID, fs.ErrNotExist)
	}
	return r, nil
}

// End ends an instance and returns when its process has ended. It is killed after patience;
// one that is not running is no error.
func End(folder state.Folder, name string, patience time.Duration) error {
	r, err := Find(folder, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	tell(r.PID)
	for deadline := time.Now().Add(patience); alive(r.PID); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			kill(r.PID)
		}
	}
	_ = os.Remove(folder.Path(fileOf(name)))
	return nil
}

// Kill ends an instance like a crash of its process.
func (r Running) Kill() { kill(r.PID) }

// Detached is the name of the program that runs a detached instance.
const Detached = "apkgate-standin-instance"

// Detach starts an instance in a process of its own, shielded from the caller's signals, and
// returns once its ports are open.
func Detach(folder state.Folder, spec Spec) (Running, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return Running{}, err
	}
	said, err := os.CreateTemp(string(folder), "instance-*.log")
	if err != nil {
		return Running{}, err
	}
	defer said.Close()
	cmd := exec.Command(folder.Path("bin", Detached), string(text))
	cmd.Stderr = said
	cmd.Env = append(os.Environ(), state.Variable+"="+string(folder))
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		return Running{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		if r, err := Find(folder, spec.Name); err == nil && r.PID == cmd.Process.Pid {
			return r, nil
		}
		select {
		case err := <-ended:
			why, _ := os.ReadFile(said.Name())
			return Running{}, fmt.Errorf("start instance %s: %w: %s", spec.Name, err, why)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// Main is the main function of the process that Detach starts.
func Main(args []string) int {
	folder, err := state.FromEnvironment()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	var spec Spec
	if err := json.Unmarshal([]byte(args[0]), &spec); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if err := Run(folder, spec, func(Running) error { return nil }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
