package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// PacketID is the kind of a shell packet (shell_protocol.h).
type PacketID byte

// The packets of shell protocol version 2.
const (
	ShellStdin      PacketID = 0
	ShellStdout     PacketID = 1
	ShellStderr     PacketID = 2
	ShellExit       PacketID = 3 // one byte: the exit code
	ShellCloseStdin PacketID = 4
	ShellWindowSize PacketID = 5
)

const shellHeaderSize = 5

// AppendShellPacket appends a packet: its kind, its length, its data.
func AppendShellPacket(dst []byte, id PacketID, data []byte) []byte {
	dst = append(dst, byte(id))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(data)))
	return append(dst, data...)
}

// ShellReader reads shell packets piece by piece, so that a packet of any announced length
// needs no more memory than the caller's buffer.
type ShellReader struct {
	r    io.Reader
	id   PacketID
	left uint32
}

// NewShellReader returns a reader of the packets in r.
func NewShellReader(r io.Reader) *ShellReader { return &ShellReader{r: r} }

// Read reads the next piece of a packet into p, which must not be empty, and returns the
// packet's kind. A packet without data returns n == 0. The error is io.EOF if the input ends
// between packets.
func (s *ShellReader) Read(p []byte) (id PacketID, n int, err error) {
	if s.left == 0 {
		var header [shellHeaderSize]byte
		if _, err := io.ReadFull(s.r, header[:]); err != nil {
			return 0, 0, err
		}
		s.id, s.left = PacketID(header[0]), binary.LittleEndian.Uint32(header[1:])
		if s.id > ShellWindowSize {
			return 0, 0, fmt.Errorf("reading a shell packet: %w: kind %d, want 0 to %d", ErrMalformed, s.id, ShellWindowSize)
		}
		if s.left == 0 {
			return s.id, 0, nil
		}
	}
	n, err = s.r.Read(p[:min(len(p), int(s.left))])
	s.left -= uint32(n)
	if n > 0 {
		return s.id, n, nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return s.id, 0, cutShort(err)
}
