package postgres

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// maxID is the maximum length of a run's id: an index of PostgreSQL takes no more than about 2,700
// bytes.
const maxID = 1_000

// newRecord returns the record of a run, or an error if the database can't store its id.
func newRecord(r run.Run) (records.Record, error) {
	rec, err := records.New(r)
	if err == nil && len(rec.Run.ID) > maxID {
		err = fmt.Errorf("its id has %d bytes, a history in PostgreSQL takes at most %d", len(rec.Run.ID), maxID)
	}
	return rec, err
}

// PostgreSQL's text can't contain NUL. A text with a NUL, or one that starts with the mark, is
// stored as the mark and its bytes in hexadecimal.
const hexMark = `\x`

func toText(s string) string {
	if strings.IndexByte(s, 0) < 0 && !strings.HasPrefix(s, hexMark) {
		return s
	}
	return hexMark + hex.EncodeToString([]byte(s))
}

func fromText(s string) string {
	digits, ok := strings.CutPrefix(s, hexMark)
	if !ok {
		return s
	}
	data, err := hex.DecodeString(digits)
	if err != nil {
		return s
	}
	return string(data)
}
