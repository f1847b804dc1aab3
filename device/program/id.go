package program

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ID names a process of this computer. The number alone names another process once this
// one has ended.
type ID struct {
	PID int
	// Began is when it was started, as the system tells it; "" where that is not known, and
	// then nothing is stopped by it.
	Began string
}

// String is the form in which a lease notes it: "4711 since 88231@0d4f3a7c".
func (id ID) String() string { return strconv.Itoa(id.PID) + since + id.Began }

const since = " since "

// ParseID reads what String wrote.
func ParseID(text string) (ID, error) {
	number, began, ok := strings.Cut(text, since)
	pid, err := strconv.Atoi(number)
	if !ok || err != nil || pid <= 1 || began == "" {
		return ID{}, fmt.Errorf("read the process %.60q: want its number and when it began, as in %q", text, ID{4711, "88231@0d4f3a7c"})
	}
	return ID{pid, began}, nil
}

// IDOf is the process that has the number now. The error wraps ErrNoProcess where there is
// none.
func IDOf(pid int) (ID, error) {
	began, err := beganAt(pid)
	if err != nil {
		return ID{}, fmt.Errorf("look at the process %d: %w", pid, err)
	}
	return ID{pid, began}, nil
}

// ErrNoProcess says that there is no process of that number, or that it has ended and was
// not yet taken note of.
var ErrNoProcess = errors.New("there is no such process")

// Alive reports whether the process runs.
func (id ID) Alive() bool {
	now, err := IDOf(id.PID)
	return err == nil && id.Began != "" && now == id
}

// Stop asks the process to end, with its group where it began one, kills them after the
// time that they are given for that, and returns once they are proved to be gone. A process
// that is gone is no error.
func (id ID) Stop(within time.Duration) error {
	if !id.Alive() {
		return nil
	}
	if err := groupOf(id.PID).stop(within, func() bool { return !id.Alive() }); err != nil {
		return fmt.Errorf("stop the process %v: %w", id, err)
	}
	return nil
}

// within reports whether something comes to be in that time.
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

// Found is a process of this user with its command line.
type Found struct {
	ID
	Args []string // the program first
}

// Find finds this user's processes, but this one, whose command line has the word in it. A
// shell, an editor or a search with the word is found too: the caller looks at the program.
// The error wraps errors.ErrUnsupported on Windows, where command lines of others can't be
// read without another program.
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
