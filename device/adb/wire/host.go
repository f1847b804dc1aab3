package wire

import (
	"fmt"
	"io"
	"strconv"
)

// MaxHostString is the longest string that four hexadecimal digits can announce, in bytes.
const MaxHostString = 0xffff

// AppendHostString appends s in the encoding of the adb server's protocol: its length as four
// hexadecimal digits, then its bytes.
func AppendHostString(dst []byte, s string) ([]byte, error) {
	if len(s) > MaxHostString {
		return dst, fmt.Errorf("asking the adb server for %.40q…: %d bytes, at most %d allowed", s, len(s), MaxHostString)
	}
	return append(fmt.Appendf(dst, "%04x", len(s)), s...), nil
}

// ReadHostString reads a string that is preceded by its length as four hexadecimal digits.
func ReadHostString(r io.Reader) (string, error) {
	var digits [4]byte
	if _, err := io.ReadFull(r, digits[:]); err != nil {
		return "", err
	}
	size, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		return "", fmt.Errorf("reading a length: %w: %q is not four hexadecimal digits", ErrMalformed, digits)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", cutShort(err)
	}
	return string(text), nil
}

// HostFailure is the adb server's message after FAIL.
type HostFailure struct {
	Text string
}

func (f *HostFailure) Error() string { return fmt.Sprintf("the adb server says %q", f.Text) }

// ReadHostStatus reads OKAY, or FAIL with its reason as a *HostFailure.
func ReadHostStatus(r io.Reader) error {
	var status [4]byte
	if _, err := io.ReadFull(r, status[:]); err != nil {
		return err
	}
	switch string(status[:]) {
	case "OKAY":
		return nil
	case "FAIL":
		text, err := ReadHostString(r)
		if err != nil {
			return fmt.Errorf("reading the reason of a failure: %w", err)
		}
		return &HostFailure{Text: text}
	}
	return fmt.Errorf("reading the adb server's answer: %w: %q, want OKAY or FAIL", ErrMalformed, status)
}
