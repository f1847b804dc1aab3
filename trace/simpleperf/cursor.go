package simpleperf

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// cursor reads little-endian numbers and strings from a slice. Beyond its end, values are zero and
// short is set.
type cursor struct {
	b     []byte
	short bool
}

// take returns the next n bytes, nil if there are fewer.
func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.b, c.short = nil, true
		return nil
	}
	part := c.b[:n]
	c.b = c.b[n:]
	return part
}

func (c *cursor) skip(n uint64) { c.take(n) }

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// words skips n numbers of 8 bytes.
func (c *cursor) words(n uint64) {
	if n > uint64(len(c.b))/8 {
		c.b, c.short = nil, true
		return
	}
	c.skip(8 * n)
}

// text returns the string up to the next zero byte, which is skipped.
func (c *cursor) text() string {
	i := bytes.IndexByte(c.b, 0)
	if i < 0 {
		c.b, c.short = nil, true
		return ""
	}
	s := plain(c.b[:i])
	c.b = c.b[i+1:]
	return s
}

// plain returns text of the file as valid UTF-8.
func plain(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// field returns the string in an area of fixed size, up to its first zero byte.
func field(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return plain(b)
}
