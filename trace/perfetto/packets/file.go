package packets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
)

// packetTag begins every packet of a file: field 1 of Trace, with a length.
const packetTag = 1<<3 | 2

// stream returns the packets of a file one by one (trace.proto).
type stream struct {
	src    *bufio.Reader
	offset int64 // of the next byte
	buffer []byte

	unpacked int64 // bytes unpacked from compressed packets
	zlib     io.ReadCloser
	zstd     *zstd.Decoder
	plain    bytes.Buffer // the content of the last bundle
	warnings *trace.Warnings
}

func newStream(r io.Reader, warnings *trace.Warnings) *stream {
	return &stream{src: bufio.NewReaderSize(r, 256<<10), warnings: warnings}
}

// each calls f with every packet; the bytes are valid during the call. A file that ends early or is
// no trace ends the stream with a warning; it returns an error only where reading fails.
func (s *stream) each(f func(packet []byte)) error {
	if head, _ := s.src.Peek(8); len(head) > 0 && head[0] != packetTag {
		s.warnings.Addf(0, "the file is no Perfetto trace: it begins with %s%s", trace.Quote(head), otherFormat(head))
		return nil
	}
	for {
		start := s.offset
		whole, err := s.next()
		switch {
		case errors.Is(err, io.EOF) && s.offset == start:
			if start == 0 {
				s.warnings.Addf(0, "the file is empty")
			}
			return nil
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			s.warnings.Addf(0, "byte %d: the file ends in the middle of a packet; the packets before it are read", start)
			return nil
		case errors.Is(err, errAstray):
			s.warnings.Addf(0, "byte %d: there is no packet where one should begin; what follows is not read", start)
			return nil
		case err != nil && !errors.Is(err, errTooLarge):
			return fmt.Errorf("read a Perfetto trace at byte %d: %w", s.offset, err)
		case s.offset > MaxFile:
			return fmt.Errorf("read a Perfetto trace: it is larger than %d MiB", MaxFile>>20)
		case err != nil:
			s.warnings.Addf(0, "byte %d: a packet of %d bytes is skipped, at most %d are read", start, s.offset-start, MaxPacket)
		default:
			f(whole)
		}
	}
}

// otherFormat names the format of a file that is often mistaken for a Perfetto trace.
func otherFormat(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}), bytes.HasPrefix(head, []byte("PK")):
		return "; it is compressed, unpack it first"
	case bytes.HasPrefix(head, []byte("{")), bytes.HasPrefix(head, []byte("[")):
		return "; traces in JSON are not read"
	case bytes.HasPrefix(head, []byte("#")), bytes.HasPrefix(head, []byte("<")), bytes.HasPrefix(head, []byte("TRACE")):
		return "; it is a trace in text, which the reader systrace reads"
	}
	return ""
}

var (
	errAstray   = errors.New("no packet begins here")
	errTooLarge = errors.New("the packet is too large")
)

// next reads one packet. It skips one that is too large and returns errTooLarge.
func (s *stream) next() ([]byte, error) {
	tag, err := s.varint()
	if err != nil {
		return nil, err
	}
	if tag != packetTag {
		return nil, errAstray
	}
	size, err := s.varint()
	if err != nil {
		return nil, err
	}
	return s.take(size)
}

func (s *stream) varint() (uint64, error) {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b, err := s.src.ReadByte()
		if err != nil {
			return 0, err
		}
		s.offset++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, errAstray
}

// take reads size bytes. It skips more than a packet may have. Memory grows with the actual data.
func (s *stream) take(size uint64) ([]byte, error) {
	if size > MaxPacket {
		n, err := io.CopyN(io.Discard, s.src, int64(min(size, MaxFile+1)))
		s.offset += n
		if err == nil {
			err = errTooLarge
		}
		return nil, err
	}
	if size <= uint64(cap(s.buffer)) {
		n, err := io.ReadFull(s.src, s.buffer[:size])
		s.offset += int64(n)
		return s.buffer[:size:size], err
	}
	grown := bytes.NewBuffer(s.buffer[:0])
	n, err := io.CopyN(grown, s.src, int64(size))
	s.offset += n
	s.buffer = grown.Bytes()
	return s.buffer, err
}

// unpack calls f with every packet of a compressed bundle, which is itself a list of packets like a
// file.
func (s *stream) unpack(kind protowire.Number, bundle []byte, f func(packet []byte)) {
	room := min(MaxPacket, MaxUnpacked-s.unpacked)
	plain, err := s.unpackOne(kind, bundle, room)
	s.unpacked += int64(len(plain))
	switch {
	case err != nil:
		s.warnings.Addf(0, "a bundle of compressed packets before byte %d can't be unpacked completely: %v", s.offset, err)
	case int64(len(plain)) > room:
		s.warnings.Addf(0, "a bundle of compressed packets before byte %d is larger than %d bytes: the rest of it is not read", s.offset, room)
	}
	inner := messages.TraceOf(plain)
	inner.Packet.Each(func(packet []byte) bool {
		f(packet)
		return true
	})
}

// unpackOne unpacks as much as there is room for, and one byte more if there is more. The result is
// valid until the next call.
func (s *stream) unpackOne(kind protowire.Number, bundle []byte, room int64) ([]byte, error) {
	decoder := s.zlibOf
	if kind == field.PacketZstdCompressedPackets {
		decoder = s.zstdOf
	}
	r, err := decoder(bytes.NewReader(bundle))
	if err != nil {
		return nil, err
	}
	s.plain.Reset()
	_, err = s.plain.ReadFrom(io.LimitReader(r, room+1))
	return s.plain.Bytes(), err
}

func (s *stream) zstdOf(bundle io.Reader) (io.Reader, error) {
	if s.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxPacket))
		if err != nil {
			return nil, err
		}
		s.zstd = d
	}
	return s.zstd, s.zstd.Reset(bundle)
}

func (s *stream) zlibOf(bundle io.Reader) (io.Reader, error) {
	if s.zlib != nil {
		return s.zlib, s.zlib.(zlib.Resetter).Reset(bundle, nil)
	}
	z, err := zlib.NewReader(bundle)
	if err != nil {
		return nil, err
	}
	s.zlib = z
	return z, nil
}

func (s *stream) close() {
	if s.zstd != nil {
		s.zstd.Close()
	}
}
