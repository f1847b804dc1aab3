package hostprogram

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ID identifies a process of this computer. The number alone may identify another process
// after this one has ended.
type ID struct {
	PID int
	// Began is when the process was started, in the system's own format. Where it is "" the
	// time is unknown, and the process can't be stopped by its ID.
	Began string
}

// String is the ID's form in a lease: "4711 since 88231@0d4f3a7c".
func (id ID) String() string { return strconv.Itoa(id.PID) + since + id.Began }

const since = " since "

// ParseID parses the output of String.
func ParseID(text string) (ID, error) {
	number, began, ok := strings.Cut(text, since)
	pid, err := strconv.Atoi(number)
	if !ok || err != nil || pid <= 1 || began == "" {
		return ID{}, fmt.Errorf("read the process %.60q: want its number and when it began, as in %q", text, ID{4711, "88231@0d4f3a7c"})
	}
	return ID{pid, began}, nil
}

// IDOf returns the ID of the process that has the number now. The error wraps ErrNoProcess if
// there is none.
func IDOf(pid int) (ID, error) {
	began, err := beganAt(pid)
	if err != nil {
		return ID{}, fmt.Errorf("look at the process %d: %w", pid, err)
	}
	return ID{pid, began}, nil
}

// ErrNoProcess means that no process has the number, or that it is a zombie.
var ErrNoProcess = errors.New("there is no such process")

// Alive reports whether the process is running.
func (id ID) Alive() bool {
	now, err := IDOf(id.PID)
	return err == nil && id.Began != "" && now == id
}

// Stop asks the process to end, together with its group if it leads one, kills them after the
// given time, and returns once they have verifiably ended. A process that has already ended is
// no error.
func (id ID) Stop(within time.Duration) error {
	if !id.Alive() {
		return nil
	}
	if err := groupOf(id.PID).stop(within, func() bool { return !id.Alive() }); err != nil {
		return fmt.Errorf("stop the process %v: %w", id, err)
	}
	return nil
}

// within reports whether the condition becomes true within the longest time.
func within(longest time.Duration, is func() bool) bool {
	const apart = 20 * time.Millisecond
	for until := time.Now().Add(longest); ; time.Sleep(apart) {
		if is() {
			return true
		}
		if time.Now().After(until) {
			return false
		}
	}
}

// Found is a process of this user and its command line.
type Found struct {
	ID
	Args []string // the program first
}

// Find returns this user's processes, except for this one, whose command line contains the
// word. That includes a shell, an editor or a search with the word: the caller must check the
// program. The error wraps errors.ErrUnsupported on Windows, where command lines can't be read
// without another program.
func Find(word string) ([]Found, error) {
	all, err := processes()
	if err != nil {
		return nil, fmt.Errorf("look for processes of %s: %w", word, err)
	}
	var out []Found
	for _, f := range all {
		if strings.Contains(strings.Join(f.Args, "\x00"), word) {
			out = append(out, f)
		}
	}
	return out, nil
}
