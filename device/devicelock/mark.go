package devicelock

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device"
)

// Marks are files on the device, one for each process that uses it or is about to (see
// docs/collection/device.md, "One at a time"):
//
//	apkgate-owner/1
//	8f14e45f-ceea-467f-a5c3-0a1b2c3d4e5f    /proc/sys/kernel/random/boot_id
//	734.25 2276.18                          /proc/uptime: when it was written
//	owner 6WQ2… 300 doing=…&host=…          its name, its lease in s, and its owner
//	794.31 2462.36                          when it was renewed
//	lease 4200                              the lease from here on
//
// A mark without an owner line is incomplete: its writer has not yet read the other marks.
const (
	markFormat = "apkgate-owner/1"
	markPrefix = DeviceFolder + "/apkgate-owner."
	bootFile   = "/proc/sys/kernel/random/boot_id"
	uptimeFile = "/proc/uptime" // CLOCK_BOOTTIME: it includes sleep, and can't be set
)

// DeviceFolder is writable for adb's shell on every Android, and survives a restart.
const DeviceFolder = "/data/local/tmp"

// How long a mark is valid after a renewal, and how often it is renewed.
const (
	Lease      = 5 * time.Minute
	RenewEvery = time.Minute
)

// mark is a parsed mark.
type mark struct {
	boot  string // "": not reported
	beat  time.Duration
	name  string // "": incomplete
	lease time.Duration
	owner Owner
}

// counts reports whether the mark's owner is using the device at the given uptime, as seen by
// the holder of the lock.
func (m mark) counts(boot string, now time.Duration, lock string) bool {
	gone := lock != "" && m.owner.Lock == lock
	return m.name != "" && m.boot == boot && (now-m.beat).Abs() <= m.lease && !gone
}

var (
	bootLine   = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	uptimeLine = regexp.MustCompile(`^(\d{1,10})(?:\.(\d\d))? \d+`)
	ownerLine  = regexp.MustCompile(`^owner ([A-Z2-7]{1,40}) (\d{1,6}) (\S+)$`)
	leaseLine  = regexp.MustCompile(`^lease (\d{1,6})$`)
)

// maxMarks limits how many marks are read.
const maxMarks = 200

// seen is the state of a device's marks.
type seen struct {
	boot  string
	now   time.Duration
	known bool // the device reports its uptime
	marks []mark
	rest  []byte // the output after the marks
}

// restLine separates the marks from the output of other commands.
const restLine = "apkgate-rest"

// listMarks returns the command that prints the uptime and all marks, followed by more.
func listMarks(more string) string {
	return "{ cat " + bootFile + "; cat " + uptimeFile + "; cat " + markPrefix + "*; } 2>/dev/null; echo " + restLine + "; " + more
}

// readMarks parses the output of look.
func readMarks(text []byte) (s seen) {
	before, rest, _ := bytes.Cut(text, []byte(restLine+"\n"))
	s.rest = rest
	for line := range strings.Lines(strings.ReplaceAll(string(before), "\r", "")) {
		line = strings.TrimSuffix(line, "\n")
		if line == markFormat {
			if len(s.marks) == maxMarks {
				break
			}
			s.marks = append(s.marks, mark{})
		} else if len(s.marks) == 0 {
			s.head(line)
		} else {
			s.marks[len(s.marks)-1].read(line)
		}
	}
	return s
}

func (s *seen) head(line string) {
	if bootLine.MatchString(line) {
		s.boot = line
	} else if at, ok := uptime(line); ok {
		s.now, s.known = at, true
	}
}

func (m *mark) read(line string) {
	if at, ok := uptime(line); ok {
		m.beat = at
	} else if bootLine.MatchString(line) {
		m.boot = line
	} else if f := ownerLine.FindStringSubmatch(line); f != nil {
		m.name, m.lease, m.owner = f[1], seconds(f[2]), decodeOwner(f[3])
	} else if f := leaseLine.FindStringSubmatch(line); f != nil {
		m.lease = seconds(f[1])
	}
}

func uptime(line string) (time.Duration, bool) {
	f := uptimeLine.FindStringSubmatch(line)
	if f == nil {
		return 0, false
	}
	hundredths, _ := strconv.Atoi(f[2])
	return seconds(f[1]) + time.Duration(hundredths)*10*time.Millisecond, true
}

func seconds(digits string) time.Duration {
	n, _ := strconv.ParseInt(digits, 10, 34)
	return time.Duration(n) * time.Second
}

// inSeconds formats a lease for a mark, rounded up.
func inSeconds(lease time.Duration) string {
	return strconv.FormatInt(int64((lease+time.Second-1)/time.Second), 10)
}

func pathOf(name string) string { return markPrefix + name }

// write returns the command that writes a mark.
func write(name string, lease time.Duration, o Owner) string {
	line := device.Quote("owner " + name + " " + inSeconds(lease) + " " + o.encode())
	return "{ echo " + markFormat + "; cat " + bootFile + "; cat " + uptimeFile + "; echo " + line + "; } 2>/dev/null >" + pathOf(name) + "; "
}
