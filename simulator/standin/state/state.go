// Package state is the folder in which the stand-ins of one lab keep what they know of
// each other: which phones run, what they were asked, and how they are to fail.
//
// It knows no program and no phone. It takes a stand: what a test wants to go wrong is a
// file in the folder, so that it can be asked for while programs run, and so that a
// failure that is to happen once has happened once, whichever process met it.
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

// Variable names, in the environment of a stand-in, the folder of its lab. Without it a
// stand-in plays nothing.
const Variable = "APKGATE_STANDIN"

// Folder is the path of such a folder.
type Folder string

// FromEnvironment is the folder that the environment names.
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

// Path is that of a file in the folder.
func (f Folder) Path(names ...string) string {
	return filepath.Join(append([]string{string(f)}, names...)...)
}

// Settings are what the phones of a lab have in common.
type Settings struct {
	Rate    float64       // how many seconds pass on a phone in one of this computer's; 1 unless set
	Boots   time.Duration // how long one takes to boot, by its own clock; 1 s unless set
	Profile string        // the simulated phone that boots where a tool knows none that fits better
}

const settingsFile = "settings.json"

// Configure changes the settings for the phones that boot from now on.
func (f Folder) Configure(s Settings) error { return f.Save(settingsFile, s) }

// Settings are those of the lab.
func (f Folder) Settings() (Settings, error) {
	var s Settings
	if err := f.Load(settingsFile, &s); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	s.Rate, s.Boots = cmp.Or(s.Rate, 1), cmp.Or(s.Boots, time.Second)
	s.Profile = cmp.Or(s.Profile, "sdk-gphone64-x86-android-14")
	return s, nil
}

// Always is how often something fails that fails until it is mended.
const Always = -1

// Fail has what the word names go wrong so many times.
func (f Folder) Fail(word string, times int) error {
	return f.write(f.failure(word), []byte(strconv.Itoa(times)))
}

// Mend takes back a Fail.
func (f Folder) Mend(word string) error {
	if err := os.Remove(f.failure(word)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Fails reports whether what the word names goes wrong now, which is counted.
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

// Call is one start of a stand-in.
type Call struct {
	Program string   `json:"program"`
	Args    []string `json:"args"`
}

// Note adds a call to those of the lab.
func (f Folder) Note(c Call) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(f.Path("calls.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n')) // one write: lines of two processes don't mix
	return errors.Join(err, file.Close())
}

// Calls are all starts of stand-ins, in their order.
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

// Save writes a value as a file of the folder, whole or not at all.
func (f Folder) Save(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return f.write(f.Path(name), data)
}

// Load reads a value that was saved; fs.ErrNotExist says that none was.
func (f Folder) Load(name string, value any) error {
	data, err := os.ReadFile(f.Path(name))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, value)
}

// Locked does something while no other process of the lab is in its own Locked of the
// same name.
func (f Folder) Locked(name string, do func() error) error {
	lock := f.lock(name + ".lock")
	defer lock.Close()
	return do()
}

// lock waits for a file's lock, which goes with its holder.
func (f Folder) lock(name string) *os.File {
	for {
		file, err := filelock.Lock(f.Path(name))
		if err == nil {
			return file
		}
		if !errors.Is(err, filelock.ErrHeld) {
			return nil // the folder is gone: so is all that a lock could keep apart
		}
		time.Sleep(time.Millisecond)
	}
}

// Own marks the lab as this process's for as long as that lives. The lock is held until
// it is closed.
func (f Folder) Own() (*os.File, error) { return filelock.Lock(f.Path("owner.lock")) }

// Gone reports whether nobody has use for the lab any more: its folder is gone, or the
// process that owned it has ended.
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
	// A lab that is gone is not made again by a program that is late.
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
