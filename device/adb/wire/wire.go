// Package wire encodes and decodes the adb protocol, for the client and for the daemon of
// simulated phones: messages between a host and a device, the adb server's requests, the sync
// service, shell packets, public keys.
//
// It owns the layout of bytes and not their meaning. It trusts no length from the other side:
// every decoder has a limit, and a longer value is an error before memory is allocated for it.
//
// The sources are documents of the Android Open Source Project, in
// platform/packages/modules/adb: protocol.md, services.md and sync.md in docs/dev,
// shell_protocol.h and file_sync_protocol.h.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrMalformed is wrapped by every error about bytes that break the protocol.
var ErrMalformed = errors.New("not the adb protocol")

// Command is the kind of a message between host and device.
type Command uint32

// The commands of protocol.md.
const (
	CNXN Command = 0x4e584e43 // version, max payload, "system identity"
	STLS Command = 0x534c5453 // version, 0, ""
	AUTH Command = 0x48545541 // an Auth type, 0, data
	OPEN Command = 0x4e45504f // local id, 0, "service"
	OKAY Command = 0x59414b4f // local id, remote id, ""
	CLSE Command = 0x45534c43 // local id or 0, remote id, ""
	WRTE Command = 0x45545257 // local id, remote id, data
)

func (c Command) String() string {
	switch c {
	case CNXN, STLS, AUTH, OPEN, OKAY, CLSE, WRTE:
		return string(binary.LittleEndian.AppendUint32(nil, uint32(c)))
	}
	return fmt.Sprintf("%#08x", uint32(c))
}

// The first argument of an AUTH message.
const (
	AuthToken     = 1 // data: TokenSize random bytes to sign
	AuthSignature = 2 // data: the token signed (RSA, PKCS #1 v1.5, as if a SHA-1 digest)
	AuthPublicKey = 3 // data: the public key as text, ended by NUL
)

// TokenSize is the length of the token that a device asks a host to sign, in bytes.
const TokenSize = 20

// Protocol versions.
const (
	VersionMin    = 0x01000000
	VersionNoSums = 0x01000001 // from this version on payloads have no checksums
	Version       = VersionNoSums
)

// Limits on payloads, in bytes.
const (
	// MaxPayloadV1 limits what may be sent before the other side's CNXN announces its limit.
	MaxPayloadV1 = 4 << 10
	// MaxPayload is the limit that this side announces.
	MaxPayload = 1 << 20
)

const headerSize = 24

// Message is one message between host and device.
type Message struct {
	Command    Command
	Arg0, Arg1 uint32
	Payload    []byte
}

// Sums is how a payload's checksum is treated.
type Sums int

// Before the versions are agreed, a reader can't know whether the other side still sends
// checksums: until then a checksum of zero counts as absent.
const (
	SumsIfGiven Sums = iota
	SumsRequired
	SumsIgnored
)

// SumsAt returns the treatment once both sides' versions are known.
func SumsAt(ours, theirs uint32) Sums {
	if min(ours, theirs) >= VersionNoSums {
		return SumsIgnored
	}
	return SumsRequired
}

// Append appends the encoded message. A checksum is added unless sums is SumsIgnored.
func (m Message) Append(dst []byte, sums Sums) []byte {
	var sum uint32
	if sums != SumsIgnored {
		sum = checksum(m.Payload)
	}
	for _, word := range [...]uint32{
		uint32(m.Command), m.Arg0, m.Arg1, uint32(len(m.Payload)), sum, ^uint32(m.Command),
	} {
		dst = binary.LittleEndian.AppendUint32(dst, word)
	}
	return append(dst, m.Payload...)
}

// ReadMessage reads one message with a payload of at most maxPayload bytes. It returns io.EOF
// if the input ends between messages.
func ReadMessage(r io.Reader, maxPayload uint32, sums Sums) (Message, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return Message{}, err
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(header[4*i:]) }
	m := Message{Command: Command(word(0)), Arg0: word(1), Arg1: word(2)}
	size, sum := word(3), word(4)
	if word(5) != ^word(0) {
		return Message{}, fmt.Errorf("reading a message: %w: magic %#08x of command %#08x", ErrMalformed, word(5), word(0))
	}
	if size > maxPayload {
		return Message{}, fmt.Errorf("reading a %v message: %w: %d bytes of payload, at most %d allowed", m.Command, ErrMalformed, size, maxPayload)
	}
	if size > 0 {
		m.Payload = make([]byte, size)
		if _, err := io.ReadFull(r, m.Payload); err != nil {
			return Message{}, cutShort(err)
		}
	}
	if sums == SumsIgnored || sums == SumsIfGiven && sum == 0 {
		return m, nil
	}
	if got := checksum(m.Payload); got != sum {
		return Message{}, fmt.Errorf("reading a %v message: %w: checksum %#x, stated %#x", m.Command, ErrMalformed, got, sum)
	}
	return m, nil
}

// checksum is the sum of the payload's bytes; protocol.md calls it a crc32.
func checksum(payload []byte) uint32 {
	var sum uint32
	for _, b := range payload {
		sum += uint32(b)
	}
	return sum
}

// cutShort converts an end within a value to io.ErrUnexpectedEOF.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
