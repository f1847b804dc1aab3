package actions

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
)

// stampOpens begins the hidden first line of every comment that apkgate writes.
const stampOpens = "<!-- apkgate:v1 "

// Stamp is what a comment hides in its first line: whose it is, and which run's.
type Stamp struct {
	Config string // the configuration's name; one comment a name
	Run    RunRef
	Head   string // the commit that was measured
	sum    string // of the text below, so that a comment can be told from another
}

// over returns the text with the stamp above it.
func (s Stamp) over(text string) (body string, stamped Stamp) {
	digest := sha256.Sum256([]byte(text))
	s.sum = hex.EncodeToString(digest[:8])
	return s.String() + "\n" + text, s
}

// String is the hidden line. The name is percent-encoded, so that it can't end
// the HTML comment or begin another field.
func (s Stamp) String() string {
	return fmt.Sprintf("%sconfig=%s run=%d number=%d attempt=%d head=%s sum=%s -->", stampOpens,
		encodeName(s.Config), s.Run.ID, s.Run.Number, s.Run.Attempt, s.Head, s.sum)
}

func encodeName(name string) string { return strings.ReplaceAll(url.QueryEscape(name), "--", "%2D%2D") }

// readStamp reads the first line of a comment; ok is false where it bears no
// stamp. Fields that a later version may add are passed over.
func readStamp(body string) (s Stamp, ok bool) {
	line, _, _ := strings.Cut(body, "\n")
	fields, closed := strings.CutSuffix(strings.TrimSpace(line), " -->")
	fields, opened := strings.CutPrefix(fields, stampOpens)
	if !opened || !closed {
		return s, false
	}
	for field := range strings.FieldsSeq(fields) {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "config":
			name, err := url.QueryUnescape(value)
			if err != nil {
				return s, false
			}
			s.Config = name
		case "run":
			s.Run.ID = number(value)
		case "number":
			s.Run.Number = number(value)
		case "attempt":
			s.Run.Attempt = number(value)
		case "head":
			s.Head = value
		case "sum":
			s.sum = value
		}
	}
	return s, s.Config != ""
}

// compare orders stamps by how much they have to say about the pull request as
// it is now: its head commit goes first, then the later run, then the later
// attempt. head is "" where it is not known.
func (s Stamp) compare(t Stamp, head string) int {
	current := func(x Stamp) int {
		if head != "" && x.Head == head {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(current(s), current(t)),
		cmp.Compare(s.Run.ID, t.Run.ID),
		cmp.Compare(s.Run.Attempt, t.Run.Attempt),
	)
}
