package art

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// source reads a file front to back. Its methods return ok false where the file ends, or
// can't be read; err tells which.
type source struct {
	r   *bufio.Reader
	at  int64 // bytes read
	err error // of reading; nil at the file's end
	buf []byte
}

func newSource(r io.Reader) *source { return &source{r: bufio.NewReaderSize(r, maxLine+64)} }

// lookAhead lets peek return up to n bytes.
func (s *source) lookAhead(n int) { s.r = bufio.NewReaderSize(s.r, n) }

// peek returns the next bytes, up to n, without reading them.
func (s *source) peek(n int) []byte {
	b, err := s.r.Peek(n)
	s.note(err)
	return b
}

// next reads n bytes, at most maxLine. They are valid until the next call.
func (s *source) next(n int) ([]byte, bool) {
	b := s.peek(n)
	if len(b) < n {
		return nil, false
	}
	_, _ = s.r.Discard(n)
	s.at += int64(n)
	return b, true
}

// skip reads past what is left of the file's front, up to n bytes.
func (s *source) skip(n int) {
	done, err := s.r.Discard(n)
	s.at += int64(done)
	s.note(err)
}

// block reads n bytes, however many, or what is left of them. Memory grows with what is there,
// not with n. The bytes are valid until the next call of block.
func (s *source) block(n int) (b []byte, whole bool) {
	into := bytes.NewBuffer(s.buf[:0])
	got, err := io.CopyN(into, s.r, int64(n))
	s.buf = into.Bytes()
	s.at += got
	s.note(err)
	return s.buf, got == int64(n)
}

// line reads a line without its end; at most maxLine bytes.
func (s *source) line() (string, bool) {
	b, err := s.r.ReadSlice('\n')
	s.at += int64(len(b))
	if err != nil {
		s.note(err)
		if errors.Is(err, bufio.ErrBufferFull) {
			s.err = nil
		}
		return "", false
	}
	return string(bytes.TrimRight(b, "\r\n")), true
}

func (s *source) note(err error) {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, bufio.ErrBufferFull) && s.err == nil {
		s.err = fmt.Errorf("read a method trace at byte %d: %w", s.at, err)
	}
}

// u reads little-endian integers.
var u = binary.LittleEndian

// u24 is an integer of three bytes.
func u24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// maxLEB128 is how many bytes an integer of 64 bits takes at most.
const maxLEB128 = binary.MaxVarintLen64

// uleb128 decodes an unsigned integer; n is how many bytes it takes, 0 where it is cut or too
// long.
func uleb128(b []byte) (v uint64, n int) {
	v, n = binary.Uvarint(b)
	return v, max(n, 0)
}

// sleb128 decodes a signed integer, as uleb128 an unsigned one.
func sleb128(b []byte) (v int64, n int) {
	bits, n := uleb128(b)
	if n == 0 {
		return 0, 0
	}
	if shift := 7 * n; shift < 64 && b[n-1]&0x40 != 0 {
		bits |= ^uint64(0) << shift
	}
	return int64(bits), n
}
