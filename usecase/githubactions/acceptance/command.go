package acceptance

import (
	"strings"
)

// Verb is what someone asks for in a comment.
type Verb string

// The verbs.
const (
	Accept Verb = "accept" // takes a reason
	Why    Verb = "why"
	Retry  Verb = "retry"
)

// Label is the label that accepts.
const Label = "apkgate: accept"

// trailer begins the line of a commit's message that accepts.
const trailer = "Apkgate-accept:"

// Parse returns the command of a comment: its first line is "/apkgate" and a verb, at its very
// beginning, so that a quoted or a described command is none. problem says what is wrong with
// something that was meant to be one.
func Parse(body string) (verb Verb, reason, problem string, ok bool) {
	line, _, _ := strings.Cut(strings.ReplaceAll(body, "\r", "\n"), "\n")
	rest, is := strings.CutPrefix(line, "/apkgate")
	if !is || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", "", "", false
	}
	rest = strings.TrimSpace(rest)
	word, reason := rest, ""
	if at := strings.IndexAny(rest, " \t"); at >= 0 {
		word, reason = rest[:at], Reason(strings.TrimSpace(rest[at:]))
	}
	verb = Verb(word)
	switch {
	case verb == Accept && reason == "":
		return verb, "", "it gives no reason: `/apkgate accept REASON`, in one line", true
	case verb != Accept && verb != Why && verb != Retry:
		return "", "", "there is no such command: want `/apkgate accept REASON`, `/apkgate why` or `/apkgate retry`", true
	}
	return verb, reason, "", true
}

// Trailer returns the reason of a commit's message that accepts: of the line "Apkgate-accept: REASON"
// in its last paragraph, where git keeps such lines.
func Trailer(message string) (reason string, ok bool) {
	message = strings.TrimRight(strings.ReplaceAll(message, "\r\n", "\n"), "\n ")
	last := message[strings.LastIndex(message, "\n\n")+1:]
	if !strings.Contains(message, "\n\n") {
		return "", false // the subject alone
	}
	for line := range strings.SplitSeq(last, "\n") {
		if len(line) >= len(trailer) && strings.EqualFold(line[:len(trailer)], trailer) {
			if reason = Reason(strings.TrimSpace(line[len(trailer):])); reason != "" {
				return reason, true
			}
		}
	}
	return "", false
}
