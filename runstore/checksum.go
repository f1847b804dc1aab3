package runstore

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"

	"github.com/apkgate/apkgate/run"
)

// Each line of a file of runs from apkgate has a checksum as the last member of its object,
// "crc32c": the CRC-32C (Castagnoli; RFC 3720, appendix B.4) of the record without that member, as
// run.Encode returns it without the newline, in eight lower-case hexadecimal digits. Lines are
// independent: they can be selected, sorted and combined.
const sumName = `"crc32c"`

// Around the digits of a line as written by apkgate.
var (
	sumBegin = []byte("," + sumName + `:"`)
	sumEnd   = []byte(`"}`)
)

const sumDigits = 2 * crc32.Size

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errSum reports that a line has changed since it was written.
var errSum = errors.New(`the record's checksum ("crc32c") is not that of its content: it was damaged or changed since it was written; without that member it is read as it is`)

// sealed returns a record of run.Encode with its checksum, or unchanged where that would make it
// larger than a record may be.
func sealed(line []byte) []byte {
	if len(line)+len(sumBegin)+sumDigits+len(sumEnd) > run.MaxBytes {
		return line
	}
	record := bytes.TrimSuffix(line, []byte("\n"))
	sum := sumOf(record)
	out := append(record[:len(record)-1], sumBegin...)
	out = append(out, sum...)
	return append(append(out, sumEnd...), '\n')
}

// sumOf returns the checksum of parts of a record, one after the other.
func sumOf(parts ...[]byte) string {
	sum := uint32(0)
	for _, part := range parts {
		sum = crc32.Update(sum, castagnoli, part)
	}
	return hex.EncodeToString([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
}

// checkSum reports whether the text of a record has a checksum, and an error where it does not
// match the content. If another program has re-encoded the text, the decoded record is compared.
func checkSum(data []byte, r run.Run) (has bool, err error) {
	text := bytes.TrimSpace(data)
	if at := len(text) - len(sumBegin) - sumDigits - len(sumEnd); at > 0 && bytes.HasPrefix(text[at:], sumBegin) && bytes.HasSuffix(text, sumEnd) {
		if digits := text[at+len(sumBegin) : len(text)-len(sumEnd)]; string(digits) == sumOf(text[:at], []byte("}")) {
			return true, nil
		}
	}
	if !bytes.Contains(text, []byte(sumName)) {
		return false, nil
	}
	var member struct {
		Sum *json.RawMessage `json:"crc32c"`
	}
	if err := json.Unmarshal(text, &member); err != nil || member.Sum == nil {
		return false, err
	}
	line, err := run.Encode(r)
	if err != nil {
		return true, err
	}
	if string(*member.Sum) != `"`+sumOf(bytes.TrimSuffix(line, []byte("\n")))+`"` {
		return true, errSum
	}
	return true, nil
}
