package tasksources

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"slices"
)

// texts are what a trace of Perfetto or atrace with tasks has in it: the name of a message's event,
// or of a section's work.
var texts = [][]byte{[]byte("message_queue_"), []byte("task#")}

// Likely reports whether a trace of Perfetto or atrace may have tasks, by a look for their names in
// its bytes, which takes a hundredth of the time of Read. It returns true where it can't tell, such
// as for compressed packets.
func Likely(src io.Reader) bool {
	r := bufio.NewReaderSize(src, lookedAt)
	look := make(looker, lookedAt)
	if head, _ := r.Peek(headSize); !packetTrace(head) {
		return bytes.HasPrefix(head, []byte("TRACE:")) || bytes.HasPrefix(head, []byte("<")) || look.in(r)
	}
	for {
		tag, err := r.ReadByte()
		if err != nil {
			return false
		}
		size, err := binary.ReadUvarint(r)
		if tag != 0x0a || err != nil || size > maxPacket {
			return true
		}
		head, _ := r.Peek(int(min(size, shortFields)))
		if compressed(head) || look.in(io.LimitReader(r, int64(size))) {
			return true
		}
	}
}

const (
	lookedAt  = 1 << 20
	maxPacket = 64 << 20
	// shortFields is how many bytes of fields may be before the packets in a packet.
	shortFields = 16
)

// compressed reports whether a packet begins with the tag of compressed_packets (50), or that of
// zstd_compressed_packets (133), be it after a short field.
func compressed(head []byte) bool {
	return bytes.Contains(head, []byte{0x92, 0x03}) || bytes.Contains(head, []byte{0xaa, 0x08})
}

func has(b []byte) bool {
	return slices.ContainsFunc(texts, func(text []byte) bool { return bytes.Contains(b, text) })
}

// looker looks through bytes, with a buffer that is kept.
type looker []byte

// in reports whether one of the texts is in what is read.
func (b looker) in(r io.Reader) bool {
	const overlap = 16 // longer than the texts
	kept := 0
	for {
		n, err := r.Read(b[kept:])
		if has(b[:kept+n]) {
			return true
		}
		if err != nil {
			return err != io.EOF
		}
		kept = copy(b, b[max(0, kept+n-overlap):kept+n])
	}
}
