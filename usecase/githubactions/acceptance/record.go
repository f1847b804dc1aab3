// Package acceptance is what a check run records of a verdict for programs, and a person's decision
// that what got worse is intended.
//
// It owns the record's format, which decisions cover which later findings, and the text of commands
// in comments, labels and commits. It reads and posts nothing, which belongs to package
// githubactions. Only an app's token can write a check run, so that a record is as trustworthy as
// whoever may run workflows with a token that writes; what a comment or a commit says is not.
package acceptance

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
)

// Format is the format and version of a record (docs/format/judged.md).
const Format = "apkgate.judged/1"

// Record is a verdict on one commit, as its check run keeps it for commands and for the refresh of
// the main branch.
type Record struct {
	Format   string       `json:"format"`
	Config   string       `json:"config"`
	Leg      string       `json:"leg,omitempty"`
	Head     string       `json:"head"` // the commit that was judged
	Pull     int          `json:"pull"`
	Run      int64        `json:"run"` // of the workflow
	Attempt  int64        `json:"attempt"`
	Outcome  gate.Outcome `json:"outcome"`
	Findings []Finding    `json:"findings,omitempty"`
	// More counts the findings that are left out of the list.
	More     int       `json:"more,omitempty"`
	Accepted *Accepted `json:"accepted,omitempty"`
	// Why is who asked for a longer recording of both builds in the next attempt, "" if no one did.
	Why string `json:"why,omitempty"`
}

// Accepted is a person's decision.
type Accepted struct {
	By     string    `json:"by"` // their login
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	URL    string    `json:"url,omitempty"` // of the comment
	How    How       `json:"how"`
}

// How is where a decision was made.
type How string

// The places of decisions.
const (
	ByComment How = "comment"
	ByLabel   How = "label"
	ByCommit  How = "commit"
)

// Limits of a record.
const (
	maxText     = 60_000 // bytes, of the 65,535 characters of a check run's text
	maxFindings = 300
	MaxReason   = 300 // characters
)

// The hidden line around a record: encoding/json escapes ">", so that nothing in it ends the
// comment of HTML.
const (
	opens  = "<!-- apkgate:judged "
	closes = " -->"
)

// Text returns the record as a hidden line of Markdown. Findings that don't fit are counted.
func (r Record) Text() (string, error) {
	r.Format = Format
	for keep := min(len(r.Findings), maxFindings); ; keep /= 2 {
		cut := r
		cut.More += len(r.Findings) - keep
		cut.Findings = r.Findings[:keep]
		data, err := json.Marshal(cut)
		if err != nil {
			return "", fmt.Errorf("encode the record of a verdict: %w", err)
		}
		if len(data) <= maxText || keep == 0 {
			return opens + string(data) + closes, nil
		}
	}
}

// Read parses a check run's text; ok is false if it has no record of a known format.
func Read(text string) (r Record, ok bool) {
	_, rest, found := strings.Cut(text, opens)
	data, _, closed := strings.Cut(rest, closes)
	if !found || !closed || len(data) > maxText+1024 || json.Unmarshal([]byte(data), &r) != nil || r.Format != Format {
		return Record{}, false
	}
	if len(r.Findings) > maxFindings {
		return Record{}, false
	}
	if a := r.Accepted; a != nil {
		a.Reason, a.By = Reason(a.Reason), prose.Clip(prose.OneLine(a.By), 80)
	}
	return r, true
}

// Reason returns the reason in one line of at most MaxReason characters.
func Reason(text string) string {
	return prose.Clip(prose.OneLine(strings.ToValidUTF8(text, "\uFFFD")), MaxReason)
}

// Note describes the decision in one line, for the history and for reports.
func (r Record) Note() string {
	a := r.Accepted
	if a == nil {
		return ""
	}
	note := fmt.Sprintf("accepted by %s in pull request %d at %.10s", a.By, r.Pull, r.Head)
	if !a.At.IsZero() {
		note += " on " + a.At.UTC().Format("2 January 2006")
	}
	note += ": " + a.Reason
	var levels []string
	for _, f := range r.Findings {
		if !f.Suspect {
			levels = append(levels, f.String())
		}
	}
	if len(levels) > 0 {
		note += " (" + prose.Few(levels, 5) + ")"
	}
	return note
}
