package summaries

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/apkgate/apkgate/baseline/internal/records"
)

// A summary ends with its seal, a CRC-32C of whose it is and what it says: a check
// reads summaries by the thousand and opens no record, and a bit that has changed
// must not become another number. What the seal is of is kept as it is: it is no
// use against somebody who means harm.
const sealBytes = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errBrokenSeal = errors.New("a summary is not what its checksum says")

// Seal appends the seal to the encoded cells.
func Seal(p Place, session string, cells []byte) []byte {
	return binary.LittleEndian.AppendUint32(cells, checksum(p, session, cells))
}

// Unseal returns the cells without the seal, if that is theirs.
func Unseal(p Place, session string, sealed []byte) ([]byte, error) {
	n := len(sealed) - sealBytes
	if n < 0 || checksum(p, session, sealed[:n]) != binary.LittleEndian.Uint32(sealed[n:]) {
		return nil, records.Damaged(errBrokenSeal)
	}
	return sealed[:n], nil
}

// checksum is of all but the place's reference, which is no part of the run.
func checksum(p Place, session string, cells []byte) uint32 {
	head := make([]byte, 0, 128)
	for _, n := range []int64{p.Subject, p.Context, int64(len(p.Started)), int64(len(p.ID)), int64(len(session))} {
		head = binary.AppendVarint(head, n)
	}
	for _, text := range []string{p.Started, p.ID, session} {
		head = append(head, text...)
	}
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, cells)
}
