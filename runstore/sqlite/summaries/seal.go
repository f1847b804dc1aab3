package summaries

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/apkgate/apkgate/runstore/internal/records"
)

// A summary ends with its seal, a CRC-32C of its identity and its content: a check reads thousands
// of summaries and opens no record, and a changed bit must not become another number. The seal
// covers the stored form; it does not protect against tampering.
const sealBytes = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errBrokenSeal = errors.New("a summary is not what its checksum says")

// Seal appends the seal to the content of a place. It also covers a text of the run: the session
// for numbers, the commit for repetitions.
func Seal(p Place, text string, cells []byte) []byte {
	return binary.LittleEndian.AppendUint32(slices.Clip(cells), checksum(p, text, cells))
}

// Unseal returns the sealed content, if the seal matches.
func Unseal(p Place, text string, sealed []byte) ([]byte, error) {
	n := len(sealed) - sealBytes
	if n < 0 || checksum(p, text, sealed[:n]) != binary.LittleEndian.Uint32(sealed[n:]) {
		return nil, records.Damaged(errBrokenSeal)
	}
	return sealed[:n], nil
}

// heads are buffers for the other sealed fields: a check unseals tens of thousands.
var heads = sync.Pool{New: func() any { return new([]byte) }}

// checksum covers everything except the place's reference, which is no part of the run.
func checksum(p Place, text string, cells []byte) uint32 {
	room := heads.Get().(*[]byte)
	defer heads.Put(room)
	head := (*room)[:0]
	for _, n := range []int64{p.Subject, p.Context, int64(len(p.Started)), int64(len(p.ID)), int64(len(text))} {
		head = binary.AppendVarint(head, n)
	}
	for _, s := range []string{p.Started, p.ID, text} {
		head = append(head, s...)
	}
	*room = head
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, cells)
}
