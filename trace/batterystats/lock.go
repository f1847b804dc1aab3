package batterystats

import (
	"regexp"
	"strconv"
	"strings"
)

const duration = `((?:\d+d )?(?:\d+h )?(?:\d+m )?(?:\d+s )?\d+ms)`

var (
	// A wakelock's name may contain colons, spaces and digits.
	kernelLock  = regexp.MustCompile(`^Kernel Wake lock (.*): ` + duration + ` \((\d+) times\)`)
	partialLock = regexp.MustCompile(`^Wake lock (\S+) (.*): ` + duration + ` \((\d+) times\)`)
	uidLock     = regexp.MustCompile(`^Wake lock (.*?): ` + duration + ` (?:full|partial|window|background partial) \(`)
	heldAs      = regexp.MustCompile(duration + ` (full|partial|window|background partial) \((\d+) times\)`)
)

// readListedLock parses a line of "All kernel wake locks" or "All partial wake locks". A lock that
// was never held has no time, and is skipped.
func (p *Period) readListedLock(text string) {
	if m := kernelLock.FindStringSubmatch(text); m != nil {
		p.addLock(0, "", strings.TrimSpace(m[1]), Kernel, m[2], m[3])
		return
	}
	if m := partialLock.FindStringSubmatch(text); m != nil {
		if id, ok := ParseUID(m[1]); ok {
			p.addLock(id, FormatUID(id), m[2], Partial, m[3], m[4])
		}
	}
}

// readUIDLock parses "Wake lock NAME: 20s full (1 times), 406ms partial (22 times) max=281, 1s
// 548ms background partial (22 times) realtime".
func (p *Period) readUIDLock(u *UID, text string) {
	m := uidLock.FindStringSubmatch(text)
	if m == nil {
		return
	}
	for _, held := range heldAs.FindAllStringSubmatch(text[len("Wake lock ")+len(m[1]):], 4) {
		if kind := LockKind(held[2]); kind == Full || kind == Partial || kind == Window {
			p.addLock(u.UID, u.Name, m[1], kind, held[1], held[3])
		}
	}
}

func (p *Period) addLock(uid int, uidName, name string, kind LockKind, held, count string) {
	ms, _, ok := cutDuration(held)
	n, err := strconv.ParseInt(count, 10, 64)
	if ok && err == nil {
		p.addWakelock(Wakelock{UID: uid, UIDName: uidName, Name: name, Kind: kind, HeldMS: ms, Count: n})
	}
}
