package hostprogram

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// stat is the relevant part of /proc/PID/stat (proc_pid_stat(5)).
type stat struct {
	state          string // "Z" for a zombie
	group, session int
	start          string // in clock ticks since boot
}

func (s stat) lives() bool { return s.state != "Z" && s.state != "X" }

func statOf(pid string) (stat, error) {
	text, err := readSmall(filepath.Join("/proc", pid, "stat"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		err = ErrNoProcess
	}
	if err != nil {
		return stat{}, err
	}
	return parseStat(text)
}

// parseStat parses a line of /proc/PID/stat. A program's name may contain anything, including
// blanks and parentheses.
func parseStat(text string) (s stat, err error) {
	const stateAt, groupAt, sessionAt, startAt = 3, 5, 6, 22 // as numbered in the manual
	fields := strings.Fields(text[strings.LastIndex(text, ")")+1:])
	if len(fields) <= startAt-stateAt {
		return s, fmt.Errorf("a line of %d fields, want more than %d", len(fields), startAt-stateAt)
	}
	s.state, s.start = fields[0], fields[startAt-stateAt]
	group, err1 := strconv.Atoi(fields[groupAt-stateAt])
	session, err2 := strconv.Atoi(fields[sessionAt-stateAt])
	s.group, s.session = group, session
	return s, errors.Join(err1, err2)
}

// beganAt returns when the process began: clock ticks since boot, and the boot's id.
func beganAt(pid int) (string, error) {
	s, err := statOf(strconv.Itoa(pid))
	if err != nil {
		return "", err
	}
	if !s.lives() {
		return "", ErrNoProcess
	}
	boot, err := readSmall("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return s.start + "@" + strings.TrimSpace(boot), nil
}

// pids returns the numbers of all processes.
func pids() (out []string) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1) // a partial list is used
	for _, name := range names {
		if _, err := strconv.Atoi(name); err == nil {
			out = append(out, name)
		}
	}
	return out
}

// processes returns this user's processes, except for this one.
func processes() (out []Found, err error) {
	for _, name := range pids() {
		var owner syscall.Stat_t
		pid, _ := strconv.Atoi(name)
		if syscall.Stat(filepath.Join("/proc", name), &owner) != nil || int(owner.Uid) != os.Getuid() || pid == os.Getpid() {
			continue
		}
		line, err := readSmall(filepath.Join("/proc", name, "cmdline"))
		if err != nil || line == "" {
			continue // the process has ended, or is the kernel's
		}
		id, err := IDOf(pid)
		if err != nil {
			continue
		}
		out = append(out, Found{id, strings.Split(strings.TrimSuffix(line, "\x00"), "\x00")})
	}
	return out, nil
}

// readSmall reads the first 64 KiB of a file of /proc.
func readSmall(path string) (string, error) {
	const most = 64 << 10
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, most))
	return string(text), err
}
