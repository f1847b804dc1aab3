package matrixcomment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
)

// Row is one leg of a job matrix in a comment. A job without a matrix has the one leg "".
type Row struct {
	Leg  string // see LegName
	Job  string // distinguishes jobs of one run with the same name; "" if unknown
	Run  RunRef
	Head string // the commit that was measured
	// Outcome is the verdict; "" for none.
	Outcome  gate.Outcome
	Headline string // one line, plain
	Text     string // the report, Markdown
	// Legs are all legs of the matrix, where the job knows them.
	Legs Legs
	sum  string // of the text, to detect changes
}

// Signed returns the row with its text as a comment contains it, and its sum.
func (r Row) Signed() Row {
	r.Text = strings.TrimSpace(r.Text)
	r.Headline = clause(prose.OneLine(r.Headline), mostHeadline)
	digest := sha256.Sum256([]byte(string(r.Outcome) + "\n" + r.Headline + "\n" + r.Text))
	r.sum = hex.EncodeToString(digest[:8])
	return r
}

// Limits of headlines in characters, and the legs from which the lower one holds.
const (
	mostHeadline = 240
	maxHeadline  = 120
	fewLegs      = 20
)

// clause cuts a text at the end of a part of its sentence: an interval is whole or left out.
func clause(s string, most int) string {
	cut := prose.Clip(s, most)
	if cut == s {
		return s
	}
	if i := max(strings.LastIndex(cut, "; "), strings.LastIndex(cut, ", "), strings.LastIndex(cut, " (")); i > len(cut)/3 {
		return cut[:i] + " …"
	}
	return cut
}

// same reports whether two rows are of one job, or of two runs of it.
func (r Row) same(s Row) bool {
	return r.Leg == s.Leg && (r.Run != s.Run || r.Job == s.Job || r.Job == "" || s.Job == "")
}

// says reports whether a row has the same content as another.
func (r Row) says(s Row) bool {
	return r.Leg == s.Leg && r.Run == s.Run && r.Head == s.Head && r.sum == s.sum
}

// newer orders rows of one commit by their runs.
func (r Row) newer(s Row) int {
	return cmp.Or(cmp.Compare(r.Run.ID, s.Run.ID), cmp.Compare(r.Run.Attempt, s.Run.Attempt))
}

// grave orders outcomes, the gravest last. A row without a verdict is graver than a doubt: a
// planned measurement failed.
func grave(o gate.Outcome) int {
	return slices.Index([]gate.Outcome{gate.Pass, gate.Improvement, gate.Inconclusive, "", gate.Invalid, gate.Regression}, o)
}

// rowOpens begins the hidden line above each row of a comment of several.
const rowOpens = "<!-- apkgate:row "

// mark returns the hidden line above a row.
func (r Row) mark() string {
	return fmt.Sprintf("%sleg=%s job=%s run=%d number=%d attempt=%d verdict=%s sum=%s headline=%s -->", rowOpens,
		encodeName(r.Leg), encodeName(r.Job), r.Run.ID, r.Run.Number, r.Run.Attempt, r.Outcome, r.sum, encodeName(r.Headline))
}

// readMark parses a hidden line above a row, of a comment on the commit head.
func readMark(line, head string) (Row, bool) {
	fields, ok := hidden(line, rowOpens)
	if !ok {
		return Row{}, false
	}
	r := Row{
		Head: head, Outcome: gate.Outcome(fields["verdict"]), sum: fields["sum"],
		Run: RunRef{Number(fields["run"]), Number(fields["number"]), Number(fields["attempt"])},
	}
	for field, to := range map[string]*string{"leg": &r.Leg, "job": &r.Job, "headline": &r.Headline} {
		text, err := url.QueryUnescape(fields[field])
		if err != nil {
			return Row{}, false
		}
		*to = text
	}
	return r, true
}

// hidden parses the fields of a hidden line, including unknown ones of a later version, which are
// ignored.
func hidden(line, opens string) (fields map[string]string, ok bool) {
	inner, closed := strings.CutSuffix(strings.TrimSpace(line), " -->")
	inner, opened := strings.CutPrefix(inner, opens)
	if !opened || !closed {
		return nil, false
	}
	fields = map[string]string{}
	for field := range strings.FieldsSeq(inner) {
		key, value, _ := strings.Cut(field, "=")
		fields[key] = value
	}
	return fields, true
}

// legName matches valid names of legs, which appear in comments, in the names of checks and of
// artifacts, and in hidden markers.
var legName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 .,:=+/_-]{0,99}$`)

// LegName returns the name of the leg of a job matrix by the input leg: a name, or the matrix as
// JSON, {"api-level":34,"arch":"x86_64"}, which is named "api-level 34, arch x86_64". "" is a job
// without a matrix.
func LegName(input string) (string, error) {
	input = strings.TrimSpace(input)
	if input == "" || input == "null" {
		return "", nil
	}
	if strings.HasPrefix(input, "{") {
		return matrixName(input)
	}
	if !legName.MatchString(input) {
		return "", fmt.Errorf("the leg's name is %.120q, want up to 100 letters, digits, spaces and . , : = + / _ -", input)
	}
	return input, nil
}

func matrixName(input string) (string, error) {
	var matrix map[string]json.RawMessage
	if err := json.Unmarshal([]byte(input), &matrix); err != nil {
		return "", fmt.Errorf("the leg is %.120q, want a name, or the matrix as a JSON object: %w", input, err)
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(matrix)) {
		parts = append(parts, key+" "+strings.Trim(string(matrix[key]), `"`))
	}
	plain := unfit.ReplaceAllString(strings.Join(parts, ", "), "-")
	if len(plain) <= 100 {
		return plain, nil
	}
	digest := sha256.Sum256([]byte(input)) // what is cut off may be the only difference
	return plain[:90] + " " + hex.EncodeToString(digest[:4]), nil
}

// unfit matches what a leg's name must not contain.
var unfit = regexp.MustCompile(`^[^A-Za-z0-9]+|[^A-Za-z0-9 .,:=+/_-]+`)

// FileName returns a name as a part of the name of a file or an artifact.
func FileName(name string) string {
	return strings.Trim(regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(name, "-"), "-.")
}
