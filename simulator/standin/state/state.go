// Package state manages the folder in which the stand-ins of one lab share their state: the
// running phones, the calls of programs, and the failures to simulate.
//
// It knows no program and no phone. A failure to simulate is a file in the folder, so that it
// can be requested while programs are running, and so that a failure that is to happen once
// happens once, whichever process meets it.
package state

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/filelock"
)

// Variable is the environment variable with the folder of a stand-in's lab. Without it a
// stand-in does nothing.
const Variable = "APKGATE_STANDIN"

// Folder is the path of a lab's folder.
type Folder string

// FromEnvironment returns the folder in the environment.
func FromEnvironment() (Folder, error) {
	dir := os.Getenv(Variable)
	if dir == "" {
		return "", fmt.Errorf("this program is a stand-in for tests; %s has to name the folder of its state", Variable)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("read %s: %q is not a folder", Variable, dir)
	}
	return Folder(dir), nil
}

// Path returns the path of a file in the folder.
func (f Folder) Path(names ...string) string {
	return filepath.Join(append([]string{string(f)}, names...)...)
}

// Settings are common to the phones of a lab.
type Settings struct {
	Rate    float64       // phone seconds per second of this computer; 1 by default
	Boots   time.Duration // how long a boot takes, by the phone's own clock; 1 s by default
	Profile string        // the default simulated phone
}

const settingsFile = "settings.json"

// Configure changes the settings of phones that boot from now on.
func (f Folder) Configure(s Settings) error { return f.Save(settingsFile, s) }

// Settings returns the lab's settings.
func (f Folder) Settings() (Settings, error) {
	var s Settings
	if err := f.Load(settingsFile, &s); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	s.Rate, s.Boots = cmp.Or(s.Rate, 1), cmp.Or(s.Boots, time.Second)
	s.Profile = cmp.Or(s.Profile, "sdk-gphone64-x86-android-14")
	return s, nil
}

// Always is the number of times for a failure that lasts until it is mended.
const Always = -1

// Fail makes the named failure happen the given number of times.
func (f Folder) Fail(word string, times int) error {
	return f.write(f.failure(word), []byte(strconv.Itoa(times)))
}

// Mend reverts a Fail.
func (f Folder) Mend(word string) error {
	if err := os.Remove(f.failure(word)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Fails reports whether the named failure happens now, and counts it.
func (f Folder) Fails(word string) bool {
	lock := f.lock("failures.lock")
	defer lock.Close()
	text, err := os.ReadFile(f.failure(word))
	if err != nil {
		return false
	}
	times, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || times == 0 {
		return false
	}
	if times > 0 {
		_ = f.write(f.failure(word), []byte(strconv.Itoa(times-1)))
	}
	return true
}

func (f Folder) failure(word string) string { return f.Path("fails", word) }

// Call is one call of a stand-in.
type Call struct {
	Program string   `json:"program"`
	Args    []string `json:"args"`
}

// Note adds a call to the lab's calls.
func (f Folder) Note(c Call) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(f.Path("calls.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n')) // one write, so that lines of two processes don't mix
	return errors.Join(err, file.Close())
}

// Calls returns all calls of stand-ins, in order.
func (f Folder) Calls() ([]Call, error) {
	text, err := os.ReadFile(f.Path("calls.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var calls []Call
	for line := range strings.Lines(string(text)) {
		var c Call
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			return nil, err
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// Save writes a value as a file in the folder, atomically.
func (f Folder) Save(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return f.write(f.Path(name), data)
}

// Load reads a saved value, or returns fs.ErrNotExist.
func (f Folder) Load(name string, value any) error {
	data, err := os.ReadFile(f.Path(name))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, value)
}

// Locked calls do while no other process of the lab is in its own Locked of the same name.
func (f Folder) Locked(name string, do func() error) error {
	lock := f.lock(name + ".lock")
	defer lock.Close()
	return do()
}

// lock waits for a file's lock, which ends with its holder.
func (f Folder) lock(name string) *os.File {
	for {
		file, err := filelock.Lock(f.Path(name))
		if err == nil {
			return file
		}
		if !errors.Is(err, filelock.ErrHeld) {
			return nil // the folder is gone, and with it everything that the lock protects
		}
		time.Sleep(time.Millisecond)
	}
}

// Own marks the lab as this process's for as long as it lives. The lock is held until it is
// closed.
func (f Folder) Own() (*os.File, error) { return filelock.Lock(f.Path("owner.lock")) }

// Gone reports whether the lab is no longer needed: its folder is gone, or the process that
// owned it has ended.
func (f Folder) Gone() bool {
	owner := f.Path("owner.lock")
	if _, err := os.Stat(owner); err != nil {
		_, err := os.Stat(string(f))
		return err != nil
	}
	file, err := filelock.Lock(owner)
	if err != nil {
		return !errors.Is(err, filelock.ErrHeld)
	}
	_ = file.Close()
	return true
}

func (f Folder) write(path string, data []byte) error {
	// A late program does not recreate a lab that is gone.
	if dir := filepath.Dir(path); dir != string(f) {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
