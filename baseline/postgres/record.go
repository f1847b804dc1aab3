package postgres

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/apkgate/apkgate/run"
)

// maxID is how long a run's id may be: an index of PostgreSQL takes no more than
// some 2,700 bytes.
const maxID = 1_000

// record is a run as the database keeps it: the bytes that its digest is of (its
// JSON without the id), and the same compressed.
type record struct {
	run    run.Run // with its id
	digest []byte
	packed []byte
}

func newRecord(r run.Run) (record, error) {
	plain := r
	plain.ID = ""
	data, err := run.Encode(plain)
	if err != nil {
		return record{}, err
	}
	if len(data) > run.MaxBytes {
		return record{}, fmt.Errorf("the record is larger than %d MiB", run.MaxBytes>>20)
	}
	sum := sha256.Sum256(data)
	if r.ID == "" {
		r.ID = hex.EncodeToString(sum[:])[:16]
	}
	if err := r.Validate(); err != nil {
		return record{}, err
	}
	if len(r.ID) > maxID {
		return record{}, fmt.Errorf("its id has %d bytes, a history in PostgreSQL takes at most %d", len(r.ID), maxID)
	}
	return record{run: r, digest: sum[:], packed: packer().EncodeAll(data, nil)}, nil
}

// openRecord is the run whose compressed bytes these are.
func openRecord(id string, digest, packed []byte) (run.Run, error) {
	data, err := unpacker().DecodeAll(packed, nil)
	if err != nil {
		return run.Run{}, fmt.Errorf("its record can't be decompressed: %w", err)
	}
	if sum := sha256.Sum256(data); !bytes.Equal(sum[:], digest) {
		return run.Run{}, errors.New("its record is not what its digest says")
	}
	r, err := run.Decode(data)
	if err != nil {
		return run.Run{}, fmt.Errorf("its record can't be read: %w", err)
	}
	r.ID = id
	return r, nil
}

// Both are safe for use by several goroutines. The digest tells damage, so that
// zstd need not.
var (
	packer = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<20))
		if err != nil {
			panic(err) // the options are constants
		}
		return e
	})
	unpacker = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(run.MaxBytes))
		if err != nil {
			panic(err) // the options are constants
		}
		return d
	})
)

// stampLayout is how times are kept: UTC and of fixed width, so that they sort
// as text.
const stampLayout = "2006-01-02T15:04:05.000000000Z"

// The edges of what a stamp can say, and what sorts after every stamp.
const (
	firstStamp = "0000-01-01T00:00:00.000000000Z"
	lastStamp  = "9999-12-31T23:59:59.999999999Z"
	afterAll   = "~"
)

func stamp(t time.Time) string {
	t = t.UTC()
	switch {
	case t.Year() < 0:
		return firstStamp
	case t.Year() > 9999:
		return lastStamp
	}
	return t.Format(stampLayout)
}

func parseStamp(s string) (time.Time, error) {
	t, err := time.Parse(stampLayout, s)
	if err != nil {
		return time.Time{}, damaged(fmt.Errorf("a time is %.40q", s))
	}
	return t, nil
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
