package trace

import (
	"bytes"
	"regexp"
	"slices"
)

// CutShort reports whether a line states that the device aborted the dump of one of the services.
// The text before such a line is incomplete, although dumpsys exits with status 0. A line that
// names no service matches any.
//
//	*** SERVICE 'batterystats' DUMP TIMEOUT (10000ms) EXPIRED ***           Android 8 and later
//	*** SERVICE 'batterystats' DUMP TIMEOUT (10s) EXPIRED ***               Android 7.1
//	*** SERVICE DUMP TIMEOUT EXPIRED ***                                    Android 7.0
//	*** command 'dumpsys -t 60 batterystats' timed out after 60.010s (…)    bug reports
//
// Source: frameworks/native/cmds/dumpsys/dumpsys.cpp and cmds/dumpstate.
func CutShort(line []byte, services ...string) bool {
	message, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("*** "))
	if !ok {
		return false
	}
	if bytes.HasPrefix(message, []byte("SERVICE DUMP TIMEOUT")) {
		return true
	}
	before, _, timedOut := bytes.Cut(message, []byte(" timed out after "))
	if name, _, expired := bytes.Cut(message, []byte("DUMP TIMEOUT")); expired && bytes.HasPrefix(message, []byte("SERVICE ")) {
		before, timedOut = name, true
	}
	if !timedOut {
		return false
	}
	for word := range bytes.FieldsSeq(before) {
		for _, service := range services {
			if string(bytes.Trim(word, "'")) == service {
				return true
			}
		}
	}
	return false
}

// expired matches what dumpsys prints when a service's dump timed out; Android 7.0 does not name
// the service.
var expired = regexp.MustCompile(`(?m)^[ \t]*\*\*\* SERVICE (?:'([\w./-]{1,100})' )?DUMP TIMEOUT\b`)

// AbortedServices returns the services whose dumps the device aborted according to the text, each once,
// "unknown" where the line names none.
func AbortedServices(text []byte) (services []string) {
	if !bytes.Contains(text, []byte("DUMP TIMEOUT")) {
		return nil
	}
	for _, m := range expired.FindAllSubmatch(text, -1) {
		service := string(m[1])
		if service == "" {
			service = "unknown"
		}
		if !slices.Contains(services, service) {
			services = append(services, service)
		}
	}
	return services
}

// ClosesService reports whether a line ends one service's section in a dump of several:
//
//	--------- 0.064s was the duration of dumpsys batterystats, ending at: …   Android 7 and later
//	------ 0.103s was the duration of 'CHECKIN BATTERYSTATS' ------           bug reports
//	[CHECKIN BATTERYSTATS: 0.103s elapsed]                                    older ones
func ClosesService(line []byte) bool {
	return bytes.HasPrefix(line, []byte("------")) && bytes.Contains(line, []byte("s was the duration of ")) ||
		bytes.HasPrefix(line, []byte("[")) && bytes.HasSuffix(line, []byte("s elapsed]"))
}

// UnclosedWarning is the warning about a service's section that no such line ends.
const UnclosedWarning = "the text ends without the line that ends a service's dump since Android 7: it may have been cut, and totals may be too low"
