// Package marks wraps a command for a device's shell in marks, and extracts the output between
// them: for a terminal that reports no exit code, and for a shell that runs one question after
// the other.
//
// It neither sends nor waits. Marks are drawn at random, so that no output contains one by
// chance or can guess it.
package marks

import (
	"crypto/rand"
	"encoding/hex"
)

// New returns a random mark of 96 bits.
func New() string {
	var b [12]byte
	rand.Read(b[:]) // crypto/rand never fails
	return "apkgate-" + hex.EncodeToString(b[:])
}
