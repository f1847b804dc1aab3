package gitbranch

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// A segment is ended at this size: large enough to compress well, small enough to be read at once.
const (
	segmentLines = 2_000
	segmentBytes = 16 << 20 // before compression
)

// nameOf returns the path of the segment with that content.
func nameOf(folder string, data []byte) string {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:20])
	return folder + "/" + name[:1] + "/" + name[1:] + ".jsonl.zst"
}

// checkName checks that the content matches the path's name.
func checkName(path string, data []byte) error {
	folder, _, _ := strings.Cut(path, "/")
	if nameOf(folder, data) != path {
		return errors.New("its content is not what its name says")
	}
	return nil
}

var packer = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
})

// packing makes segments of lines.
type packing struct {
	folder string
	files  []file
	lines  int
	buf    []byte
}

func (p *packing) add(line []byte) {
	p.buf = append(p.buf, line...)
	p.lines++
	if p.lines >= segmentLines || len(p.buf) >= segmentBytes {
		p.flush()
	}
}

func (p *packing) flush() []file {
	if p.lines > 0 {
		data := packer().EncodeAll(p.buf, nil)
		p.files = append(p.files, file{path: nameOf(p.folder, data), data: data})
		p.buf, p.lines = p.buf[:0], 0
	}
	return p.files
}

// runsOf reads a segment of runs. What comes before an error is sound.
func runsOf(data []byte) iter.Seq2[run.Run, error] { return runstore.ReadJSONL(bytes.NewReader(data)) }

// markFormat is the format and version of a line with a mark.
const markFormat = "apkgate.mark/1"

// markLine is a mark as a line of a segment.
type markLine struct {
	Format string         `json:"format"`
	Run    string         `json:"run"`    // the run's whole id
	Digest string         `json:"digest"` // the run's digest: the mark is of no other run of that id
	State  runstore.State `json:"state"`
	At     time.Time      `json:"at"`
	Since  time.Time      `json:"since,omitzero"`
	Note   string         `json:"note,omitempty"`
	Batch  string         `json:"batch,omitempty"`
}

func (l markLine) mark() runstore.Mark {
	return runstore.Mark{State: l.State, At: l.At, Since: l.Since, Note: l.Note, Batch: l.Batch}
}

func (l markLine) encode() ([]byte, error) {
	l.Format = markFormat
	data, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("encode the mark of run %q: %w", l.Run, err)
	}
	return append(data, '\n'), nil
}

// Limits of a segment of marks or outcomes.
const (
	maxMarkLine = 64 << 10 // a note of run.MaxText may be six times as long in JSON
	maxMarks    = 64 << 20 // bytes when expanded
)

// marksOf reads a segment of marks. What comes before an error is sound.
func marksOf(data []byte) ([]markLine, error) { return linesOf(data, parseMark) }

// linesOf reads the lines of a segment that is not of runs. What comes before an error
// is sound.
func linesOf[T any](data []byte, parse func(line []byte) (T, error)) (lines []T, err error) {
	z, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxMarks))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	plain := &io.LimitedReader{R: z, N: maxMarks}
	in := bufio.NewScanner(plain)
	in.Buffer(nil, maxMarkLine)
	for in.Scan() {
		l, err := parse(in.Bytes())
		if err != nil {
			return lines, fmt.Errorf("line %d: %w", len(lines)+1, err)
		}
		lines = append(lines, l)
	}
	switch {
	case errors.Is(in.Err(), bufio.ErrTooLong):
		return lines, fmt.Errorf("line %d: it is longer than %d KiB", len(lines)+1, maxMarkLine>>10)
	case plain.N == 0:
		return lines, fmt.Errorf("it expands to more than %d MiB", maxMarks>>20)
	}
	return lines, in.Err()
}

func parseMark(line []byte) (markLine, error) {
	var l markLine
	if !utf8.Valid(line) {
		return l, errors.New("the mark is not valid UTF-8")
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return l, fmt.Errorf("the mark is not valid JSON: %w", err)
	}
	switch {
	case l.Format != markFormat:
		return l, fmt.Errorf("format is %.40q, want %q", l.Format, markFormat)
	case !isDigest(l.Digest):
		return l, fmt.Errorf("digest is %.80q, want a SHA-256 in lower-case hexadecimal", l.Digest)
	case l.Run == "":
		return l, errors.New("run is missing")
	case l.At.IsZero():
		return l, errors.New("at is missing")
	}
	l.At, l.Since = l.At.UTC(), l.Since.UTC()
	if l.Note == "baseline refresh" && l.Batch == "" { // written before marks had a batch
		l.Batch = "refresh " + l.At.Format(time.RFC3339Nano)
	}
	return l, l.mark().Check()
}

func isDigest(s string) bool {
	digest, err := hex.DecodeString(s)
	return err == nil && len(digest) == sha256.Size && strings.ToLower(s) == s
}

// inOrder compares marks by when they were made; of equals, by their content, so that every reader
// gets the same result.
func inOrder(a, b markLine) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.State, b.State), a.Since.Compare(b.Since),
		cmp.Compare(a.Note, b.Note), cmp.Compare(a.Batch, b.Batch), cmp.Compare(a.Run, b.Run))
}

// outcomeFormat is the format and version of a line with an outcome.
const outcomeFormat = "apkgate.outcome/1"

// outcomeLine is an outcome of a run as a line of a segment.
type outcomeLine struct {
	Format  string    `json:"format"`
	Run     string    `json:"run"`    // the run's whole id
	Digest  string    `json:"digest"` // the run's digest: the outcome is of no other run of that id
	Outcome string    `json:"outcome"`
	At      time.Time `json:"at"`
}

func (l outcomeLine) judged() run.Judged { return run.Judged{Outcome: l.Outcome, At: l.At.UTC()} }

func (l outcomeLine) encode() ([]byte, error) {
	l.Format = outcomeFormat
	data, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("encode the outcome of run %q: %w", l.Run, err)
	}
	return append(data, '\n'), nil
}

// outcomesOf reads a segment of outcomes. What comes before an error is sound.
func outcomesOf(data []byte) ([]outcomeLine, error) { return linesOf(data, parseOutcome) }

func parseOutcome(line []byte) (outcomeLine, error) {
	var l outcomeLine
	if !utf8.Valid(line) {
		return l, errors.New("the outcome is not valid UTF-8")
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return l, fmt.Errorf("the outcome is not valid JSON: %w", err)
	}
	switch {
	case l.Format != outcomeFormat:
		return l, fmt.Errorf("format is %.40q, want %q", l.Format, outcomeFormat)
	case !isDigest(l.Digest):
		return l, fmt.Errorf("digest is %.80q, want a SHA-256 in lower-case hexadecimal", l.Digest)
	case l.Run == "":
		return l, errors.New("run is missing")
	}
	return l, l.judged().Check()
}
