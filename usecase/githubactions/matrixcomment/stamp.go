package matrixcomment

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/gate"
)

// stampOpens begins the hidden first line of every comment that apkgate writes.
const stampOpens = "<!-- apkgate:v1 "

// Stamp is the hidden first line of a comment: its configuration and its run.
type Stamp struct {
	Config  string // the configuration's name; one comment a name
	Run     RunRef
	Head    string       // the commit that was measured
	Outcome gate.Outcome // "" if there is none, or it is unknown
	Job     string       // as of a Row
	sum     string       // as of a Row
	legs    Legs
}

// String returns the hidden line. The name is percent-encoded, so that it can't end the HTML
// comment or begin another field.
func (s Stamp) String() string {
	legs := ""
	if l := s.legs.encoded(); l != "" {
		legs = " legs=" + l
	}
	return fmt.Sprintf("%sconfig=%s run=%d number=%d attempt=%d head=%s sum=%s verdict=%s job=%s%s -->", stampOpens,
		encodeName(s.Config), s.Run.ID, s.Run.Number, s.Run.Attempt, s.Head, s.sum, s.Outcome, encodeName(s.Job), legs)
}

func encodeName(name string) string { return strings.ReplaceAll(url.QueryEscape(name), "--", "%2D%2D") }

// readStamp parses the first line of a comment; ok is false if it has no stamp. A stamp of an
// earlier version has neither verdict nor job.
func readStamp(body string) (s Stamp, ok bool) {
	line, _, _ := strings.Cut(body, "\n")
	fields, ok := hidden(line, stampOpens)
	if !ok {
		return s, false
	}
	name, err := url.QueryUnescape(fields["config"])
	if err != nil {
		return s, false
	}
	return Stamp{
		Config: name, Head: fields["head"], Outcome: gate.Outcome(fields["verdict"]), Job: fields["job"], sum: fields["sum"], legs: decodedLegs(fields["legs"]),
		Run: RunRef{Number(fields["run"]), Number(fields["number"]), Number(fields["attempt"])},
	}, name != ""
}

// compare orders stamps by their relevance to the current pull request: its head commit goes first,
// then the later run, then the later attempt. head is "" if unknown.
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

// RunRef orders runs of workflows: GitHub's run ids only grow, and a re-run keeps its id and number
// and counts attempts.
type RunRef struct{ ID, Number, Attempt int64 }

// Number parses a number from GitHub, 0 if it is none.
func Number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
