package postgres

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/baseline/internal/records"
	"github.com/apkgate/apkgate/run"
)

// maxID is how long a run's id may be: an index of PostgreSQL takes no more than
// some 2,700 bytes.
const maxID = 1_000

// newRecord makes the record of a run whose id the database can take.
func newRecord(r run.Run) (records.Record, error) {
	rec, err := records.New(r)
	if err == nil && len(rec.Run.ID) > maxID {
		err = fmt.Errorf("its id has %d bytes, a history in PostgreSQL takes at most %d", len(rec.Run.ID), maxID)
	}
	return rec, err
}

// PostgreSQL's text holds no NUL. A text with one, or one that begins like what
// we make of it, is kept in hexadecimal behind a mark.
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
