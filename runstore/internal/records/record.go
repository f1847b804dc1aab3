// Package records owns what histories in any database have in common: the stored bytes of a run and
// their digest, times as text that sorts, differences from a record, and lists that are read page
// by page.
//
// The record is the run itself. Everything else that a database has about it repeats the record,
// and can be derived from it again.
package records

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// Record is a run as stored in a database: the digest of its JSON without the id, and that JSON
// compressed.
type Record struct {
	Run    run.Run // with its id
	Digest []byte
	Packed []byte
}

// New returns the record of a run. A run without an id is named by its digest.
func New(r run.Run) (Record, error) {
	if r.Explains {
		return Record{}, runstore.ErrExplains
	}
	r = r.Recorded()
	plain := r
	plain.ID = ""
	data, err := run.Encode(plain)
	if err != nil {
		return Record{}, err
	}
	sum := sha256.Sum256(data)
	if r.ID == "" {
		r.ID = hex.EncodeToString(sum[:])[:16]
	}
	if err := r.Validate(); err != nil {
		return Record{}, err
	}
	return Record{Run: r, Digest: sum[:], Packed: packer().EncodeAll(data, nil)}, nil
}

// Renewed returns the record of a stored run as encoded today, and whether it may differ from the
// stored one: times used to be stored in their own time zone, so that one run had as many digests
// as there are zones.
func Renewed(r run.Run) (rec Record, differs bool, err error) {
	if _, offset := r.Started.Zone(); offset == 0 {
		return Record{}, false, nil
	}
	rec, err = New(r)
	return rec, err == nil, err
}

// Open decodes the run of that id from its compressed bytes.
func Open(id string, digest, packed []byte) (run.Run, error) {
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

// EntryOf returns the run of that id as a store returns it, without its mark and the time when it
// was added. A record that does not match its digest is damaged.
func EntryOf(id string, digest, packed []byte) (runstore.Entry, error) {
	r, err := Open(id, digest, packed)
	if err != nil {
		return runstore.Entry{}, Damaged(err)
	}
	return runstore.Entry{Run: r, Digest: hex.EncodeToString(digest), Iterations: len(r.Iterations)}, nil
}

// Conflict returns the error for a run whose id is already stored with another digest.
func Conflict(there, digest []byte) error {
	return fmt.Errorf("%w: its digest is %s, this one's %s", runstore.ErrConflict, hex.EncodeToString(there)[:16], hex.EncodeToString(digest)[:16])
}

// DigestRange returns the range of digests that begin with the hexadecimal digits; for other text
// it is empty.
func DigestRange(digits string) (low, high []byte) {
	const size = 64 // digits of a SHA-256
	if len(digits) > size || strings.Trim(digits, "0123456789abcdef") != "" {
		return []byte{1}, []byte{0}
	}
	missing := size - len(digits)
	low, _ = hex.DecodeString(digits + strings.Repeat("0", missing))
	high, _ = hex.DecodeString(digits + strings.Repeat("f", missing))
	return low, high
}

// One returns an error unless exactly one run was found by a prefix of its id.
func One(ids []string) error {
	switch len(ids) {
	case 0:
		return runstore.ErrNotFound
	case 1:
		return nil
	}
	return &runstore.Error{Err: fmt.Errorf("%w: %q", runstore.ErrAmbiguous, ids), Advice: "Give more characters of the id."}
}

// Both are safe for concurrent use. The digest detects damage, so that zstd need not.
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
