package batterystats

import (
	"fmt"
	"strconv"
	"strings"
)

// UIDs by range, within one user (android.os.Process, UserHandle.formatUid).
const (
	perUser       = 100_000
	firstApp      = 10_000
	firstZygote   = 90_000
	firstIsolated = 99_000
	maxUID        = 1<<31 - 1
)

// FormatUID formats a UID as Android's text does: "1000", "u0a86", "u10i3".
func FormatUID(uid int) string {
	user, app := uid/perUser, uid%perUser
	switch {
	case uid < firstApp:
		return strconv.Itoa(uid)
	case app >= firstIsolated:
		return fmt.Sprintf("u%di%d", user, app-firstIsolated)
	case app >= firstApp:
		return fmt.Sprintf("u%da%d", user, app-firstApp)
	default:
		return fmt.Sprintf("u%ds%d", user, app)
	}
}

// ParseUID parses a UID as written in Android's text or checkin form.
func ParseUID(s string) (int, bool) {
	rest, named := strings.CutPrefix(s, "u")
	if !named {
		return parseID(s)
	}
	end := strings.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' })
	if end < 1 {
		return 0, false
	}
	user, ok := parseID(rest[:end])
	kind := strings.TrimRight(rest[end:], "0123456789")
	app, okApp := parseID(rest[end+len(kind):])
	first, known := map[string]int{"a": firstApp, "i": firstIsolated, "ai": firstZygote, "s": 0}[kind]
	uid := user*perUser + first + app
	if !ok || !okApp || !known || first+app >= perUser || uid > maxUID {
		return 0, false
	}
	return uid, true
}

// parseID parses a number that can be a UID or a part of one.
func parseID(s string) (int, bool) {
	v, err := strconv.ParseUint(s, 10, 31)
	return int(v), err == nil
}
